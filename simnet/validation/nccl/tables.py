"""The measured tables: rows of measured.csv, with what systems.yaml says of the machine of their series."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, RootModel

from simnet import reader
from simnet.experiment import Experiment
from simnet.params import Params

FOLDER = Path(__file__).parent
"""Where the tables are, and where paths of topologies start."""

_MICRO = 1e-6
_OUTLIER = 2.0  # times the second row


class Series(Params):
    """A machine on which somebody measured."""

    source: str = Field(description="who published it, and of what machine")
    topology: dict[str, Any] = Field(description="the machine, as in an experiment")
    machine: str = Field("", description="names the system, where several series were measured on one")
    library: str | None = Field(None, description="version of NCCL, where it is stated")
    placement: tuple[str, ...] | None = Field(None, description="GPUs in the order of ranks; default the first ones")
    options: dict[str, Any] = Field({}, description="of the workload")
    left_out: str = Field("", description="why its tables are in no statistics")
    left_out_ranks: tuple[int, ...] = Field((), description="numbers of ranks that this holds for; default all")

    def system(self, name: str) -> str:
        """The machine of the series of that name."""
        return self.machine or name


@dataclass(frozen=True)
class Table:
    """Times of one collective on one machine among some ranks. sizes [bytes], as nccl-tests counts; times [s].

    left_out: why it is in no statistics, '' if it is. first_left_out: its first time is above twice its second.
    """

    series: str
    collective: str
    ranks: int
    sizes: tuple[int, ...]
    times: tuple[float, ...]
    left_out: str = ""

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.series} {self.collective} x{self.ranks}"

    @property
    def first_left_out(self) -> bool:
        """Whether the first row is an outlier: warm-up that is no part of the steady state."""
        return len(self.times) > 1 and self.times[0] > _OUTLIER * self.times[1]


@cache
def series() -> dict[str, Series]:
    """Machines by name."""
    return reader.read(FOLDER / "systems.yaml", RootModel[dict[str, Series]]).root


@cache
def tables() -> dict[str, Table]:
    """All measured tables by name, in the order of measured.csv."""
    rows: dict[tuple[str, str, int], list[tuple[int, float]]] = {}
    with (FOLDER / "measured.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["series"], row["collective"], int(row["ranks"])
            rows.setdefault(key, []).append((int(row["bytes"]), float(row["us"]) * _MICRO))
    found = [_table(*key, measured) for key, measured in rows.items()]
    return {table.name: table for table in found}


def _table(name: str, collective: str, ranks: int, measured: list[tuple[int, float]]) -> Table:
    machine = series()[name]
    concerned = not machine.left_out_ranks or ranks in machine.left_out_ranks
    sizes, times = zip(*measured)
    return Table(name, collective, ranks, sizes, times, machine.left_out if concerned else "")


def experiment(table: Table) -> Experiment:
    """All sizes of a table back to back on its machine."""
    machine = series()[table.series]
    workload = {
        "kind": "collective",
        "collective": table.collective,
        "algorithm": "auto",
        "sizes": [f"{size}B" for size in table.sizes],
        **machine.options,
    }
    placed = {} if machine.placement is None else {"placement": list(machine.placement)}
    described = {
        "topology": machine.topology,
        "jobs": [{"workload": workload, "ranks": table.ranks, **placed}],
        "output": {"samples": 2},
    }
    return reader.validate(described, Experiment, folder=FOLDER)
