"""Pairwise exchange: n - 1 rounds, in round s rank r sends to r + s and receives from r - s.

The rounds keep receivers from being hit by all senders at once (Thakur, Rabenseifner and Gropp 2005, long messages).
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives import direct
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_to_all(group: Group, operation: Operation) -> FlowGraph:
    """A rank begins a round when it has sent and received all of the one before."""
    n = group.members
    flows = FlowGraphBuilder(n)
    source, destination = direct.pairs(n)
    rounds = flows.flows(source, destination, direct.sizes(operation, source, destination))
    for shift in range(1, n - 1):
        sent = rounds[shift - 1]
        flows.wait(rounds[shift], sent)
        flows.wait(rounds[shift], np.roll(sent, shift))
    return flows.build()
