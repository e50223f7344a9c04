"""Two binary trees at once, each for half of the data; a rank is an inner node of at most one of them.

Sanders, Speck and Träff 2009, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"; NCCL's Tree is of
this kind. all_reduce reduces up and broadcasts down both trees, chunk by chunk: about 2 log2 n steps, and no rank
sends more than 2 S. For broadcast and reduce the root stands above two trees through the other n - 1 ranks. With k
rings through the group, the trees follow the order of each ring and carry S / k, so that all NICs of a server are used.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives import trees
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Reduce up and broadcast down two trees, half of the data in each."""
    flows = FlowGraphBuilder(group.members)
    orders = group.rings()
    for channel, order in enumerate(orders):
        for parent in double_tree(order):
            size = operation.size / (2 * len(orders))
            reduced = trees.send_up(flows, parent, size, channel)
            trees.send_down(flows, parent, size, channel, reduced)
    return flows.build()


def broadcast(group: Group, operation: Operation) -> FlowGraph:
    """The root sends one half of the data to each of the roots of two trees through the other ranks."""
    return _rooted(group, operation, trees.send_down)


def reduce(group: Group, operation: Operation) -> FlowGraph:
    """Two trees through the other ranks reduce one half of the data each and send it to the root."""
    return _rooted(group, operation, trees.send_up)


def _rooted(group: Group, operation: Operation, send) -> FlowGraph:
    flows = FlowGraphBuilder(group.members)
    orders = group.rings()
    for channel, order in enumerate(orders):
        root = order.index(operation.root)
        others = order[root + 1 :] + order[:root]
        for parent in double_tree(others, above=operation.root):
            send(flows, parent, operation.size / (2 * len(orders)), channel)
    return flows.build()


def double_tree(order: list[int], above: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Both trees through the ranks in `order`, as arrays of parents; `above` becomes the root over both, if given.

    In the first tree, in-order, the ranks at even positions (counted from 1) are inner nodes. The second is its mirror
    image for even n and the first shifted by one for odd n, which makes those at odd positions inner nodes.
    """
    n = len(order)
    second = order[::-1] if n % 2 == 0 else order[1:] + order[:1]
    return _tree(order, above), _tree(second, above)


def _tree(order: list[int], above: int | None) -> np.ndarray:
    n = len(order)
    ranks = [*order, above] if above is not None else order
    parent = np.full(max(ranks, default=-1) + 1, trees.OUTSIDE)
    for position in range(1, n + 1):
        low = position & -position
        up = (position - low) | (low << 1)
        up = up if up <= n else position - low
        parent[order[position - 1]] = order[up - 1] if up else trees.ROOT
    if above is not None:
        parent[parent == trees.ROOT] = above
        parent[above] = trees.ROOT
    return parent
