"""Parallel aggregated trees: log2 n steps, far partners first, with data that doubles from step to step.

Every rank's part travels along a binomial tree of its own, and what a rank sends in one step for all trees goes in one
message (Jeaugey 2025, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale"): ceil(log2 n)
steps and (n - 1) / n S bytes, for any n. The largest messages go to the nearest partner.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """From the farthest partner to the nearest."""
    return _steps(group.members, operation.size, rounds(group.members))


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """From the nearest partner to the farthest."""
    return _steps(group.members, operation.size, rounds(group.members)[::-1])


def rounds(n: int) -> list[tuple[int, int]]:
    """(distance, parts in a message) of every step of an all-gather.

    In the tree of part 0, rank v sends at distance d = 2^j if it is a multiple of 2 d and v + d < n; over all n trees
    a rank sends as many parts as there are such v: (n - d) / (2 d), rounded up.
    """
    distances = [1 << j for j in reversed(range((n - 1).bit_length()))]
    return [(d, -(-(n - d) // (2 * d))) for d in distances]


def _steps(n: int, size: float, steps: list[tuple[int, int]]) -> FlowGraph:
    flows, ranks = FlowGraphBuilder(n), np.arange(n)
    arrived = []
    for distance, parts in steps:
        sent = flows.flows(ranks, (ranks + distance) % n, parts * size / n)
        for earlier in arrived:
            flows.wait(sent, earlier)
        arrived.append(np.roll(sent, distance))
    return flows.build()
