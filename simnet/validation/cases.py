"""What a suite is made of: published numbers, each with its source and the run that should reproduce it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Case:
    """A number that somebody published, and what simulates it.

    suite, case, quantity: together its name; of one case there may be several quantities. reference: the published
    number, in `unit`. source: who measured or derived it, and where. tolerance: largest |simulated / reference - 1|
    that passes, None where nothing is promised.

    simulate: takes nothing and returns the simulated number; a picklable callable (a function at the top of a module,
    or `functools.partial` of one), as it runs in another process. run: cases with an equal key share one run; the
    `simulate` of the first is called and returns a mapping from quantity, or (case, quantity), to number. slow: left
    out unless asked for. limit: what the reference is to the number; one that is a bound is missed on one side only.
    note: what differs from the system of the reference, or why it is missed. group: cases whose errors are summed up
    together. counted: whether they are; a reference from a sick system is shown and no more.
    """

    suite: str
    case: str
    quantity: str
    unit: str
    reference: float
    source: str
    simulate: Callable[[], float | Mapping[str | tuple[str, str], float]]
    tolerance: float | None = None
    run: str = ""
    slow: bool = False
    limit: Literal["about", "at most", "at least"] = "about"
    note: str = ""
    group: str = ""
    counted: bool = True


@dataclass(frozen=True)
class Verdict:
    """A case and what came of it. simulated: None if its run failed, then `failure` says why."""

    case: Case
    simulated: float | None
    failure: str = ""

    @property
    def error(self) -> float | None:
        """simulated / reference - 1."""
        return None if self.simulated is None else self.simulated / self.case.reference - 1.0

    @property
    def missed(self) -> bool:
        """Whether the case promises a tolerance and is beyond it, or gave no number at all."""
        if self.error is None:
            return True
        return self.case.tolerance is not None and self.off > self.case.tolerance

    @property
    def off(self) -> float:
        """|error|, which is 0 on the right side of a bound; not where there is no number."""
        error = self.error
        return {"about": abs(error), "at most": max(error, 0.0), "at least": max(-error, 0.0)}[self.case.limit]
