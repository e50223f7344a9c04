"""Flows that are being sent: their slots, their entries in the lists of links, and whose turn it is to finish."""

import numpy as np

from simnet.jit import kernel
from simnet.network.flow_level.max_min import touch
from simnet.network.flow_level.state import FREE, PARKED, RELEASED


@kernel
def link_up(slot, connection, routes, links, entries, slots, touched, world):
    """Put a slot on every link of a connection's path; without a path it is parked."""
    slots[slot].bottleneck = -1
    slots[slot].rate = 0.0
    if connection.length < 0:
        slots[slot].status = PARKED
        slots[slot].hops = 0
        world[0].parked += 1
        return
    slots[slot].status = RELEASED
    slots[slot].hops = connection.length
    first = slot * world[0].hops
    for i in range(connection.length):
        e = first + i
        link = routes[connection.first + i].link
        head = links[link].head
        entries[e].link = link
        entries[e].slot = slot
        entries[e].share = routes[connection.first + i].share
        entries[e].previous = -1
        entries[e].next = head
        if head >= 0:
            entries[head].previous = e
        links[link].head = e
        touch(link, links, touched, world)


@kernel
def unlink(slot, links, entries, slots, touched, world):
    """Take a slot off all its links."""
    if slots[slot].status == PARKED:
        world[0].parked -= 1
    first = slot * world[0].hops
    for e in range(first, first + slots[slot].hops):
        link, before, after = entries[e].link, entries[e].previous, entries[e].next
        if before >= 0:
            entries[before].next = after
        else:
            links[link].head = after
        if after >= 0:
            entries[after].previous = before
        touch(link, links, touched, world)
    slots[slot].status = FREE
    slots[slot].hops = 0


@kernel
def set_finish(slot, time, finish):
    """Note when a slot finishes [s, inf: not at its present rate] in the winner tree `finish`.

    Leaf n + s belongs to slot s; an inner node holds the earliest time below it.
    """
    node = (len(finish) >> 1) + slot
    finish[node] = time
    node >>= 1
    while node >= 1:
        earliest = min(finish[2 * node], finish[2 * node + 1])
        if finish[node] == earliest:
            break
        finish[node] = earliest
        node >>= 1


@kernel
def first_finished(time, finish):
    """Lowest slot that finishes by `time` [s]; the root must say that there is one."""
    leaves = len(finish) >> 1
    node = 1
    while node < leaves:
        node *= 2
        if finish[node] > time:
            node += 1
    return node - leaves


@kernel
def update_finish(slots, changed, finish, world):
    """Bring the winner tree up to date with the rates that a solve has changed."""
    now = world[0].now
    leaves = len(finish) >> 1
    many = world[0].changed * 8 > world[0].live
    for i in range(world[0].changed):
        slot = changed[i]
        rate = slots[slot].rate
        time = now + slots[slot].remaining / rate if rate > 0.0 else np.inf
        if many:
            finish[leaves + slot] = time
        else:
            set_finish(slot, time, finish)
    if many:
        for node in range(leaves - 1, 0, -1):
            finish[node] = min(finish[2 * node], finish[2 * node + 1])
