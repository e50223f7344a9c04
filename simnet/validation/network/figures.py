"""How the modules of this suite write down their figures."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from simnet.validation.cases import Case


class Figure(NamedTuple):
    """One quantity of a run and what it should be."""

    quantity: str
    unit: str
    reference: float
    tolerance: float | None = None
    limit: str = "about"
    source: str = ""  # if it is not that of the others


def of_run(
    case: str, simulate: Callable[[], Mapping[str, float]], source: str, *figures: Figure, slow: bool = False,
    note: str = "",
) -> list[Case]:  # fmt: skip
    """Cases of one run, which returns a number for the quantity of each figure."""
    return [
        Case(
            suite="network", case=case, quantity=f.quantity, unit=f.unit, reference=f.reference,
            source=f.source or source, simulate=simulate, tolerance=f.tolerance, run=case, slow=slow, limit=f.limit,
            note=note, group="promised" if f.tolerance is not None else "without a promise",
        )
        for f in figures
    ]  # fmt: skip
