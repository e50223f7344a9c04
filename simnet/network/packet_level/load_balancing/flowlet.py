"""LetFlow (Vanini et al. 2017): after a gap a connection may take another port, drawn at random."""

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch
from simnet.params import Params
from simnet.units import TIME, Time


class Flowlet(Params):
    """A switch keeps the port of a connection until a gap is long enough to reorder nothing (LetFlow)."""

    timeout: Time = Field(TIME.parse("100us"), description="gap that ends a flowlet [CW]; LetFlow used 150 to 500 us")


TIMEOUT = 0  # slot of params
ROWS = 8  # switches on a connection's way at which it has a port to keep


@kernel
def row_of(c, device, memory):
    """Row of a connection's flowlet at a switch: its own, else the one least lately used."""
    oldest = c * ROWS
    for row in range(c * ROWS, (c + 1) * ROWS):
        if memory[row].switch == device:
            return row
        if memory[row].time < memory[oldest].time:
            oldest = row
    return oldest


@kernel
def goes_on(row, device, timeout, now, memory):
    """True if a packet at `now` [ps] belongs to the flowlet of a row; notes its time. timeout [s]."""
    m = memory[row]
    same = m.switch == device and now - m.time <= timeout * 1e12
    m.time = now
    m.switch = device
    return same


@kernel
def choose(packet, device, place, params, now, hops, memory, world):
    """The port of the flowlet, or a new one from the set at `place`."""
    row = row_of(packet.connection, device, memory)
    if not goes_on(row, device, params[TIMEOUT], now, memory):
        pick = np.int64(draw_at_switch(packet, device, 0, now, world) * hops[place])
        memory[row].value = hops[place + 2 + pick]
    return np.int64(memory[row].value)
