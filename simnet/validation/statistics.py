"""How close: median, 90th percentile and worst of the errors of verdicts, each case weighing the same."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simnet.validation.cases import Verdict


@dataclass(frozen=True)
class Aim:
    """What the errors of a group shall be at most; None where nothing is aimed at."""

    median: float | None = None
    p90: float | None = None


@dataclass(frozen=True)
class Spread:
    """Absolute errors of some verdicts, 0 on the right side of a bound.

    count: of verdicts; cases: of which they are quantities. median, p90: of |error|, where every case has the same
    weight however many quantities it has. worst: the verdict with the largest. failed: verdicts without a number,
    missed: those beyond their tolerance; neither is in the quantiles if it has no error.
    """

    count: int
    cases: int
    median: float
    p90: float
    worst: Verdict | None
    failed: int
    missed: int

    def reaches(self, aim: Aim) -> bool:
        """Whether both quantiles are within an aim; not where nothing was measured."""
        pairs = ((self.median, aim.median), (self.p90, aim.p90))
        return not self.failed and all(most is None or value <= most for value, most in pairs)


def spread(verdicts: Sequence[Verdict]) -> Spread:
    """Sum up the errors of verdicts that are counted."""
    counted = [verdict for verdict in verdicts if verdict.case.counted]
    known = [verdict for verdict in counted if verdict.error is not None]
    errors = np.array([verdict.off for verdict in known])
    sizes = Counter(verdict.case.case for verdict in known)
    weights = np.array([1.0 / sizes[verdict.case.case] for verdict in known])
    return Spread(
        len(counted),
        len(sizes),
        quantile(errors, weights, 0.5),
        quantile(errors, weights, 0.9),
        known[int(errors.argmax())] if known else None,
        len(counted) - len(known),
        sum(verdict.missed for verdict in counted),
    )


def quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The smallest value at or below which at least `share` of the weight lies; NaN without values."""
    if not len(values):
        return float("nan")
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(np.searchsorted(reached, share - 1e-12), len(values) - 1)])


def groups(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts by the group of their cases, in the order in which groups first appear."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.case.group, []).append(verdict)
    return found
