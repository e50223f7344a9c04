"""Fits the constants of the communication library to all measured tables at once, and tells what it is worth elsewhere.

Coordinate descent on the logarithms of the constants. The cost of a table is its mean |log(predicted / measured)| on
both sides of 1 MiB, each relative to the error that is aimed at, with outliers capped, and that of its highest bus
bandwidth; every table weighs the same. First guesses hold back what few tables tell of: a constant pays for moving
away from its own, and one of a generation for moving away from those of the others. Tables that are in no statistics
take no part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache

import numpy as np

from simnet.experiment import resolve
from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from simnet.validation.nccl.tables import Table, experiment, series, tables
from simnet.workload.collectives import Group
from simnet.workload.collectives.library import CONSTANTS, Constants, Library
from simnet.workload.task_graph import Operation

# first guess and how much a factor of e away from it costs, in tables that are off by their aim
FIRST_GUESSES: dict[str, tuple[float, float]] = {
    "generations.*.launch": (6e-6, 2.0),
    "generations.*.step": (0.4e-6, 1.0),
    "generations.*.nvlink": (0.8, 10.0),
    "generations.*.nvls": (0.55, 2.0),
    "generations.*.last_block": (500e9, 0.3),
    "generations.*.own_copy": (0.5, 0.3),
    "protocols.ll128.hop": (5e-6, 0.3),
    "protocols.simple.hop": (5e-6, 0.3),
    "protocols.ll128.post": (2e-6, 0.3),
    "protocols.simple.post": (3e-6, 0.3),
    "protocols.ll.nvlink": (0.07, 0.3),
    "protocols.ll.pcie": (0.4, 0.3),
    "protocols.ll.net": (0.25, 0.3),
    "protocols.ll128.launch": (1e-6, 0.3),
    "protocols.ll128.step": (0.1e-6, 0.3),
    "protocols.ll128.nvlink": (0.38, 0.3),
    "protocols.simple.launch": (5e-6, 0.3),
    "protocols.simple.step": (3.5e-6, 0.3),
    "fabrics.ethernet.hop": (1.0, 0.3),
    "fabrics.efa.hop": (1.0, 0.3),
    "versions.nccl_2021.pair_step": (5e-6, 0.3),
    "net_channel": (20e9, 0.3),
    "pcie": (0.75, 2.0),
    "host": (100e9, 0.3),
    "between": (40e9, 0.3),
    "staged": (3e9, 0.3),
    "nvls_launch": (25e-6, 0.3),
    "pair_step": (0.35e-6, 0.3),
    "pair_rate": (6e9, 0.3),
    "thread_launch": (4.5e-6, 0.3),
}
"""The constants that are fitted, by name ('*' is any generation, protocol or kind of link)."""

_FRACTIONS = ("nvlink", "nvls", "pcie", "net", "reached", "tree")
_MOST = 0.98  # of a fraction of a nominal rate
_LARGE_AIM, _SMALL_AIM, _PEAK_AIM = 0.08, 0.20, 0.05
_PEAK_WEIGHT = 0.4
_CAP = 0.5  # of |log|, where outliers cost no more than a tenth of what others do
_FIRST_STEP, _LAST_STEP = 0.4, 0.01  # of a logarithm
_MOST_SIZES = 40  # of a table; from longer ones every third is taken
_LARGE = 2**20

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table as the library's model sees it. sizes [bytes], times [s], peak [bytes/s]: without what is not counted."""

    table: Table
    library: Library
    operation: Operation
    sizes: np.ndarray
    times: np.ndarray

    @property
    def machine(self) -> str:
        """Name of the system on which it was measured, which several series may share."""
        return series()[self.table.series].system(self.table.series)

    def predicted(self, constants: Constants, sizes: np.ndarray | None = None) -> np.ndarray:
        """Times [s] of what the library would choose, of its own or of other sizes."""
        sizes = self.sizes if sizes is None else sizes
        self.library.constants = constants  # plans and loads of links stay as they are
        candidates = self.library.candidates(replace(self.operation, size=sizes))
        return np.min([np.broadcast_to(time, sizes.shape) for time, *_ in candidates], axis=0)

    def predicted_all(self, constants: Constants) -> np.ndarray:
        """Times [s] of all sizes of the table."""
        return self.predicted(constants, np.array(self.table.sizes, np.float64))

    def cost(self, constants: Constants) -> float:
        """What its errors cost, about 1 for each group that is off by its aim."""
        predicted = self.predicted(constants)
        errors = np.abs(np.log(predicted / self.times))
        capped = np.minimum(errors, _CAP) + 0.1 * np.minimum(errors, 4 * _CAP)
        large, cost = self.sizes >= _LARGE, 0.0
        for group, aim in ((large, _LARGE_AIM), (~large, _SMALL_AIM)):
            cost += capped[group].mean() / aim if group.any() else 0.0
        peak = abs(np.log((self.sizes / predicted).max() / (self.sizes / self.times).max()))
        return cost + _PEAK_WEIGHT * min(peak, _CAP) / _PEAK_AIM


def problems() -> list[Problem]:
    """All tables that are counted."""
    built: dict[str, tuple[Topology, Router]] = {}
    return [_problem(table, built) for table in tables().values() if not table.left_out]


def _problem(table: Table, built: dict[str, tuple[Topology, Router]]) -> Problem:
    described = experiment(table)
    key = described.topology.model_dump_json()
    if key not in built:
        topology = described.topology.build()
        built[key] = topology, Router(topology)
    topology, router = built[key]
    (devices,) = resolve(described, topology).devices
    operation = described.jobs[0].workload.build(table.ranks).operations[0]
    group = Group(tuple(devices), topology, router)
    rows = slice(int(table.first_left_out), None, 3 if len(table.sizes) > _MOST_SIZES else 1)
    sizes, times = np.array(table.sizes, np.float64)[rows], np.array(table.times)[rows]
    return Problem(table, Library(group, CONSTANTS), operation, sizes, times)


# -- constants by name ----------------------------------------------------------------------------------------


def fitted(constants: Constants) -> dict[Key, float]:
    """The constants that FIRST_GUESSES names and that are not 0, with their values."""
    found: dict[Key, float] = {}

    def walk(prefix: Key, value) -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                walk((*prefix, name), item)
        elif isinstance(value, float) and value > 0 and _guess(prefix):
            found[prefix] = value

    walk((), constants.model_dump())
    return found


def count() -> int:
    """How many constants are fitted."""
    return len(fitted(CONSTANTS))


@cache
def _guess(key: Key) -> tuple[float, float] | None:
    name = ".".join(key)
    return next((guess for pattern, guess in FIRST_GUESSES.items() if fnmatch(name, pattern)), None)


def with_value(constants: Constants, key: Key, value: float) -> Constants:
    """The constants with another value of one of them; fractions stay below 1."""
    if key[-1] in _FRACTIONS:
        value = min(value, _MOST)
    if len(key) == 1:
        return constants.model_copy(update={key[0]: value})
    table, row, field = key
    rows = getattr(constants, table)
    return constants.model_copy(update={table: rows | {row: rows[row].model_copy(update={field: value})}})


def untrained(constants: Constants) -> Constants:
    """The constants at their first guesses."""
    for key in fitted(constants):
        constants = with_value(constants, key, _guess(key)[0])
    return constants


def _held_back(values: dict[Key, float]) -> float:
    """What constants pay for being away from their first guesses, or those of a generation from their mean."""
    paid, generations = 0.0, {}
    for key, value in values.items():
        guess, weight = _guess(key)
        if key[0] == "generations":
            generations.setdefault((key[-1], weight), []).append(np.log(value))
        else:
            paid += weight * np.log(value / guess) ** 2
    return paid + sum(weight * len(logs) * np.var(logs) for (_, weight), logs in generations.items())


# -- the fit --------------------------------------------------------------------------------------------------


def fit(
    tables: Sequence[Problem], constants: Constants, sweeps: int = 25, progress: Callable[[int], None] | None = None
) -> Constants:
    """The constants with the least cost that coordinate descent finds from these on."""
    costs = np.array([table.cost(constants) for table in tables])
    steps = dict.fromkeys(fitted(constants), _FIRST_STEP)
    for sweep in range(sweeps):
        for key in steps:
            constants, moved = _moved(tables, constants, costs, key, steps[key])
            steps[key] *= 1.4 if moved else 0.6
        if progress:
            progress(sweep + 1)
        if max(steps.values()) < _LAST_STEP:
            break
    return constants


def _moved(tables, constants: Constants, costs: np.ndarray, key: Key, step: float) -> tuple[Constants, bool]:
    """The constants with one of them moved up or down by a step, if that costs less; costs follow."""
    concerned = [i for i, table in enumerate(tables) if key[0] != "generations" or table.library.generation == key[1]]
    values = fitted(constants)
    before = costs[concerned].sum() + _held_back(values)
    for sign in (1.0, -1.0):
        tried = with_value(constants, key, values[key] * np.exp(sign * step))
        found = np.array([tables[i].cost(tried) for i in concerned])
        if found.sum() + _held_back(fitted(tried)) < before - 1e-9:
            costs[concerned] = found
            return tried, True
    return constants, False


def fit_without(machine: str, sweeps: int = 6) -> dict[str, np.ndarray]:
    """What a fit to all other machines predicts of one: times [s] of all sizes, by the names of its tables."""
    every = problems()
    rest = [problem for problem in every if problem.machine != machine]
    constants = fit(rest, untrained(CONSTANTS), sweeps)
    return {p.table.name: p.predicted_all(constants) for p in every if p.machine == machine}
