"""Topologies from files that other programs wrote.

Adding a format: a file with `read(path, **options) -> Topology`, and a row here. The keywords of `read` are the options
of `simnet.topology.file.TopologyFile` that it takes; what it assumed is listed in the topology's assumptions.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simnet.errors import InputError
from simnet.topology.importers import (
    astra_sim,
    graphml,
    hpcc,
    htsim,
    hwloc,
    ibnetdiscover,
    nccl_xml,
    nvidia_smi,
    simgrid,
    slurm,
)
from simnet.topology.topology import Topology

YAML = (".yaml", ".yml")
"""Endings of simnet's own files, which those of other programs may have, too."""

_LOOKED_INTO = 64 * 2**10  # characters of a file


@dataclass(frozen=True)
class Importer:
    """A format. read: (path, options) -> Topology, its first sentence says what it reads; sign: a regular expression,
    in which ^ is the start of a line, for something early in every such file; endings: those that such files have."""

    read: Callable[..., Topology]
    sign: str
    endings: tuple[str, ...]


IMPORTERS = {
    "nccl_xml": Importer(nccl_xml.read, r"<(system|graphs)\b", (".xml",)),
    "simgrid": Importer(simgrid.read, r"<platform\b", (".xml",)),
    "hwloc": Importer(hwloc.read, r"<topology\b", (".xml",)),
    "graphml": Importer(graphml.read, r"<graphml\b", (".graphml", ".gz")),
    "astra_sim": Importer(astra_sim.read, r"^npus_count[ \t]*:", (".yml", ".yaml")),
    "htsim": Importer(htsim.read, r"^[ \t]*(?i:tiers)\s+\d", (".topo",)),
    "nvidia_smi": Importer(nvidia_smi.read, r"^(\x1b?\[[\d;]*m|[ \t])*GPU0(?![a-z:])", (".txt",)),
    "ibnetdiscover": Importer(
        ibnetdiscover.read, r'^[ \t]*(Switch|Ca|Rt)\s+\d+\s+"[A-Z]-[0-9a-fA-F]+"', (".txt", ".out")
    ),
    "slurm": Importer(
        slurm.read, r"^[ \t]*(?i:SwitchName|BlockName|BlockSizes)=|^-[ \t]+topology:", (".conf", ".yaml", ".yml")
    ),
    "ns3": Importer(hpcc.read, r"\A(\s*#.*\n)*\s*\d+ +\d+ +\d+( +\d+)*\s*\n", (".txt",)),
}
"""Formats by name."""


def importer_of(path: Path) -> Importer | None:
    """The format of a file by what stands in it, then by its ending; None: simnet's own YAML. Raises InputError."""
    ending = path.suffix.lower()
    with_ending = [row for row in IMPORTERS.values() if ending in row.endings]
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(_LOOKED_INTO)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    candidates = with_ending if ending in YAML else IMPORTERS.values()
    found = next((row for row in candidates if re.search(row.sign, head, re.MULTILINE)), None)
    if found or ending in YAML:
        return found
    if not head.strip() and len(head) < _LOOKED_INTO:
        raise InputError(f"{path}:1: the file is empty")
    if len(with_ending) == 1:  # it says best what is wrong
        return with_ending[0]
    raise InputError(f"{path}:1: no topology in a known format; known: simnet's own YAML, {', '.join(IMPORTERS)}")
