"""The measured tables as cases: each simulated as one experiment, all sizes back to back."""

from collections.abc import Mapping, Sequence
from functools import partial

from simnet.run import run
from simnet.units import SIZE
from simnet.validation.cases import Case
from simnet.validation.nccl.tables import Table, experiment, series, tables
from simnet.validation.statistics import Aim
from simnet.workload.collectives import KINDS

LARGE, SMALL, PEAK = "1 MiB and above", "below 1 MiB", "peak bus bandwidth"
AIMS = {LARGE: Aim(median=0.08, p90=0.25), SMALL: Aim(median=0.20, p90=0.45), PEAK: Aim(median=0.05)}
"""What the errors of each group shall be at most."""

_LARGE_FROM = SIZE.units["MiB"]
MICRO = 1e-6
"""Seconds of the unit in which times are written."""

_GIGA = 1e9


def cases() -> list[Case]:
    """A case per measured time, and one per table for its highest bus bandwidth."""
    return [case for table in tables().values() for case in _cases(table)]


def _cases(table: Table) -> list[Case]:
    shared = {
        "suite": "nccl",
        "case": table.name,
        "source": series()[table.series].source,
        "simulate": partial(replayed, table.name),
        "run": f"nccl {table.name}",
        "note": table.left_out,
    }
    times = [
        Case(
            **shared,
            quantity=quantity(size),
            unit="us",
            reference=time / MICRO,
            group=LARGE if size >= _LARGE_FROM else SMALL,
            counted=not table.left_out and not (row == 0 and table.first_left_out),
        )
        for row, (size, time) in enumerate(zip(table.sizes, table.times))
    ]
    peak = Case(
        **shared, quantity=PEAK, unit="GB/s", reference=_peak(table, table.times), group=PEAK,
        counted=not table.left_out,
    )  # fmt: skip
    return [*times, peak]


def quantity(size: float) -> str:
    """The name of the time for a message size [bytes]."""
    return f"time of {SIZE.exact(size)}"


def replayed(name: str) -> Mapping[str, float]:
    """Simulate a table of that name: its `figures`."""
    table = tables()[name]
    finished = run(experiment(table))
    return figures(table, [row["time_mean"] for row in finished.summary["collectives"]])


def figures(table: Table, times: Sequence[float]) -> Mapping[str, float]:
    """What times [s] of all sizes of a table come to: time [us] per size, and peak bus bandwidth [GB/s]."""
    return {quantity(size): time / MICRO for size, time in zip(table.sizes, times)} | {PEAK: _peak(table, times)}


def _peak(table: Table, times: Sequence[float]) -> float:
    """The highest bus bandwidth of any size [GB/s]."""
    factor = KINDS[table.collective].bus_factor(table.ranks)
    return max(size / time for size, time in zip(table.sizes, times)) * factor / _GIGA
