"""The event heap against a sorted list."""

import bisect

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.network.packet_level.heap import empty_heap, grown_heap, pop, push, room
from simnet.network.packet_level.state import WORLD
from simnet.network.records import table

BITS = 4
# small ranges, so that equal times and equal keys are common
EVENTS = st.tuples(st.sampled_from(["push", "pop", "grow"]), st.integers(0, 20), st.integers(0, 2**BITS - 1))


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=200))
def test_gives_the_least_key_whatever_went_before(steps):
    """Also after it has grown, and when it has run empty in between."""
    heap, world, expected = empty_heap(2), table(1, WORLD), []
    world[0].bits = BITS
    for step, time, number in steps:
        if step == "grow" or (step == "push" and len(expected) == room(heap)):
            heap = grown_heap(heap, room(heap) + 3)
        if step == "push":
            push(time, number, heap, world)
            bisect.insort(expected, time << BITS | number)
        elif step == "pop" and expected:
            assert pop(heap, world) == expected.pop(0)
        assert int(world[0].heap) == len(expected)
        assert np.array_equal(np.sort(heap[: len(expected)]), expected)
        if expected:
            assert heap[0] == expected[0]
    while expected:
        assert pop(heap, world) == expected.pop(0)


def test_room_is_what_was_asked_for():
    assert room(empty_heap(7)) == 7
    assert room(grown_heap(empty_heap(7), 19)) == 19
