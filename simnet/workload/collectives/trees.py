"""Pipelined broadcast and reduction along any tree; a chain is a tree too.

The data is cut into chunks, so that a rank passes one chunk on while it receives the next. A tree is an array: parent
of each rank, -1 at the root, -2 at ranks outside it.
"""

import math

import numpy as np

from simnet.flow_graph import FlowGraphBuilder

# NCCL cuts a channel's buffer of 4 MiB into 8 steps of 512 KiB (NCCL_BUFFSIZE, NCCL_STEPS). Long messages get
# larger chunks here: 256 of them fill a pipeline of 16 ranks to 95 %.
CHUNK = 512 * 1024
MOST_CHUNKS = 256
ROOT, OUTSIDE = -1, -2


def chunks(size: float) -> int:
    """Number of chunks of a pipelined message of `size` bytes."""
    return min(max(math.ceil(size / CHUNK), 1), MOST_CHUNKS)


def chain(order) -> np.ndarray:
    """The tree in which order[0] is the root and every rank the parent of the one that follows it."""
    order = np.asarray(order)
    parent = np.full(order.max() + 1, OUTSIDE)
    parent[order[0]] = ROOT
    parent[order[1:]] = order[:-1]
    return parent


def send_up(flows: FlowGraphBuilder, parent: np.ndarray, size: float, channel: int) -> np.ndarray:
    """Add the flows of a reduction of `size` bytes to the root; returns flow[chunk, rank] that leaves the rank.

    Where a rank sends nothing, the array holds -1.
    """
    children, number = _flows(flows, parent, size, channel, upward=True)
    passing = children[parent[parent[children]] >= 0]
    flows.wait(number[:, parent[passing]], number[:, passing])
    return number


def send_down(
    flows: FlowGraphBuilder, parent: np.ndarray, size: float, channel: int, reduced: np.ndarray | None = None
) -> np.ndarray:
    """Add the flows of a broadcast of `size` bytes from the root; returns flow[chunk, rank] that enters the rank.

    reduced: what `send_up` returned for the same tree; the root sends a chunk when it has it from all its children.
    """
    children, number = _flows(flows, parent, size, channel, upward=False)
    passing = children[parent[parent[children]] >= 0]
    flows.wait(number[:, passing], number[:, parent[passing]])
    if reduced is not None:
        first = children[parent[parent[children]] == ROOT]
        flows.wait(number[:, first, None], reduced[:, None, first])
    return number


def _flows(flows, parent, size, channel, upward: bool) -> tuple[np.ndarray, np.ndarray]:
    """One flow for every chunk and edge, in the order of the chunks."""
    children = np.flatnonzero(parent >= 0)
    count = chunks(size)
    ends = (children, parent[children]) if upward else (parent[children], children)
    number = np.full((count, len(parent)), -1, np.int32)
    number[:, children] = flows.flows(*ends, np.full((count, 1), size / count), channel)
    flows.wait(number[1:, children], number[:-1, children])
    return children, number
