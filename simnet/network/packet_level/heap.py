"""The event heap: one int64 a entry, (time [ps] << bits) | number, in a 4-ary heap.

Equal times are ordered by number, whatever the shape of the heap.
"""

from simnet.jit import kernel


@kernel
def push(time, number, heap, world):
    """Queue event `number` at `time` [ps]; the array must have room."""
    key = (time << world[0].bits) | number
    position = world[0].heap
    world[0].heap += 1
    while position > 0:
        parent = (position - 1) >> 2
        if heap[parent] <= key:
            break
        heap[position] = heap[parent]
        position = parent
    heap[position] = key


@kernel
def _sink(key, size, heap):
    """Put `key` at the root and let it sink to its place."""
    position = 0
    while True:
        first = 4 * position + 1
        if first >= size:
            break
        last = min(first + 4, size)
        least = first
        for child in range(first + 1, last):
            if heap[child] < heap[least]:
                least = child
        if heap[least] >= key:
            break
        heap[position] = heap[least]
        position = least
    heap[position] = key


@kernel
def pop(heap, world):
    """Take the earliest event out; returns its key."""
    first = heap[0]
    world[0].heap -= 1
    size = world[0].heap
    if size > 0:
        _sink(heap[size], size, heap)
    return first


@kernel(inline=True)
def replace_first(time, number, heap, world):
    """Put event `number` at `time` [ps] in the place of the earliest event."""
    _sink((time << world[0].bits) | number, world[0].heap, heap)
