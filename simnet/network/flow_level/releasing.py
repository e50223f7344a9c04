"""Flows whose rates may have to move: links that are opened, and flows that are released on them."""

import numpy as np

from simnet.jit import kernel
from simnet.network.flow_level.due_links import SAME_LEVEL, due
from simnet.network.flow_level.state import CLOSED, DETERMINED, FINAL, HELD, OPEN, RELEASED


@kernel
def open_link(link, links, entries, slots, world):
    """Take stock of a link: what its flows with a standing rate use, and how many are released."""
    fixed, weight, released = 0.0, 0.0, 0
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        share = entries[e].share
        if slots[slot].status == RELEASED:
            weight += share
            released += 1
        else:
            fixed += share * slots[slot].rate
        world[0].scanned += 1
        e = entries[e].next
    if links[link].head < 0:
        links[link].level = np.inf
    links[link].fixed = fixed
    links[link].weight = weight
    links[link].released = released
    links[link].status = HELD


@kernel
def release(slot, links, entries, slots, touched, heap, world):
    """Let the rate of a flow move: every link of its path must be looked at again."""
    slots[slot].status = RELEASED
    rate = slots[slot].rate
    first = slot * world[0].hops
    for e in range(first, first + slots[slot].hops):
        link = entries[e].link
        share = entries[e].share
        status = links[link].status
        if status == CLOSED:
            touched[world[0].touched] = link
            world[0].touched += 1
            open_link(link, links, entries, slots, world)
        else:
            links[link].fixed -= share * rate
            links[link].weight += share
            links[link].released += 1
            if status == FINAL:  # it closed at this very level; its own flows stand until proven otherwise
                links[link].status = HELD
        due(link, links, heap, world)


@kernel
def release_held(link, links, entries, slots, touched, heap, world):
    """Release the flows that a link holds down at its old level."""
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        if slots[slot].bottleneck == link and slots[slot].status == DETERMINED:
            release(slot, links, entries, slots, touched, heap, world)
        world[0].scanned += 1
        e = entries[e].next
    if links[link].released == 0:  # they have all gone: it has room
        links[link].level = np.inf
        links[link].status = FINAL
        return
    links[link].status = OPEN
    due(link, links, heap, world)


@kernel
def release_faster(link, level, links, entries, slots, touched, heap, world):
    """Release the flows on a link that are faster than `level`; True if there were any."""
    found = False
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        if slots[slot].status == DETERMINED and slots[slot].rate > level * (1.0 + SAME_LEVEL):
            release(slot, links, entries, slots, touched, heap, world)
            found = True
        world[0].scanned += 1
        e = entries[e].next
    return found


@kernel
def release_everything(level, links, entries, slots, touched, heap, world):
    """Release all flows at or above `level` and queue all their links: the change has spread too far to track."""
    floor = level * (1.0 - SAME_LEVEL)
    world[0].full_solves += 1
    world[0].heap = 0
    for link in range(len(links)):
        links[link].fixed = 0.0
        links[link].weight = 0.0
        links[link].released = 0
        links[link].position = -1
    for slot in range(len(slots)):
        status = slots[slot].status
        if status != DETERMINED and status != RELEASED:
            continue
        if status == DETERMINED and slots[slot].rate >= floor and slots[slot].stamp != world[0].stamp:
            status = RELEASED
            slots[slot].status = RELEASED
        first = slot * world[0].hops
        rate = slots[slot].rate
        for e in range(first, first + slots[slot].hops):
            link = links[entries[e].link]
            if status == RELEASED:
                link.weight += entries[e].share
                link.released += 1
            else:
                link.fixed += entries[e].share * rate
            world[0].scanned += 1
    world[0].touched = 0
    for link in range(len(links)):
        touched[world[0].touched] = link
        world[0].touched += 1
        if links[link].released > 0:
            links[link].status = OPEN
            due(link, links, heap, world)
        elif links[link].status != FINAL and links[link].level >= floor:
            links[link].level = np.inf
