"""Alpha-beta pairs of a cluster, by running the collectives of MoE layers on it: `simnet calibrate`.

Every collective runs over a range of message sizes, all groups of the ranks at once, as in a layer; a line
t = alpha + n / rate is fitted to its times by least squares of the relative error, so that small messages count as much
as large ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simnet.errors import InputError
from simnet.experiment import Experiment
from simnet.result import RunResult, numbers, text
from simnet.run import build, replayed
from simnet.units import SIZE
from simnet.workload.models.moe_collectives import SEPARATOR
from simnet.workload.moe import AlphaBeta, Calibration

_DIGITS = 6


@dataclass(frozen=True)
class Fit:
    """One collective: its name, the pair fitted to it, and the largest |fitted / simulated time - 1|."""

    name: str
    pair: AlphaBeta
    error: float


def calibrate(
    topology: Any, ranks: int | None = None, network: Mapping[str, Any] | None = None, **collectives: Any
) -> tuple[Calibration, list[Fit]]:
    """The pairs of a cluster and how well they fit.

    topology, network: as an experiment has them; ranks: default all GPUs; collectives: parameters of the workload
    `moe_collectives`. Raises InputError.
    """
    workload = {"kind": "moe_collectives", **collectives}
    job = {"workload": workload} if ranks is None else {"workload": workload, "ranks": ranks}
    experiment = Experiment.model_validate({"topology": topology, "network": network or {}, "jobs": [job]})
    finished = replayed(build(experiment))
    if finished.summary["status"] != "completed":
        raise InputError(f"the calibration did not come to its end: {finished.summary.get('error', '')}")
    fits = [fitted(name, *np.array(points).T) for name, points in _times(finished).items()]
    return _gathered({fit.name: fit.pair for fit in fits}), fits


def _times(result: RunResult) -> dict[str, list[tuple[float, float]]]:
    """(size [bytes], time [s]) by collective: from the arrival of the last member, launch included, to its last end."""
    operation, arrived, end = (numbers(result.flows, c) for c in ("operation", "arrived", "end"))
    label = text(result.flows, "label")
    times: dict[str, list[tuple[float, float]]] = {}
    for number in np.unique(operation):
        rows = np.flatnonzero(operation == number)
        name, _, size = label.names[label.codes[rows[0]]].partition(SEPARATOR)
        times.setdefault(name, []).append((SIZE.parse(size), end[rows].max() - arrived[rows].max()))
    return times


def fitted(name: str, sizes: np.ndarray, times: np.ndarray) -> Fit:
    """Least squares of (alpha + n / rate) / t - 1 over alpha and 1 / rate, alpha at least 0."""
    columns = np.stack([1 / times, sizes / times], axis=1)
    (alpha, beta), *_ = np.linalg.lstsq(columns, np.ones(len(times)), rcond=None)
    if alpha < 0:
        ratio = sizes / times
        alpha, beta = 0.0, ratio.sum() / (ratio**2).sum()
    pair = AlphaBeta.model_construct(alpha=_rounded(alpha), rate=_rounded(1 / beta))
    return Fit(name, pair, float(np.abs(columns @ (alpha, beta) - 1).max()))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _gathered(pairs: Mapping[str, AlphaBeta]) -> Calibration:
    """The pairs by what they are for; a name is a field of Calibration and the sizes of its groups."""
    fields: dict[str, Any] = {}
    for name, pair in pairs.items():
        field, *groups = name.split(".")
        _put(fields, [field, *map(int, groups)], pair)
    return Calibration.model_construct(**{**_empty(), **fields})


def _put(tree: dict, keys: Iterable[Any], value: AlphaBeta) -> None:
    *path, last = keys
    for key in path:
        tree = tree.setdefault(key, {})
    tree[last] = value


def _empty() -> dict[str, Any]:
    return {name: field.default for name, field in Calibration.model_fields.items()}
