"""Links in the order of the levels at which they must be looked at: a binary heap by `key`, then number of the link.

Every link knows its `position` in it, -1: it is not there.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.flow_level.state import HELD

# Levels closer than this are the same level: far above rounding, far below anything that matters.
SAME_LEVEL = 1e-11


@kernel
def fill_level(link, links):
    """Level at which the released flows of a link would fill it [bytes/s]; inf without any."""
    k = links[link]
    if k.released == 0:
        return np.inf
    return max((k.capacity - k.fixed) / k.weight, 0.0)


@kernel
def due_level(link, links):
    """Level at which a link must be looked at: where it fills up or, while it holds flows down, its old level."""
    level = fill_level(link, links)
    return min(level, links[link].level) if links[link].status == HELD else level


@kernel
def due(link, links, heap, world):
    """Queue a link for the level at which it must be looked at."""
    key = due_level(link, links)
    if key < np.inf:
        links[link].key = key
        _push(link, links, heap, world)


@kernel
def pop(links, heap, world):
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
