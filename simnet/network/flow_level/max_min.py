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
from simnet.network.flow_level.due_links import SAME_LEVEL, due, due_level, fill_level, pop
from simnet.network.flow_level.releasing import open_link, release_everything, release_faster, release_held
from simnet.network.flow_level.state import CLOSED, DETERMINED, FINAL, HELD, OPEN, RELEASED, TOUCHED

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
        release_everything(0.0, links, entries, slots, touched, heap, world)
        w.everything = 0
    else:
        for i in range(w.touched):
            open_link(touched[i], links, entries, slots, world)
        for i in range(w.touched):
            due(touched[i], links, heap, world)
    budget = max(SPREAD_MINIMUM, np.int64(SPREAD * w.live * w.hops)) + 4 * (w.scanned - before)
    while w.heap > 0:
        if not spread and w.scanned - before > budget:
            release_everything(links[heap[0]].key, links, entries, slots, touched, heap, world)
            spread = True
            continue
        link = pop(links, heap, world)
        _settle_link(link, links, entries, slots, touched, heap, changed, world, spread)


@kernel
def _settle_link(link, links, entries, slots, touched, heap, changed, world, spread):
    """Bring the link with the lowest key to its level, or find out what must be released before that."""
    if due_level(link, links) > links[link].key:  # others on this link have settled for less since it was queued
        due(link, links, heap, world)
        return
    if links[link].status == HELD:
        level = _standing_level(link, links)
        if level == -1.0:
            release_held(link, links, entries, slots, touched, heap, world)
            return
        if level == np.inf:
            links[link].status = FINAL
            return
    else:
        level = fill_level(link, links)
    if not spread and release_faster(link, level, links, entries, slots, touched, heap, world):
        if level < links[link].level:
            links[link].status = OPEN  # the held flows were among the faster ones
        due(link, links, heap, world)
        return
    _freeze(link, level, links, entries, slots, changed, world)


@kernel
def _standing_level(link, links):
    """Level of a due link whose held flows stay as they are, or -1 if they must be released first.

    inf: nothing is left to do on this link.
    """
    k = links[link]
    if k.released == 0:
        balanced = k.level == np.inf or k.fixed >= k.capacity * (1.0 - SAME_LEVEL)
        return np.inf if balanced else -1.0
    level = fill_level(link, links)
    if level > k.level * (1.0 + SAME_LEVEL):
        return -1.0
    return k.level if level >= k.level * (1.0 - SAME_LEVEL) else level


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
