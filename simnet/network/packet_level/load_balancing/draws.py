"""Random numbers of load balancers: hashed from the seed and what is decided, so no scheme shifts another's draws."""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.port import uniform

DRAWN = 0  # slot of k.choice: numbers drawn for this connection
_AT_SENDER, _AT_SWITCH = 1 << 40, 1 << 41  # keep these draws apart from those of ports


@kernel
def draw(c, k, world):
    """The next number in [0, 1) of connection c (record `k`)."""
    k.choice[DRAWN] += 1.0
    return uniform(world, c, np.int64(k.choice[DRAWN]), _AT_SENDER)


@kernel
def draw_below(c, k, limit, world):
    """The next whole number from 0 to limit - 1 of connection c."""
    return np.int64(draw(c, k, world) * limit)


@kernel
def draw_at_switch(packet, device, turn, now, world):
    """A number in [0, 1) for what a switch decides about a packet at `now` [ps]; `turn` counts its draws."""
    return uniform(world, packet.connection, packet.sequence, _AT_SWITCH + now + 7919 * turn + device)
