"""The switches of the fabric add up (SHARP): every NIC sends its share once and gets the sum once.

Inside servers the members exchange shards directly, one shard for each rail; on every rail a flow from each server to
the next in order of their place in the fabric loads all links as a tree of switches does that adds up on the way up
and copies on the way down: each link of a NIC, and each cable above a leaf, carries the shard once in each direction
(NCCL's CollNetDirect).
"""

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.workload.collectives import trees
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Scatter shards inside servers, add them up in the fabric, gather them."""
    return stages(group, operation).build(trees.chunks(operation.size))


def stages(group: Group, operation: Operation) -> Pipeline:
    """The edges of all stages."""
    pipeline = Pipeline(group.members)
    owners = np.array(group.heads()).T
    servers, rails = owners.shape
    shard = operation.size / rails
    summed = [pipeline.edges(rail, np.roll(rail, -1), shard, channel) for channel, rail in enumerate(owners.T)]
    for server, members in enumerate(map(np.array, group.by_server)):
        for channel, owner in enumerate(owners[server]):
            others = members[members != owner]
            scattered = pipeline.edges(others, owner, shard)
            gathered = pipeline.edges(owner, others, shard)
            if servers > 1:
                pipeline.wait(summed[channel][server], scattered)
                pipeline.wait(gathered, summed[channel][server - 1])
            else:
                pipeline.wait(gathered[:, None], scattered[None, :])
    return pipeline
