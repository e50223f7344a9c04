"""What an importer of flows returns."""

from dataclasses import dataclass

from simnet.workload.traffic import Traffic


@dataclass(frozen=True)
class Imported:
    """Flows of a file. ranks: for how many it is written, None: it does not say. label: printed in tables."""

    flows: Traffic
    ranks: int | None
    label: str
