"""Every pair at once: each rank sends to all the others without relays, in one step.

For all_to_all this is what NCCL does with grouped sends and receives; for the others it suits few ranks on a
non-blocking switch, where latency counts. Rank r starts with r + 1, so that receivers are spread evenly.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_to_all(group: Group, operation: Operation) -> FlowGraph:
    """All n (n - 1) messages start together; what the matrix says is 0 is not sent."""
    flows = FlowGraphBuilder(group.members)
    source, destination = pairs(group.members)
    size = sizes(operation, source, destination)
    sent = size > 0 if operation.matrix is not None else np.ones(source.shape, bool)
    flows.flows(source[sent], destination[sent], size[sent])
    return flows.build()


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """Every rank sends its part to all the others."""
    return _every_pair(group, operation)


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """Every rank sends all the others their parts."""
    return _every_pair(group, operation)


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Scatter the parts to the ranks that sum them up, then gather the sums: 2 steps."""
    n = group.members
    flows = FlowGraphBuilder(n)
    source, destination = pairs(n)
    scattered = flows.flows(source, destination, operation.size / n)
    # row s - 1 of `source` leaves every rank for the rank s further on, so rank r receives from r - s
    received = np.stack([np.roll(row, shift) for shift, row in enumerate(scattered, 1)], axis=1) if n > 1 else scattered
    summed = flows.join(np.arange(n), received.reshape(n, n - 1))
    flows.wait(flows.flows(source, destination, operation.size / n), summed)
    return flows.build()


def broadcast(group: Group, operation: Operation) -> FlowGraph:
    """The root sends everything to everybody."""
    flows = FlowGraphBuilder(group.members)
    flows.flows(operation.root, _others(group, operation.root), operation.size)
    return flows.build()


def reduce(group: Group, operation: Operation) -> FlowGraph:
    """Everybody sends everything to the root."""
    flows = FlowGraphBuilder(group.members)
    flows.flows(_others(group, operation.root), operation.root, operation.size)
    return flows.build()


def send_recv(group: Group, operation: Operation) -> FlowGraph:
    """One message from the first rank to the second."""
    flows = FlowGraphBuilder(group.members)
    flows.flows([0], [1], operation.size)
    return flows.build()


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Source and destination of all ordered pairs; row s - 1 joins every rank r with r + s."""
    source = np.broadcast_to(np.arange(n), (n - 1, n))
    return source, (source + np.arange(1, n)[:, None]) % n


def sizes(operation: Operation, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """Bytes from source[i] to destination[i] in an all_to_all or all_to_all_v."""
    if operation.matrix is None:
        return np.full(source.shape, operation.size / len(operation.ranks))
    return np.array(operation.matrix)[source, destination]


def _every_pair(group: Group, operation: Operation) -> FlowGraph:
    flows = FlowGraphBuilder(group.members)
    flows.flows(*pairs(group.members), operation.size / group.members)
    return flows.build()


def _others(group: Group, root: int) -> np.ndarray:
    return (root + np.arange(1, group.members)) % group.members
