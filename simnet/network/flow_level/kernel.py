"""The event loop of the flow-level model: starts, ends and deliveries of flows, with a solve between instants."""

import numpy as np

from simnet.jit import kernel
from simnet.network.dependencies import DELIVER, count_off, count_successors, pop_timer, push_timer, release
from simnet.network.flow_level.accounting import account_touched
from simnet.network.flow_level.live import first_finished, link_up, set_finish, unlink, update_finish
from simnet.network.flow_level.max_min import solve

# Why the loop came back.
REACHED, COMPLETED, BUDGET, MORE_SLOTS, MORE_TIMERS = range(5)

# Times closer than this part of their size are one instant: a few units in the last place, or a femtosecond.
SAME_INSTANT = 1e-15


@kernel
def next_event(finish, timers, world):
    """Time of the next start, end or delivery [s]; inf: none."""
    time = finish[1]
    if world[0].timers > 0:
        time = min(time, timers[0].time)
    return time


@kernel
def _sent(flow, now, graphs, flows, successors, connections, timers, world):
    """The last byte of a flow has left: the next one of its connection may follow, and it arrives after the latency."""
    release(flow, True, now, graphs, flows, successors, connections, timers, world)
    push_timer(now + connections[flows[flow].connection].latency, flow, DELIVER, timers, world)


@kernel
def _send(flow, now, flows, connections, routes, links, entries, slots, touched, free, world):
    """Begin to send a flow."""
    connection = flows[flow].connection
    world[0].free -= 1
    slot = free[world[0].free]
    world[0].live += 1
    slots[slot].flow = flow
    slots[slot].remaining = flows[flow].bytes
    slots[slot].updated = now
    link_up(slot, connections[connection], routes, links, entries, slots, touched, world)


@kernel
def _finish(slot, links, entries, slots, touched, free, finish, world):
    """Give up the slot of a flow that is sent."""
    unlink(slot, links, entries, slots, touched, world)
    set_finish(slot, np.inf, finish)
    free[world[0].free] = slot
    world[0].free += 1
    world[0].live -= 1


@kernel
def advance(
    until, budget, graphs, flows, successors, connections, routes, pending, completions, timers,
    links, entries, slots, touched, heap, changed, free, finish, bins, record, world,
):  # fmt: skip
    """Go on to `until` [s], to the first instant with completions, or until `budget` entries were looked at.

    Every event is taken off its queue only when there is room for what follows from it, so that the caller may
    enlarge an array and call again. `record` [s, two per flow, or empty] receives start and delivery times.
    """
    w = world[0]
    looked_at = w.scanned + w.events
    while True:
        horizon = w.now * (1.0 + SAME_INSTANT) + SAME_INSTANT
        time = next_event(finish, timers, world)
        if time > horizon:  # this instant is over
            if w.completions > 0:
                return COMPLETED
            if until <= horizon:  # the caller may have more to start in it
                return REACHED
            if w.touched > 0 or w.everything == 1:
                solve(links, entries, slots, touched, heap, changed, world)
                update_finish(slots, changed, finish, world)
                account_touched(links, touched, bins, world)
                time = next_event(finish, timers, world)
        if time > until or time == np.inf:
            return REACHED
        if w.scanned + w.events - looked_at > budget:
            return BUDGET
        w.now = max(w.now, time)
        horizon = w.now * (1.0 + SAME_INSTANT) + SAME_INSTANT
        while finish[1] <= horizon:
            slot = first_finished(horizon, finish)
            flow = slots[slot].flow
            if w.timers + count_successors(flow, flows) + 1 >= len(timers):
                return MORE_TIMERS
            _finish(slot, links, entries, slots, touched, free, finish, world)
            _sent(flow, w.now, graphs, flows, successors, connections, timers, world)
            w.events += 1
        while w.timers > 0 and timers[0].time <= horizon:
            flow, kind = timers[0].code >> 1, timers[0].code & 1
            if w.timers + count_successors(flow, flows) + 1 >= len(timers):
                return MORE_TIMERS
            if w.free == 0:
                return MORE_SLOTS
            pop_timer(timers, world)
            if len(record) > 0:
                record[2 * flow + 1 - kind] = w.now
            if kind == DELIVER:
                release(flow, False, w.now, graphs, flows, successors, connections, timers, world)
                count_off(flow, graphs, flows, connections, pending, completions, world)
            elif connections[flows[flow].connection].length == 0 or flows[flow].bytes <= 0.0:
                _sent(flow, w.now, graphs, flows, successors, connections, timers, world)
            else:
                _send(flow, w.now, flows, connections, routes, links, entries, slots, touched, free, world)
            w.events += 1
