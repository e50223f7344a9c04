"""Around a ring: n - 1 steps, each rank passes S / n bytes to the next; all_reduce goes round twice.

Bandwidth-optimal (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"):
a rank sends 2 (n - 1) / n S bytes for all_reduce and (n - 1) / n S for all_gather and reduce_scatter. broadcast and
reduce run along the ring as a pipelined chain that starts or ends at the root. With k rings, each carries S / k on a
channel of its own. A rank sends its blocks one after the other, each as soon as it has it; ranks may be steps apart.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder, flow_graph
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

    A flow waits for the block of the step before from position - 1, and for its own sender to be through with that
    step. Built column by column: 1,024 ranks make 2.1 million flows.
    """
    rings = np.array(group.rings(), np.int32)
    channels, ranks = rings.shape
    connection = np.arange(channels * ranks, dtype=np.int32).reshape(channels, 1, ranks)
    flows = np.arange(channels * steps * ranks, dtype=np.int32).reshape(channels, steps, ranks)
    later = np.stack([np.roll(flows[:, 1:], -1, axis=2), flows[:, 1:]], axis=-1)
    return flow_graph(
        ranks,
        source=rings.ravel(),
        destination=np.roll(rings, -1, axis=1).ravel(),
        connection=np.broadcast_to(connection, flows.shape).ravel(),
        size=size / (channels * ranks),
        before=np.repeat(flows[:, :-1].ravel(), 2),
        after=later.ravel(),
        channel=np.repeat(np.arange(channels), ranks),
    )
