"""Whose turn it is among the lanes of a port: virtual lanes one after the other, priorities strictly or by weight.

Lanes share a port by deficit round robin (Shreedhar and Varghese 1996) in its surplus form: a lane whose turn it is
gets its quantum of bytes and sends until that is used up; what its last packet took too much is missing next time. So
of two lanes that always have something to send none is more than a quantum and a packet away from its share.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.credits import has_credit
from simnet.network.packet_level.packet_pool import KEPT_BACK
from simnet.network.packet_level.state import CREDITS

NOTHING, DATA_WAITS, CONTROL_WAITS = range(3)


@kernel
def may_send(row, time, ports, packets, connections, world):
    """What a lane may send at `time` [ps], if anything: control, or data, waiting or of a connection."""
    lane = ports[row]
    if lane.control_head >= 0:
        size, waits = np.int64(packets[lane.control_head].bytes), CONTROL_WAITS
    elif lane.paused == 1:
        return NOTHING
    elif lane.data_head >= 0:
        size, waits = np.int64(packets[lane.data_head].bytes), DATA_WAITS
    elif lane.ring >= 0 and world[0].free_packets >= KEPT_BACK:
        size, waits = np.int64(connections[lane.ring].mtu + connections[lane.ring].header), DATA_WAITS
    else:
        return NOTHING
    if lane.lossless == CREDITS and not has_credit(row, size, time, ports, packets, world):
        return NOTHING
    return waits


@kernel(inline=True)
def next_lane(port, ports, packets, connections, world):
    """Row of the virtual lane whose turn it is, -1: none may send. Round robin of those that may, control first."""
    p, links, lanes = ports[port], world[0].links, world[0].lanes
    chosen = -1
    for i in range(1, lanes + 1):
        number = (p.turn + i) % lanes
        sends = may_send(port + (number + 1) * links, p.busy_until, ports, packets, connections, world)
        if sends == CONTROL_WAITS or (sends == DATA_WAITS and chosen < 0):
            chosen = number
        if sends == CONTROL_WAITS:
            break
    if chosen < 0:
        return -1
    p.turn = chosen
    return port + (chosen + 1) * links


@kernel(inline=True)
def next_priority(port, ports, packets, connections, world):
    """Row of the priority whose turn it is, -1: none may send. Control first, then strict ones, then by weight."""
    p, links, strict = ports[port], world[0].links, world[0].strict
    shares = world[0].lanes - strict
    chosen = -1
    for i in range(strict + shares):
        number = i if i < strict else strict + (p.turn + i - strict) % shares
        sends = may_send(port + (number + 1) * links, p.busy_until, ports, packets, connections, world)
        if sends == CONTROL_WAITS:
            return port + (number + 1) * links
        if sends == DATA_WAITS and chosen < 0:
            chosen = number
    if chosen < 0:
        return -1
    lane = ports[port + (chosen + 1) * links]
    if chosen >= strict:
        p.turn = chosen - strict
        if lane.deficit <= 0:
            lane.deficit += lane.quantum
    return port + (chosen + 1) * links


@kernel
def next_row(port, ports, packets, connections, world):
    """Row of the lane whose turn it is, -1: none may send."""
    if world[0].priorities == 1:
        return np.int64(next_priority(port, ports, packets, connections, world))
    return np.int64(next_lane(port, ports, packets, connections, world))


@kernel
def book(row, size, port, ports, world):
    """A priority has sent `size` bytes of data: the next one has its turn when those of this one are used up."""
    lane = ports[row]
    if lane.quantum > 0:
        lane.deficit -= size
        if lane.deficit <= 0:
            ports[port].turn = (ports[port].turn + 1) % (world[0].lanes - world[0].strict)
