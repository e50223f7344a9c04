"""Max-min fair rates, solved again only where something changed.

A flow's rate is the level of its bottleneck link: the rate at which, raising all flows together, that link fills up
(progressive filling, Bertsekas and Gallager 1992, section 6.5.2). A flow with share w on a link takes w times its
rate there.

A change at some links can alter nothing below the level at which it happens, so the solver goes upward in level.
It opens the touched links and releases the flows that may have to move. An open link is due at the level where its
released flows would fill it, or at its old level, where the flows that it held down so far would have to make room or
could rise. When a link is due, flows on it that are faster are released too; then it freezes its released flows at
its level. Where nothing has changed when an old level is due, the link closes and the change ends there. If the
change spreads over much of the network, everything above the current level is released at once.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.flow_level.state import (
    CLOSED,
    DETERMINED,
    FINAL,
    HELD,
    OPEN,
    RELEASED,
    TOUCHED,
)

# Levels closer than this are the same level: far above rounding, far below anything that matters.
SAME_LEVEL = 1e-11
# A change that has looked at more than this part of all live entries is solved for the whole network.
SPREAD, SPREAD_MINIMUM = 0.05, 128


@kernel
def touch(link, links, touched, world):
    """Remember a link whose flows changed, for the next solve."""
    if links[link].status == CLOSED:
        links[link].status = TOUCHED
        touched[world[0].touched] = link
        world[0].touched += 1


@kernel
def _sift_up(link, links, heap):
    """Move a link towards the root of the heap (by key, then id)."""
    position = links[link].position
    key = links[link].key
    while position > 0:
        parent = (position - 1) >> 1
        other = heap[parent]
        if links[other].key < key or (links[other].key == key and other < link):
            break
        heap[position] = other
        links[other].position = position
        position = parent
    heap[position] = link
    links[link].position = position


@kernel
def _sift_down(link, links, heap, size):
    position = links[link].position
    key = links[link].key
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        other = heap[child]
        if child + 1 < size:
            right = heap[child + 1]
            if links[right].key < links[other].key or (links[right].key == links[other].key and right < other):
                child += 1
                other = right
        if key < links[other].key or (key == links[other].key and link < other):
            break
        heap[position] = other
        links[other].position = position
        position = child
    heap[position] = link
    links[link].position = position


@kernel
def _push(link, links, heap, world):
    """Put a link into the heap by its key, or move it to where its key belongs."""
    if links[link].position < 0:
        links[link].position = world[0].heap
        heap[world[0].heap] = link
        world[0].heap += 1
        _sift_up(link, links, heap)
    else:
        _sift_up(link, links, heap)
        _sift_down(link, links, heap, world[0].heap)


@kernel
def _pop(links, heap, world):
    """Take the link with the lowest key out of the heap."""
    first = heap[0]
    links[first].position = -1
    world[0].heap -= 1
    size = world[0].heap
    if size > 0:
        last = heap[size]
        heap[0] = last
        links[last].position = 0
        _sift_down(last, links, heap, size)
    return first


@kernel
def _fill_level(link, links):
    """Level at which the released flows of a link would fill it [bytes/s]; inf without any."""
    k = links[link]
    if k.released == 0:
        return np.inf
    return max((k.capacity - k.fixed) / k.weight, 0.0)


@kernel
def _due_level(link, links):
    """Level at which a link must be looked at: where it fills up or, while it holds flows down, its old level."""
    level = _fill_level(link, links)
    return min(level, links[link].level) if links[link].status == HELD else level


@kernel
def _due(link, links, heap, world):
    """Queue a link for the level at which it must be looked at."""
    key = _due_level(link, links)
    if key < np.inf:
        links[link].key = key
        _push(link, links, heap, world)


@kernel
def _open(link, links, entries, slots, world):
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
def _release(slot, links, entries, slots, touched, heap, world):
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
            _open(link, links, entries, slots, world)
        else:
            links[link].fixed -= share * rate
            links[link].weight += share
            links[link].released += 1
            if status == FINAL:  # it closed at this very level; its own flows stand until proven otherwise
                links[link].status = HELD
        _due(link, links, heap, world)


@kernel
def _release_held(link, links, entries, slots, touched, heap, world):
    """Release the flows that a link holds down at its old level."""
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        if slots[slot].bottleneck == link and slots[slot].status == DETERMINED:
            _release(slot, links, entries, slots, touched, heap, world)
        world[0].scanned += 1
        e = entries[e].next
    if links[link].released == 0:  # they have all gone: it has room
        links[link].level = np.inf
        links[link].status = FINAL
        return
    links[link].status = OPEN
    _due(link, links, heap, world)


@kernel
def _release_faster(link, level, links, entries, slots, touched, heap, world):
    """Release the flows on a link that are faster than `level`; True if there were any."""
    found = False
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        if slots[slot].status == DETERMINED and slots[slot].rate > level * (1.0 + SAME_LEVEL):
            _release(slot, links, entries, slots, touched, heap, world)
            found = True
        world[0].scanned += 1
        e = entries[e].next
    return found


@kernel
def _freeze(link, level, links, entries, slots, changed, world):
    """Give the released flows of a link its level as their rate; list those whose rate is a new one."""
    now = world[0].now
    e = links[link].head
    while e >= 0:
        slot = entries[e].slot
        if slots[slot].status == RELEASED:
            first = slot * world[0].hops
            for h in range(first, first + slots[slot].hops):
                other = entries[h].link
                links[other].fixed += entries[h].share * level
                links[other].weight -= entries[h].share
                links[other].released -= 1
            if slots[slot].rate != level:
                slots[slot].remaining -= slots[slot].rate * (now - slots[slot].updated)
                slots[slot].updated = now
                slots[slot].rate = level
                if slots[slot].listed != world[0].stamp:
                    slots[slot].listed = world[0].stamp
                    changed[world[0].changed] = slot
                    world[0].changed += 1
            slots[slot].status = DETERMINED
            slots[slot].bottleneck = link
            slots[slot].stamp = world[0].stamp
        world[0].scanned += 1
        e = entries[e].next
    links[link].level = level
    links[link].status = FINAL


@kernel
def _release_everything(level, links, entries, slots, touched, heap, world):
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
            _due(link, links, heap, world)
        elif links[link].status != FINAL and links[link].level >= floor:
            links[link].level = np.inf


@kernel
def _standing_level(link, links):
    """Level of a due link whose held flows stay as they are, or -1 if they must be released first.

    inf: nothing is left to do on this link.
    """
    k = links[link]
    if k.released == 0:
        balanced = k.level == np.inf or k.fixed >= k.capacity * (1.0 - SAME_LEVEL)
        return np.inf if balanced else -1.0
    level = _fill_level(link, links)
    if level > k.level * (1.0 + SAME_LEVEL):
        return -1.0
    return k.level if level >= k.level * (1.0 - SAME_LEVEL) else level


@kernel
def _settle_link(link, links, entries, slots, touched, heap, changed, world, spread):
    """Bring the link with the lowest key to its level, or find out what must be released before that."""
    if _due_level(link, links) > links[link].key:  # others on this link have settled for less since it was queued
        _due(link, links, heap, world)
        return
    if links[link].status == HELD:
        level = _standing_level(link, links)
        if level == -1.0:
            _release_held(link, links, entries, slots, touched, heap, world)
            return
        if level == np.inf:
            links[link].status = FINAL
            return
    else:
        level = _fill_level(link, links)
    if not spread and _release_faster(link, level, links, entries, slots, touched, heap, world):
        if level < links[link].level:
            links[link].status = OPEN  # the held flows were among the faster ones
        _due(link, links, heap, world)
        return
    _freeze(link, level, links, entries, slots, changed, world)


@kernel
def solve(links, entries, slots, touched, heap, changed, world):
    """Bring all rates up to date with the flows added and removed since the last solve.

    Afterwards `touched` lists the links that were looked at (links.fixed is what they carry now), `changed` the slots
    whose rate is a new one.
    """
    w = world[0]
    w.stamp += 1
    w.solves += 1
    w.changed = 0
    before = w.scanned
    spread = w.everything == 1
    if spread:
        _release_everything(0.0, links, entries, slots, touched, heap, world)
        w.everything = 0
    else:
        for i in range(w.touched):
            _open(touched[i], links, entries, slots, world)
        for i in range(w.touched):
            _due(touched[i], links, heap, world)
    budget = max(SPREAD_MINIMUM, np.int64(SPREAD * w.live * w.hops)) + 4 * (w.scanned - before)
    while w.heap > 0:
        if not spread and w.scanned - before > budget:
            _release_everything(links[heap[0]].key, links, entries, slots, touched, heap, world)
            spread = True
            continue
        link = _pop(links, heap, world)
        _settle_link(link, links, entries, slots, touched, heap, changed, world, spread)
