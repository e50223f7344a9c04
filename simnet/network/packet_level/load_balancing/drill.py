"""DRILL (Ghorbani et al. 2017): the best of a few random ports and of the one that was best last time."""

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch
from simnet.network.packet_level.load_balancing.queues import backlog
from simnet.params import Params


class Drill(Params):
    """Switches send every packet to the shortest of a few random queues and the best one of last time (DRILL(d, 1))."""

    samples: int = Field(2, ge=1, le=64, description="random ports, d [M: recalled, unverified]")
    memory: bool = Field(True, description="also the best of last time, m = 1 [M: recalled, unverified]")


SAMPLES, MEMORY = range(2)  # slots of params, in the order of the fields


@kernel
def choose(packet, device, place, params, now, ports, hops, world):
    """The shortest of the sampled queues in the set at `place`, which remembers it."""
    best, least = np.int64(0), np.inf
    if params[MEMORY] == 1.0 and hops[place + 1] > 0:
        best = np.int64(hops[place + 1] - 1)
        least = backlog(packet, hops[place + 2 + best], now, ports, world)
    for i in range(np.int64(params[SAMPLES])):
        candidate = np.int64(draw_at_switch(packet, device, i, now, world) * hops[place])
        load = backlog(packet, hops[place + 2 + candidate], now, ports, world)
        if load < least:
            best, least = candidate, load
    hops[place + 1] = best + 1
    return hops[place + 2 + best]
