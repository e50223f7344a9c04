"""Flows as a table says: each starts at its time, or when those that it waits for let it go."""

from dataclasses import replace

import numpy as np

from simnet.flow_graph import FlowGraph, distinct_connections, flow_graph
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def traffic(group: Group, operation: Operation) -> FlowGraph:
    """The flows of the operation's table; start times are the delays of their connections."""
    table = operation.traffic
    source, destination, channel, connection = distinct_connections(table.source, table.destination, table.channel)
    delay = np.zeros(len(source))
    delay[connection] = table.start
    graph = flow_graph(
        group.members, source, destination, connection, table.size, table.before, table.after,
        channel=channel, delay=delay,
    )  # fmt: skip
    return replace(graph, waits=table.needed)
