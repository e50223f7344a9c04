"""How an operation goes by each algorithm of the library: who sends how much to whom, and what latency adds up to.

A plan is made for a message of 1 byte, or of the matrix of an all_to_all_v, and scaled from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simnet.errors import InputError
from simnet.flow_graph import FlowGraph
from simnet.workload.collectives import collnet, direct, hierarchical, nvls, nvls_tree, pat, ring, tree
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.task_graph import Operation

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group

ROUNDS, STAGES, TURNS, PAIRS = "rounds", "stages", "turns", "pairs"


@dataclass(frozen=True, eq=False)
class Plan:
    """Connections, one row each: source, destination, channel [int], size [bytes] in all; and how they follow.

    form: ROUNDS around rings of `ranks` connections, `steps` of them; STAGES of a pipeline whose edges are the
    connections; TURNS, of which a rank takes `steps` one after the other; PAIRS, all at once. graph: makes the
    flows, of a pipeline with that many pieces. own [bytes]: the part of an all-to-all that a rank keeps.
    """

    form: str
    source: np.ndarray
    destination: np.ndarray
    channel: np.ndarray
    size: np.ndarray
    graph: Callable[[int], FlowGraph]
    steps: int = 1
    own: float = 0.0
    pipeline: Pipeline | None = None

    @cached_property
    def levels(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Connections before and after, where stages wait for one another: all into a stage before any out of it."""
        before, after = self.pipeline.waits()
        level = np.zeros(len(self.size), np.int64)
        while True:
            raised = level.copy()
            np.maximum.at(raised, after, level[before] + 1)
            if np.array_equal(raised, level):
                break
            level = raised
        of = level[after]
        return [(before[of == i], after[of == i]) for i in range(1, int(of.max(initial=0)) + 1)]


def _ring(group: Group, operation: Operation) -> Plan:
    rings = np.array(group.rings())
    channels, ranks = rings.shape
    steps = (2 if operation.kind == "all_reduce" else 1) * (ranks - 1)
    size = np.full(rings.size, operation.size * steps / rings.size)
    lower = getattr(ring, operation.kind)
    ends = rings.ravel(), np.roll(rings, -1, axis=1).ravel(), np.repeat(np.arange(channels), ranks)
    return Plan(ROUNDS, *ends, size, lambda pieces: lower(group, operation), steps)


def _chain(group: Group, operation: Operation) -> Plan:
    pipeline, rings = Pipeline(group.members), group.rings()
    for channel, order in enumerate(rings):
        root = order.index(operation.root)
        onward = order[root:] + order[:root]
        hops = (onward[:-1], onward[1:]) if operation.kind == "broadcast" else (onward[1:], [*onward[2:], onward[0]])
        edges = pipeline.edges(*map(np.array, hops), operation.size / len(rings), channel)
        pipeline.wait(edges[1:], edges[:-1])
    return _staged(pipeline)


def _staged(pipeline: Pipeline) -> Plan:
    source, destination, size, channel = pipeline.columns()
    return Plan(STAGES, source, destination, channel, size, pipeline.build, pipeline=pipeline)


def _of_stages(stages) -> Callable[[Group, Operation], Plan]:
    return lambda group, operation: _staged(stages(group, operation))


def _pat(group: Group, operation: Operation) -> Plan:
    if len(group.by_server) < group.members:
        raise InputError("pat: needs one rank in every server")
    graph = getattr(pat, operation.kind)(group, operation)
    return _of_graph(TURNS, graph, steps=graph.connections // group.members)


def _pairs(group: Group, operation: Operation) -> Plan:
    graph = getattr(direct, "all_to_all" if operation.kind == "all_to_all_v" else operation.kind)(group, operation)
    return _of_graph(PAIRS, graph, own=_own_part(operation))


def _of_graph(form: str, graph: FlowGraph, **more) -> Plan:
    """The plan of a graph in which every connection carries one flow."""
    return Plan(form, graph.source, graph.destination, graph.channel, graph.size, lambda pieces: graph, **more)


def _own_part(operation: Operation) -> float:
    """The most that a rank keeps [bytes]."""
    if operation.matrix is not None:
        return float(np.diag(np.array(operation.matrix)).max())
    return 0.0 if operation.kind == "send_recv" else operation.size / len(operation.ranks)


def _relayed(group: Group, operation: Operation) -> Plan:
    if len(group.by_server) < 2:
        raise InputError("hierarchical: needs ranks of several servers")
    return replace(_staged(hierarchical.relays(group, operation)), own=_own_part(operation))


PLANS: dict[str, dict[str, Callable[[Group, Operation], Plan]]] = {
    "ring": {
        "all_reduce": _ring, "all_gather": _ring, "reduce_scatter": _ring, "broadcast": _chain, "reduce": _chain,
    },
    "tree": {"all_reduce": _of_stages(tree.stages)},
    "nvls": dict.fromkeys(("all_reduce", "all_gather", "reduce_scatter"), _of_stages(nvls.stages)),
    "nvls_tree": {"all_reduce": _of_stages(nvls_tree.stages)},
    "collnet": {"all_reduce": _of_stages(collnet.stages)},
    "pat": {"all_gather": _pat, "reduce_scatter": _pat},
    "direct": dict.fromkeys(("all_to_all", "all_to_all_v", "send_recv"), _pairs),
    "hierarchical": dict.fromkeys(("all_to_all", "all_to_all_v"), _relayed),
}  # fmt: skip
"""Algorithms of the library, by name and kind. They raise InputError where the group is not made for them."""
