"""Adaptive routing: every packet takes the least loaded of the equal-cost ports (InfiniBand, Spectrum-X, Slingshot)."""

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch
from simnet.network.packet_level.load_balancing.queues import backlog
from simnet.params import Params


class Adaptive(Params):
    """Switches send every packet to the least loaded of the equal-cost ports, ties drawn at random."""


@kernel
def choose(packet, device, place, now, ports, hops, world):
    """The port with the least to send of those in the set at `place`."""
    best, least, ties = hops[place + 2], backlog(hops[place + 2], now, ports), 1
    for i in range(1, hops[place]):
        port = hops[place + 2 + i]
        load = backlog(port, now, ports)
        if load < least:
            best, least, ties = port, load, 1
        elif load == least:
            ties += 1
            if draw_at_switch(packet, device, i, now, world) * ties < 1.0:
                best = port
    return best
