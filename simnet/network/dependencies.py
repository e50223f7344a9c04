"""Started flow graphs inside a kernel: timers of starts and deliveries, and who waits for whom.

Times are in the unit of the model that uses them (seconds, or whole picoseconds in a float). `world` is a record with
the fields `timers` and `completions`; `connections` a table with at least the fields source, destination and delay.
"""

import numpy as np

from simnet.jit import kernel

# A started graph: flow f of it is flows[first_flow + f], rank r is pending[first_rank + r].
GRAPH = np.dtype([("first_flow", "i8"), ("first_rank", "i8"), ("first_successor", "i8")], align=True)

FLOW = np.dtype(
    [
        ("bytes", "f8"),
        ("connection", "i4"),
        ("graph", "i4"),
        ("waits", "i4"),  # flows that must still be delivered before this one starts
        # where the flows that it releases stand, up to those of the next row; a graph has one row more than flows
        ("first_successor", "i4"),
    ],
    align=True,
)

TIMER = np.dtype([("time", "f8"), ("code", "i8")], align=True)  # code: 2 * flow + (DELIVER | START)
DELIVER, START = range(2)

COMPLETION = np.dtype([("graph", "i4"), ("rank", "i4")], align=True)


@kernel
def push_timer(time, flow, kind, timers, world):
    """Queue a start or delivery in the binary heap; the array must have room."""
    code = 2 * flow + kind
    position = world[0].timers
    world[0].timers += 1
    while position > 0:
        parent = (position - 1) >> 1
        if timers[parent].time < time or (timers[parent].time == time and timers[parent].code < code):
            break
        timers[position].time = timers[parent].time
        timers[position].code = timers[parent].code
        position = parent
    timers[position].time = time
    timers[position].code = code


@kernel
def pop_timer(timers, world):
    """Take the earliest timer out; returns its code."""
    result = timers[0].code
    world[0].timers -= 1
    size = world[0].timers
    time, code = timers[size].time, timers[size].code
    position = 0
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size and (
            timers[child + 1].time < timers[child].time
            or (timers[child + 1].time == timers[child].time and timers[child + 1].code < timers[child].code)
        ):
            child += 1
        if time < timers[child].time or (time == timers[child].time and code < timers[child].code):
            break
        timers[position].time = timers[child].time
        timers[position].code = timers[child].code
        position = child
    timers[position].time = time
    timers[position].code = code
    return result


@kernel
def push_roots(first_flow, count, now, flows, connections, timers, world):
    """Queue the start of every flow of a graph that waits for nothing."""
    for flow in range(first_flow, first_flow + count):
        if flows[flow].waits == 0:
            push_timer(now + connections[flows[flow].connection].delay, flow, START, timers, world)


@kernel
def count_successors(flow, flows):
    """How many flows wait for this one."""
    return flows[flow + 1].first_successor - flows[flow].first_successor


@kernel
def release(flow, same_connection, now, graphs, flows, successors, connections, timers, world):
    """Let go what waited for a flow: on its own connection (when it is sent) or elsewhere (when it has arrived)."""
    first_flow = graphs[flows[flow].graph].first_flow
    connection = flows[flow].connection
    for i in range(flows[flow].first_successor, flows[flow + 1].first_successor):
        following = first_flow + successors[i]
        if (flows[following].connection == connection) == same_connection:
            flows[following].waits -= 1
            if flows[following].waits == 0:
                push_timer(now + connections[flows[following].connection].delay, following, START, timers, world)


@kernel
def count_off(flow, graphs, flows, connections, pending, completions, world):
    """A flow has arrived: note its ranks if that was their last."""
    graph = flows[flow].graph
    connection = flows[flow].connection
    ends = (connections[connection].source, connections[connection].destination)
    for end in range(2):
        if end == 1 and ends[0] == ends[1]:
            break
        rank = graphs[graph].first_rank + ends[end]
        pending[rank] -= 1
        if pending[rank] == 0:
            completions[world[0].completions].graph = graph
            completions[world[0].completions].rank = ends[end]
            world[0].completions += 1
