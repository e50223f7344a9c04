"""Distributions of flow sizes in the text form of the ns-3 simulators: lines '<bytes> <share of flows up to them>'."""

from pathlib import Path

from simnet.reader import lines
from simnet.workload.flow_sizes import FlowSizes

_WHOLE = 1e-3  # how far from 100 % the last line may be


def read(path: str | Path) -> FlowSizes:
    """A cumulative distribution in per cent or, where it ends at 1, as fractions. Raises InputError.

    The first share is that of flows of exactly the first size; between two lines sizes are spread evenly.
    """
    rows = lines.read(path)
    points = []
    for line in rows:
        if len(line.words) != 2:
            raise line.error(f"expected '<bytes> <share>', got {len(line.words)} words")
        points.append((line.decimal(0, "the size"), line.decimal(1, "the share")))
    for line, (size, below), (next_size, next_below) in zip(rows[1:], points, points[1:]):
        if next_size < size:
            raise line.error(f"sizes must not fall, got {next_size:g} after {size:g}")
        if next_below < below:
            raise line.error(f"shares must not fall, got {next_below:g} after {below:g}")
    last = points[-1][1]
    whole = next((w for w in (1.0, 100.0) if abs(last - w) <= _WHOLE * w), None)
    if whole is None:
        raise rows[-1].error(f"the last share must be 100 (per cent) or 1, got {last:g}")
    sizes, shares = zip(*points)
    if not sizes[-1]:
        raise rows[-1].error("the largest size is 0")
    if shares[0]:  # a step at the first size
        sizes, shares = (sizes[0], *sizes), (0.0, *shares)
    return FlowSizes(f"Flow sizes of {Path(path).name}.", sizes, tuple(min(s / last, 1.0) for s in shares))
