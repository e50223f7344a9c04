"""From a choice to flows: the algorithm's graph with the protocol's caps and delays, behind the kernel's launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simnet.flow_graph import FlowGraph
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
    if timer.plan.pipeline is not None:
        graph = timer.plan.pipeline.delayed(timing.pieces, timing.delay, timing.cap)
    else:
        graph = replace(timer.plan.graph(), rate_cap=timing.cap, delay=timing.delay)
    return launched(replace(graph, size=graph.size * scale), timing.launch)


def choose(group: Group, operation: Operation) -> Choice:
    """What the library takes for an operation. Raises InputError where it asks for what cannot be."""
    return group.library.choose(operation)


def launched(graph: FlowGraph, launch: float) -> FlowGraph:
    """The graph with a flow of every rank to itself, of `launch` [s], before whatever the rank sends first."""
    ranks, roots = np.arange(graph.ranks, dtype=np.int32), np.flatnonzero(graph.waits == 0).astype(np.int32)
    owner = graph.source[graph.connection[roots]]
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=graph.ranks)
    waits = graph.waits.copy()
    waits[roots] += 1
    start = graph.successor_start[-1] + np.cumsum(counts)
    return replace(
        graph,
        source=np.concatenate([graph.source, ranks]),
        destination=np.concatenate([graph.destination, ranks]),
        channel=np.concatenate([graph.channel, np.zeros(graph.ranks, np.int32)]),
        rate_cap=np.concatenate([graph.rate_cap, np.full(graph.ranks, np.inf)]),
        delay=np.concatenate([graph.delay, np.full(graph.ranks, launch)]),
        connection=np.concatenate([graph.connection, graph.connections + ranks]),
        size=np.concatenate([graph.size, np.zeros(graph.ranks)]),
        successor_start=np.concatenate([graph.successor_start, start]).astype(np.int32),
        successors=np.concatenate([graph.successors, roots[order]]).astype(np.int32),
        waits=np.concatenate([waits, np.zeros(graph.ranks, np.int32)]),
    )
