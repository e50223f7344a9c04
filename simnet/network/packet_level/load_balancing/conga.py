"""CONGA (Alizadeh et al. 2014): leaves choose an uplink for every flowlet by the congestion of whole paths.

Every link keeps X, bytes sent with exponential decay: X *= 1 - alpha every t; its congestion is floor(2^Q X alpha /
(rate t)). A packet collects the largest on its way; the leaf at the end notes it by source leaf and uplink, and hands
one entry at a time back with acknowledgements. A new flowlet takes the uplink with the least max(own, remote).
"""

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch
from simnet.network.packet_level.load_balancing.flowlet import goes_on, row_of
from simnet.params import Params
from simnet.units import TIME, Time


class Conga(Params):
    """Leaves choose the least congested path for every flowlet, told by the leaf at its end (CONGA; two tiers)."""

    timeout: Time = Field(TIME.parse("100us"), description="gap that ends a flowlet [CW]; the paper has 500 us")
    interval: Time = Field(TIME.parse("50us"), description="time between two decays of a link's load [CW]")
    decay: float = Field(0.2, gt=0, lt=1, description="alpha of the decay [CW]")
    bits: int = Field(3, ge=1, le=8, description="Q: 2^Q is the congestion of a full link [CW]")
    ageing: Time = Field(TIME.parse("500us"), description="what a remote leaf has told counts for so long [CW]")


OF_LINKS = ("interval", "decay", "bits")
"""Parameters of what links measure, which they do once for the traffic of all classes."""

TIMEOUT, INTERVAL, DECAY, BITS, AGEING = range(5)  # slots of params, in the order of the fields
_MOST = 32767


@kernel
def _decayed(p, params, now):
    """Bring the load of a link up to date; returns its congestion."""
    interval = params[INTERVAL] * 1e12
    steps = np.floor((now - p.load_time) / interval)
    if steps > 0.0:
        p.load *= (1.0 - params[DECAY]) ** steps
        p.load_time += np.int64(steps * interval)
    return np.floor(2.0 ** params[BITS] * p.load * params[DECAY] * p.ps_per_byte / interval)


@kernel
def load(packet, port, params, now, ports):
    """A packet takes a link between leaf and spine: count its bytes, and let it carry the larger congestion."""
    p = ports[port]
    congestion = _decayed(p, params, now)
    p.load += packet.bytes
    packet.congestion = np.int64(min(max(congestion, packet.congestion), _MOST))


@kernel
def entry(here, there, uplink, world):
    """Row of `memory` where leaf `here` keeps what concerns leaf `there` and one of its uplinks (0: the next turn)."""
    w = world[0]
    return w.conga + (here * w.goals + there) * (w.uplinks + 1) + uplink


@kernel
def choose(packet, k, device, place, params, now, ports, hops, memory, world):
    """Uplink of a packet at its first leaf, from the set at `place`."""
    row = row_of(packet.connection, device, memory)
    if not goes_on(row, device, params[TIMEOUT], now, memory):
        best, least, ties = 0, np.inf, 1
        for lane in range(hops[place]):
            told = memory[entry(k.home, k.goal, lane + 1, world)]
            remote = told.value if now - told.time <= params[AGEING] * 1e12 else 0
            worst = max(_decayed(ports[hops[place + 2 + lane]], params, now), remote)
            if worst < least:
                best, least, ties = lane, worst, 1
            elif worst == least:
                ties += 1
                if draw_at_switch(packet, device, lane, now, world) * ties < 1.0:
                    best = lane
        memory[row].value = best
    packet.uplink = memory[row].value
    packet.congestion = 0
    return hops[place + 2 + memory[row].value]


@kernel
def arrived(packet, k, memory, world):
    """A data packet is at its last leaf: note the congestion of the uplink that it took."""
    memory[entry(k.goal, k.home, packet.uplink + 1, world)].heard = packet.congestion


@kernel
def hand_back(packet, k, memory, world):
    """An acknowledgement starts at the leaf of the receiver: let it carry what is known of the next uplink."""
    turn = entry(k.goal, k.home, 0, world)
    lane = memory[turn].value
    memory[turn].value = (lane + 1) % world[0].uplinks
    packet.uplink = lane
    packet.congestion = memory[turn + 1 + lane].heard


@kernel
def told(packet, k, now, memory, world):
    """An acknowledgement has reached the leaf of the sender: note what it carries."""
    row = memory[entry(k.home, k.goal, packet.uplink + 1, world)]
    row.value = packet.congestion
    row.time = now
