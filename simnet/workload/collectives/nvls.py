"""NVSwitches add up and copy (NVLink SHARP): every GPU sends its data once and gets the sum once.

The switch reads from all GPUs what it adds up and writes to all of them what it copies, so a link carries S bytes each
way, whatever the number of ranks: n b in alpha-beta terms, and a bus bandwidth above the rate of a link. Flows from
each rank to the next load every link in just that way, half of them for reading what is added up, half for writing it.
all_gather and reduce_scatter leave out the half that they have no need of; the slower direction carries (n - 1) / n S.
"""

import numpy as np

from simnet.errors import InputError
from simnet.flow_graph import FlowGraph
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Every rank sends S bytes and gets S bytes, in two steps."""
    return stages(group, operation).build()


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """The switch copies every rank's part to the others."""
    return stages(group, operation).build()


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """The switch adds up every part for its rank."""
    return stages(group, operation).build()


def stages(group: Group, operation: Operation) -> Pipeline:
    """An edge from every rank to the next, for all_reduce two. Raises InputError where no NVSwitch joins all ranks."""
    if not group.behind_nvswitches() or len(group.by_server) > 1:
        raise InputError("nvls: needs ranks of one server that NVSwitches join")
    n, pipeline = group.members, Pipeline(group.members)
    ranks, following = np.arange(n), (np.arange(n) + 1) % n
    if operation.kind != "all_reduce":
        pipeline.edges(ranks, following, operation.size * (n - 1) / n)
        return pipeline
    added_up = pipeline.edges(ranks, following, operation.size / 2)
    copied = pipeline.edges(ranks, following, operation.size / 2)
    pipeline.wait(copied[:, None], added_up[None, :])
    return pipeline
