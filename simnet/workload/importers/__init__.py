"""Workloads from files that other programs wrote: tables of flows of htsim and of the ns-3 simulators.

Adding a format: a file with `read(path) -> Imported`, and a row here.
"""

from pathlib import Path

from simnet.errors import InputError
from simnet.reader import lines
from simnet.workload.importers import htsim, ns3
from simnet.workload.importers.imported import FailedUplink, Imported

__all__ = ["IMPORTERS", "SUFFIXES", "FailedUplink", "Imported", "format_of"]

IMPORTERS = {"htsim": htsim.read, "ns3_flows": ns3.read}
"""Formats: path -> Imported."""

SUFFIXES = {".cm": "htsim", ".tm": "htsim"}
"""Which row of IMPORTERS reads a file, by the end of its name; a .txt is looked into."""


def format_of(path: Path) -> str | None:
    """The row of IMPORTERS for a file, None: neither its name nor its content tells. Raises InputError."""
    suffix = path.suffix.lower()
    if suffix != ".txt":
        return SUFFIXES.get(suffix)
    first = lines.read(path)[0]
    if first.words[0] == "Nodes":
        return "htsim"
    if len(first.words) == 1 and first.words[0].isdigit():
        return "ns3_flows"
    raise InputError(
        f"{path}:{first.number}: neither flows of an ns-3 simulator, which begin with their number, nor a connection "
        "matrix of htsim, which begins with 'Nodes'"
    )
