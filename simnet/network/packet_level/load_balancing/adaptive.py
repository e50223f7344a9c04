"""Adaptive routing: every packet takes the least loaded of the equal-cost ports (InfiniBand, Spectrum-X, Slingshot).

Queues are graded coarsely, as switches do: among exact lengths the port that has just become free is the only best one,
senders at line rate then keep to one port each, and what they meet further on they meet for good.
"""

from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch
from simnet.network.packet_level.load_balancing.queues import backlog
from simnet.params import Params
from simnet.units import Size


class Adaptive(Params):
    """Switches send every packet to the least loaded of the equal-cost ports, ties drawn at random."""

    step: Size = Field(
        7500.0,
        ge=1,
        description="queues are compared in whole steps of this: 5 % of a queue of one BDP of 150 kB [UET]",
    )


STEP = 0  # slot of params


@kernel
def choose(packet, device, place, params, now, ports, hops, world):
    """The port with the least to send of those in the set at `place`."""
    best, ties = hops[place + 2], 1
    least = backlog(packet, best, now, ports, world) // params[STEP]
    for i in range(1, hops[place]):
        port = hops[place + 2 + i]
        load = backlog(packet, port, now, ports, world) // params[STEP]
        if load < least:
            best, least, ties = port, load, 1
        elif load == least:
            ties += 1
            if draw_at_switch(packet, device, i, now, world) * ties < 1.0:
                best = port
    return best
