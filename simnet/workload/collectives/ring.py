"""Around a ring: n - 1 steps, each rank passes S / n bytes to the next; all_reduce goes round twice.

Bandwidth-optimal (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"):
a rank sends 2 (n - 1) / n S bytes for all_reduce and (n - 1) / n S for all_gather and reduce_scatter. broadcast and
reduce run along the ring as a pipelined chain that starts or ends at the root. With k rings, each carries S / k on a
channel of its own. A rank sends its blocks one after the other, each as soon as it has it; ranks may be steps apart.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives import trees
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Reduce around the ring, then gather: 2 (n - 1) steps."""
    return _rounds(group, operation.size, 2 * (group.members - 1))


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """Pass every rank's part around the ring: n - 1 steps."""
    return _rounds(group, operation.size, group.members - 1)


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """Sum up every rank's part around the ring: n - 1 steps."""
    return _rounds(group, operation.size, group.members - 1)


def broadcast(group: Group, operation: Operation) -> FlowGraph:
    """Chunks follow one another from the root along the ring."""
    flows = FlowGraphBuilder(group.members)
    rings = group.rings()
    for channel, order in enumerate(rings):
        root = order.index(operation.root)
        chain = trees.chain(order[root:] + order[:root])
        trees.send_down(flows, chain, operation.size / len(rings), channel)
    return flows.build()


def reduce(group: Group, operation: Operation) -> FlowGraph:
    """Chunks are summed up along the ring until they reach the root."""
    flows = FlowGraphBuilder(group.members)
    rings = group.rings()
    for channel, order in enumerate(rings):
        root = order.index(operation.root)
        # the rank before the root in the ring is its child, and so on backwards
        chain = trees.chain([order[root], *order[:root][::-1], *order[root + 1 :][::-1]])
        trees.send_up(flows, chain, operation.size / len(rings), channel)
    return flows.build()


def _rounds(group: Group, size: float, steps: int) -> FlowGraph:
    """`steps` steps on every ring, as flows [channel, step, position].

    A flow releases the one of the next step at position + 1, which passes the block on, and its own sender's next one.
    1,024 ranks make 2.1 million flows, so the columns are filled in place.
    """
    rings = np.array(group.rings(), np.int32)
    channels, ranks = rings.shape
    connections = channels * ranks

    def column(value, dtype=np.int32) -> np.ndarray:
        filled = np.empty((channels, steps, ranks), dtype)
        filled[:] = value
        return filled

    flow = np.arange(connections * steps, dtype=np.int32).reshape(channels, steps, ranks)
    successors = np.empty((channels, steps - 1, ranks, 2), np.int32)
    successors[..., 0] = np.roll(flow[:, 1:], -1, axis=2)
    successors[..., 1] = flow[:, 1:]
    released, waits = column(2), column(2)
    released[:, -1] = waits[:, 0] = 0
    start = np.zeros(flow.size + 1, np.int32)
    np.cumsum(released, dtype=np.int32, out=start[1:])
    return FlowGraph(
        ranks=ranks,
        source=rings.ravel(),
        destination=np.roll(rings, -1, axis=1).ravel(),
        channel=np.repeat(np.arange(channels, dtype=np.int32), ranks),
        rate_cap=np.full(connections, np.inf),
        delay=np.zeros(connections),
        connection=column(np.arange(connections).reshape(channels, 1, ranks)).ravel(),
        size=column(size / connections, np.float64).ravel(),
        successor_start=start,
        successors=successors.ravel(),
        waits=waits.ravel(),
    )
