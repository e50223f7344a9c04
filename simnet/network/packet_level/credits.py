"""Credits of a link (InfiniBand): what the far end's input buffer has room for, lane by lane.

What leaves that buffer comes back as credit after the delay of the wire. Credits on their way stand in a list of their
lane, and the sending port takes them in when it looks at them; only where a lane has to wait for one an event tells of
it. That is early enough: a port is looked at when what it sent last reaches the far end, and credit for the packet that
it could have started meanwhile travels no less, unless the way back is shorter (such a port is `prompt`).
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.heap import push
from simnet.network.packet_level.packet_pool import free_packet, new_packet
from simnet.network.packet_level.state import CREDIT_BACK, NEVER

ENOUGH, STARVED, TOLD = range(3)  # of a lane: it waits for credit; and an event will tell of the next one


@kernel
def return_credit(row, size, time, ports, packets, heap, world):
    """Send credit for `size` bytes of a lane back over its link at `time` [ps]."""
    slot = new_packet(packets, world)
    lane = ports[row]
    packets[slot].bytes = size
    packets[slot].arrival = max(time + lane.delay, world[0].now)
    _insert(slot, lane, packets)
    if lane.starving == STARVED or (lane.starving == TOLD and lane.credit_head == slot):
        _tell(row, ports, heap, world)


@kernel
def _insert(slot, lane, packets):
    """Put a credit among those on their way by its arrival: what a port has sent long ago may be found out late."""
    arrival, before = packets[slot].arrival, np.int64(-1)
    if lane.credit_head >= 0 and packets[lane.credit_tail].arrival <= arrival:
        before = np.int64(lane.credit_tail)
    elif lane.credit_time <= arrival:
        before = np.int64(lane.credit_head)
        while packets[packets[before].next].arrival <= arrival:
            before = np.int64(packets[before].next)
    if before < 0:
        packets[slot].next = lane.credit_head
        lane.credit_head = slot
    else:
        packets[slot].next = packets[before].next
        packets[before].next = slot
    if packets[slot].next < 0:
        lane.credit_tail = slot
    lane.credit_time = packets[lane.credit_head].arrival


@kernel
def _tell(row, ports, heap, world):
    """Have the port looked at when the first credit on its way comes."""
    ports[row].starving = TOLD
    push(ports[row].credit_time, CREDIT_BACK * len(ports) + row, heap, world)


@kernel(inline=True)
def take_credits(row, time, ports, packets, world):
    """Take in all credits that have come to a lane by `time` [ps]."""
    lane = ports[row]
    while lane.credit_time <= time:
        slot = lane.credit_head
        lane.credits += packets[slot].bytes
        lane.credit_head = packets[slot].next
        lane.credit_time = packets[lane.credit_head].arrival if lane.credit_head >= 0 else NEVER
        free_packet(slot, packets, world)


@kernel(inline=True)
def has_credit(row, size, time, ports, packets, world):
    """True if a lane may send `size` bytes at `time` [ps]; else it is noted that it waits for credit."""
    take_credits(row, time, ports, packets, world)
    lane = ports[row]
    enough = lane.credits >= size
    if lane.starving != TOLD:
        lane.starving = ENOUGH if enough else STARVED
    return enough


@kernel
def await_credit(port, now, ports, heap, world):
    """No lane of a free port may send: have it idle until the first credit that has come since, if any by `now` [ps].

    False: none has. Then events tell of the next ones to come.
    """
    first = NEVER
    for row in range(port, len(ports), world[0].links):
        lane = ports[row]
        if lane.starving == ENOUGH or lane.credit_head < 0:
            continue
        if ports[port].busy_until < lane.credit_time <= now:
            first = min(first, lane.credit_time)
        elif lane.credit_time > now and lane.starving == STARVED:
            _tell(row, ports, heap, world)
    if first == NEVER:
        return False
    ports[port].busy_until = first
    return True
