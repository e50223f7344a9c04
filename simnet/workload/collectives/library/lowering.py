"""From a choice to flows: the algorithm's graph with the protocol's caps and delays, behind the kernel's launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simnet.flow_graph import FlowGraph, flow_graph
from simnet.workload.collectives.library.choice import Choice
from simnet.workload.task_graph import Operation

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group


def lower(group: Group, operation: Operation) -> FlowGraph:
    """The flows of an operation as the library would run it."""
    choice = choose(group, operation)
    library = group.library
    timer, scale = library.timer(operation, choice.algorithm), library.scale(operation)
    timing = timer.timing(scale, library.setting(operation, choice.algorithm, choice.protocol))
    graph = timer.plan.graph(timing.pieces)
    graph = replace(graph, size=graph.size * scale, rate_cap=timing.cap, delay=timing.delay)
    return launched(led(graph, timing.lead), timing.launch, timing.floor)


def choose(group: Group, operation: Operation) -> Choice:
    """What the library takes for an operation. Raises InputError where it asks for what cannot be."""
    return group.library.choose(operation)


def led(graph: FlowGraph, lead: np.ndarray) -> FlowGraph:
    """The graph where lead[connection] [s] passes between a flow and what it waits for on other connections.

    Unlike the delay of a connection, this holds up no other of its flows.
    """
    before, after = graph.dependencies()
    other = graph.connection[before] != graph.connection[after]
    late = graph.waits == 0
    late[after[other]] = True
    late &= lead[graph.connection] > 0
    paused = np.flatnonzero(late)
    pause = np.full(graph.flows, -1)
    pause[paused] = graph.flows + np.arange(len(paused))
    own, slow = np.unique(graph.connection[paused], return_inverse=True)
    return _with_pauses(
        graph, graph.source[own], lead[own], slow,
        np.concatenate([before, pause[paused]]),
        np.concatenate([np.where(other & late[after], pause[after], after), paused]),
    )  # fmt: skip


def launched(graph: FlowGraph, launch: float, floor: float = 0.0) -> FlowGraph:
    """The graph where nothing goes before `launch` [s], and no rank is through before `floor` [s]."""
    ranks, (before, after) = np.arange(graph.ranks), graph.dependencies()
    first = np.flatnonzero(graph.waits == 0)
    graph = _with_pauses(
        graph, ranks, np.full(len(ranks), launch), ranks,
        np.concatenate([before, graph.flows + graph.source[graph.connection[first]]]), np.concatenate([after, first]),
    )  # fmt: skip
    if floor == 0:
        return graph
    return _with_pauses(graph, ranks, np.full(len(ranks), floor), ranks, *graph.dependencies())


def _with_pauses(graph: FlowGraph, rank, delay, connection, before, after) -> FlowGraph:
    """The graph with further connections, of rank[i] to itself with delay[i] [s], and a flow on each of `connection`.

    Flow j of these is number graph.flows + j; before, after: all dependencies of the result.
    """
    nothing, free = np.zeros(len(connection)), np.full(len(rank), np.inf)
    return flow_graph(
        graph.ranks, np.concatenate([graph.source, rank]), np.concatenate([graph.destination, rank]),
        np.concatenate([graph.connection, graph.connections + connection]), np.concatenate([graph.size, nothing]),
        before, after,
        channel=np.concatenate([graph.channel, np.zeros(len(rank), np.int32)]),
        rate_cap=np.concatenate([graph.rate_cap, free]), delay=np.concatenate([graph.delay, delay]),
    )  # fmt: skip
