"""The event heap: one int64 an entry, (time [ps] << bits) | number, in a 4-ary heap.

Equal times are ordered by number, whatever the shape of the heap. Behind the last entry stand keys that are later than
all others, so that an entry may be compared with four children whether it has them or not.

The place of the earliest event is filled from below: the least of its children moves up, the least of theirs, and so on
to the end, and the new key rises from there. A new event is seldom among the next ones, so it hardly rises, and neither
the way nor its length is a matter of guessing for the processor: a third of the time of letting the new key sink.
"""

import numpy as np

from simnet.jit import kernel

CHILDREN = 4
_LAST = np.int64(2**63 - 1)
# of places, which are unsigned: no negative ones are to be counted from the end
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


def empty_heap(entries: int) -> np.ndarray:
    """A heap [keys, int64] with room for so many entries."""
    return np.full(entries + CHILDREN, _LAST)


def grown_heap(heap: np.ndarray, entries: int) -> np.ndarray:
    """The same with room for so many entries."""
    grown = empty_heap(entries)
    grown[: len(heap)] = heap
    return grown


@kernel(inline=True)
def room(heap):
    """Entries for which there is room."""
    return len(heap) - CHILDREN


@kernel(inline=True)
def _rise(key, position, heap):
    """Let `key` rise from a free position to its place."""
    while position > 0:
        parent = (position - _ONE) >> _TWO
        if heap[parent] <= key:
            break
        heap[position] = heap[parent]
        position = parent
    heap[position] = key


@kernel
def push(time, number, heap, world):
    """Queue event `number` at `time` [ps]; the array must have room."""
    position = np.uint64(world[0].heap)
    world[0].heap += 1
    _rise((time << world[0].bits) | number, position, heap)


@kernel
def _fill_first(key, size, heap):
    """Put `key` in the place of the earliest of `size` entries."""
    position = np.uint64(0)
    child = _ONE
    while child < size:
        a, b, c, d = heap[child], heap[child + _ONE], heap[child + _TWO], heap[child + _THREE]
        left, right = min(a, b), min(c, d)
        heap[position] = min(left, right)
        position = child + _TWO + np.uint64(d < c) if right < left else child + np.uint64(b < a)
        child = (position << _TWO) + _ONE
    _rise(key, position, heap)


@kernel
def pop(heap, world):
    """Take the earliest event out; returns its key."""
    first = heap[0]
    world[0].heap -= 1
    size = np.uint64(world[0].heap)
    key = heap[size]
    heap[size] = _LAST
    if size > 0:
        _fill_first(key, size, heap)
    return first


@kernel(inline=True)
def replace_first(time, number, heap, world):
    """Put event `number` at `time` [ps] in the place of the earliest event."""
    _fill_first((time << world[0].bits) | number, np.uint64(world[0].heap), heap)
