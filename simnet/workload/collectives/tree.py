"""Chains inside servers, two binary trees between them: what NCCL calls Tree.

On every channel, all members of a server form a chain from the one whose NIC the channel uses, and these form the
double binary tree of Sanders, Speck and Träff 2009, each tree for half of the data. all_reduce reduces up and
broadcasts down. Between N servers a NIC sends S / g of its rail twice at most, and once where there are two servers,
which is why two servers show more bus bandwidth than their NICs have.
"""

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.workload.collectives import trees
from simnet.workload.collectives.double_binary_tree import double_tree
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.collectives.server_rings import server_rings
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Reduce up and broadcast down, piece by piece."""
    return stages(group, operation).build(trees.chunks(operation.size))


def stages(group: Group, operation: Operation) -> Pipeline:
    """The edges of both trees on every channel, up and down."""
    pipeline = Pipeline(group.members)
    heads = group.heads() if len(group.by_server) > 1 else [None] * len(server_rings(group, group.by_server[0]))
    for channel, row in enumerate(heads):
        for parent in _parents(group, channel, row):
            up_and_down(pipeline, parent, operation.size / (2 * len(heads)), channel)
    return pipeline


def up_and_down(pipeline: Pipeline, parent: np.ndarray, size: float, channel: int) -> tuple[np.ndarray, np.ndarray]:
    """Add the edges of a tree (see `trees`) to its root and back; returns up[rank] and down[rank], -1 where none.

    up[rank] leaves the rank for its parent, down[rank] comes from there.
    """
    children = np.flatnonzero(parent >= 0)
    up, down = np.full((2, len(parent)), -1, np.int32)
    up[children] = pipeline.edges(children, parent[children], size, channel)
    down[children] = pipeline.edges(parent[children], children, size, channel)
    passing = children[parent[parent[children]] >= 0]
    pipeline.wait(up[parent[passing]], up[passing])
    pipeline.wait(down[passing], down[parent[passing]])
    first = children[parent[parent[children]] == trees.ROOT]
    pipeline.wait(down[first, None], up[None, first])
    return up, down


def _parents(group: Group, channel: int, heads: list[int] | None) -> list[np.ndarray]:
    """Both trees of a channel: chains inside servers, hung below a binary tree of their heads."""
    chains = []
    for server, members in enumerate(group.by_server):
        cycles = server_rings(group, members)
        cycle = cycles[channel % len(cycles)]
        head = _behind_slowest(group, cycle) if heads is None else heads[server]
        start = cycle.index(head)
        chains.append(cycle[start:] + cycle[:start])
    trees_between = double_tree(list(range(len(chains))))
    first = np.array([chain[0] for chain in chains])
    parents = []
    for between in trees_between:
        parent = np.full(group.members, trees.ROOT)
        parent[first] = np.where(between >= 0, first[between], trees.ROOT)
        for chain in chains:
            parent[chain[1:]] = chain[:-1]
        parents.append(parent)
    return parents


def _behind_slowest(group: Group, cycle: list[int]) -> int:
    """Where to cut a ring open, so that its chain does without the slowest hop."""
    into = {b: group.pair_rate(a, b) for a, b in zip(cycle[-1:] + cycle[:-1], cycle)}
    return min(cycle, key=into.get)
