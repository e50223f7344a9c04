"""NVSwitches add up inside servers, trees between them: every GPU is the head of one rail.

The switches of a server reduce the shard of each rail to the GPU on it, the heads of a rail all-reduce their S / g
over a double binary tree, and the switches copy the results to all GPUs of the server (NCCL's NVLSTree).
"""

import numpy as np

from simnet.errors import InputError
from simnet.flow_graph import FlowGraph
from simnet.workload.collectives import trees
from simnet.workload.collectives.double_binary_tree import double_tree
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.collectives.tree import up_and_down
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Reduce in the switches, all-reduce between servers, copy in the switches."""
    return stages(group, operation).build(trees.chunks(operation.size))


def stages(group: Group, operation: Operation) -> Pipeline:
    """The edges of all stages. Raises InputError where servers have no NVSwitches or only one takes part."""
    if len(group.by_server) < 2 or not group.behind_nvswitches():
        raise InputError("nvls_tree: needs ranks of several servers, joined by NVSwitches inside each")
    pipeline = Pipeline(group.members)
    heads = np.array(group.heads())
    reduced = in_switches(pipeline, group, operation.size)
    copied = in_switches(pipeline, group, operation.size / len(heads))
    for channel, rail in enumerate(heads):
        for between in double_tree(list(range(len(rail)))):
            parent = np.full(group.members, trees.OUTSIDE)
            parent[rail] = np.where(between >= 0, rail[between], trees.ROOT)
            size = operation.size / (2 * len(heads))
            up, down = up_and_down(pipeline, parent, size, channel)
            _join(pipeline, group, rail, parent, up, down, reduced, copied)
    return pipeline


def in_switches(pipeline: Pipeline, group: Group, size: float) -> list[np.ndarray]:
    """Add one edge from every member to the next of its server, as switches that add up or copy load the links."""
    added = []
    for members in map(np.array, group.by_server):
        added.append(pipeline.edges(members, np.roll(members, -1), size))
    return added


def _join(pipeline, group, rail, parent, up, down, reduced, copied) -> None:
    """Heads send up what their switches have added up, and these copy what heads get from above."""
    for server, head in enumerate(rail):
        children = rail[parent[rail] == head]
        root = parent[head] == trees.ROOT
        leaves_with = up[[head]] if not root else down[children]
        arrives_with = down[[head]] if not root else up[children]
        pipeline.wait(leaves_with[:, None], reduced[server][None, :])
        pipeline.wait(copied[server][None, :], arrives_with[:, None])
