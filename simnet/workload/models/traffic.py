"""Patterns of independent point-to-point flows, as network benchmarks have them."""

from collections.abc import Callable

import numpy as np
from pydantic import Field, NonNegativeInt, create_model, model_validator

from simnet.errors import InputError
from simnet.params import Params, inside, row_name
from simnet.units import Size, Time
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder
from simnet.workload.traffic import Traffic, traffic

Pairs = tuple[np.ndarray, np.ndarray]  # source and destination of every flow


def incast(workload: "TrafficPattern", ranks: int) -> Pairs:
    """Every other rank sends to one rank."""
    others = _others(workload.hub, ranks)
    return others, np.full(len(others), workload.hub)


def outcast(workload: "TrafficPattern", ranks: int) -> Pairs:
    """One rank sends to every other rank."""
    return incast(workload, ranks)[::-1]


def permutation(workload: "TrafficPattern", ranks: int) -> Pairs:
    """Every rank sends to one rank and receives from one: the rank `shift` further on, or a random other one."""
    source = np.arange(ranks)
    if workload.shift is not None:
        if workload.shift % ranks == 0:
            raise InputError(f"shift: {workload.shift} leads every one of {ranks} ranks to itself")
        return source, (source + workload.shift) % ranks
    generator = np.random.default_rng(workload.seed)
    while True:  # one of e = 2.7 permutations has no fixed point
        destination = generator.permutation(ranks)
        if not np.any(destination == source):
            return source, destination


def all_to_all(workload: "TrafficPattern", ranks: int) -> Pairs:
    """Every rank sends to every other rank, beginning with the next one."""
    source = np.tile(np.arange(ranks), ranks - 1)
    return source, (source + np.repeat(np.arange(1, ranks), ranks)) % ranks


PATTERNS: dict[str, Callable[["TrafficPattern", int], Pairs]] = {
    "incast": incast,
    "outcast": outcast,
    "permutation": permutation,
    "all_to_all": all_to_all,
}
"""Who sends to whom; each flow carries `size` and starts at `start`."""

Pair = create_model(
    "Pair",
    __base__=Params,
    __doc__="One flow of a traffic workload.",
    **{"from": (NonNegativeInt, Field(description="rank that sends"))},
    to=(NonNegativeInt, Field(description="rank that receives")),
    size=(Size | None, Field(None, description="bytes sent; default the workload's size")),
    start=(Time | None, Field(None, description="when it starts, after the workload; default the workload's start")),
)


class TrafficPattern(Params):
    """Independent point-to-point flows that start together: incast, outcast, permutation, all-to-all or given pairs."""

    pattern: row_name({**PATTERNS, "pairs": None}) = Field(description="who sends to whom; pairs: only those given")
    size: Size | None = Field(None, description="bytes of each flow")
    start: Time = Field(0.0, description="when the flows start, after the workload does")
    hub: NonNegativeInt = Field(0, description="the one rank of an incast or outcast")
    shift: int | None = Field(None, description="of a permutation: rank r sends to r + shift; default random")
    seed: NonNegativeInt = Field(1, description="of a random permutation")
    pairs: tuple[Pair, ...] = Field((), description="single flows, besides those of the pattern")

    @model_validator(mode="after")
    def _consistent(self):
        if self.pattern == "pairs" and not self.pairs:
            raise inside(("pairs",), "missing key: the flows of pattern 'pairs'")
        if self.shift is not None and self.pattern != "permutation":
            raise inside(("shift",), f"{self.pattern} has none; only a permutation can be a shift")
        if "hub" in self.model_fields_set and self.pattern not in ("incast", "outcast"):
            raise inside(("hub",), f"{self.pattern} has none; only incast and outcast have a rank in the middle")
        if self.size is None and self.pattern != "pairs":
            raise inside(("size",), "missing key")
        for i, pair in enumerate(self.pairs):
            if getattr(pair, "from") == pair.to:
                raise inside(("pairs", i, "to"), f"rank {pair.to} sends to itself")
            if pair.size is None and self.size is None:
                raise inside(("pairs", i, "size"), "missing key, as the workload gives no size for all")
        return self

    def build(self, ranks: int) -> TaskGraph:
        """One operation of all flows. Raises InputError where there are too few ranks for them."""
        return single_operation(self.flows(ranks), ranks, self.pattern)

    def flows(self, ranks: int) -> Traffic:
        """The table of flows among so many ranks. Raises InputError."""
        source, destination = np.zeros(0, int), np.zeros(0, int)
        if self.pattern != "pairs":
            if ranks < 2:
                raise InputError(f"a {self.pattern} needs at least 2 ranks, the job has {ranks}")
            if self.hub >= ranks:
                raise InputError(f"hub {self.hub} is none of the job's {ranks} ranks")
            source, destination = PATTERNS[self.pattern](self, ranks)
        for i, pair in enumerate(self.pairs):
            for end in (getattr(pair, "from"), pair.to):
                if end >= ranks:
                    raise InputError(f"pairs.{i}: there is no rank {end}; ranks are 0 to {ranks - 1}")
        size, start = np.full(len(source), self.size or 0.0), np.full(len(source), self.start)
        return traffic(
            np.append(source, [getattr(pair, "from") for pair in self.pairs]),
            np.append(destination, [pair.to for pair in self.pairs]),
            np.append(size, [self.size if pair.size is None else pair.size for pair in self.pairs]),
            np.append(start, [self.start if pair.start is None else pair.start for pair in self.pairs]),
        )


def single_operation(flows: Traffic, ranks: int, label: str) -> TaskGraph:
    """A task graph of one operation of all ranks that holds the flows."""
    tasks = TaskGraphBuilder(ranks)
    everybody = tuple(range(ranks))
    operation = Operation("traffic", flows.largest_buffer, everybody, "scheduled", label=label, traffic=flows)
    tasks.collective(operation, label)
    return tasks.build()


def _others(hub: int, ranks: int) -> np.ndarray:
    return np.delete(np.arange(ranks), hub)
