"""What an importer of flows returns."""

from dataclasses import dataclass

from simnet.reader.lines import Line
from simnet.workload.traffic import Traffic


@dataclass(frozen=True)
class FailedUplink:
    """An uplink of an aggregation switch of a fat tree that is not there, and the line that says so."""

    switch: int
    link: int
    line: Line


@dataclass(frozen=True)
class Imported:
    """Flows of a file. ranks: for how many it is written, None: it does not say. label: printed in tables.

    failed: links of the cluster that are not there.
    """

    flows: Traffic
    ranks: int | None
    label: str
    failed: tuple[FailedUplink, ...] = ()
