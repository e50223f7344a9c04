"""Which path a packet takes: frozen parameters and compiled hooks, one file each; this is their table.

A connection has `paths` paths, drawn by hash or by rule; its first one is where acknowledgements of schemes at switches
go, too. Schemes at the sender choose one of them for every packet (`choose`) and hear how packets fared
(`on_feedback`); schemes at switches choose an egress port on the way (`steer`). Adding one: a file, a row here, a
number and a branch in each hook that it has.
"""

from simnet.jit import kernel
from simnet.network.load_balancing import DModK, Ecmp, Pinned, Spray
from simnet.network.packet_level.load_balancing import (
    adaptive,
    conga,
    dragonfly,
    drill,
    entropy_bitmap,
    flowlet,
    plb,
    reps,
    spray,
)
from simnet.network.packet_level.load_balancing.draws import draw_below
from simnet.network.packet_level.load_balancing.queue_pairs import EcmpQp
from simnet.network.packet_level.state import ACK, DATA
from simnet.params import Params

LOAD_BALANCERS: dict[str, type[Params]] = {
    # one path per connection
    "ecmp": Ecmp,
    "ecmp_qp": EcmpQp,
    "d_mod_k": DModK,
    "pinned": Pinned,
    "minimal": dragonfly.Minimal,
    # the sender chooses
    "spray": Spray,
    "entropy_bitmap": entropy_bitmap.EntropyBitmap,
    "reps": reps.Reps,
    "plb": plb.Plb,
    "valiant": dragonfly.Valiant,
    # switches choose
    "ugal": dragonfly.Ugal,
    "flowlet": flowlet.Flowlet,
    "conga": conga.Conga,
    "drill": drill.Drill,
    "adaptive": adaptive.Adaptive,
}
(
    ECMP, ECMP_QP, D_MOD_K, PINNED, MINIMAL, SPRAY, ENTROPY_BITMAP, REPS, PLB, VALIANT, UGAL, FLOWLET, CONGA, DRILL,
    ADAPTIVE,
) = range(15)  # in the order of the table  # fmt: skip
AT_SWITCHES = UGAL  # from here on switches choose
AT_EVERY_SWITCH = FLOWLET  # and from here on by tables of next hops


def name_of(balancer: Params) -> str:
    """Row of a load balancer in the table."""
    return next(name for name, row in LOAD_BALANCERS.items() if isinstance(balancer, row))


def code_of(balancer: Params) -> int:
    """Number of a load balancer in the kernels."""
    return list(LOAD_BALANCERS).index(name_of(balancer))


def paths_of(balancer: Params) -> int:
    """Paths of a connection that its packets choose from."""
    return getattr(balancer, "paths", 1)


def queue_pairs_of(balancer: Params) -> int:
    """Connections in the place of one of a flow graph."""
    return getattr(balancer, "queue_pairs", 1)


@kernel
def choose(kind, c, k, params, paths, now, world):
    """Number of the path for the next packet of connection c (record `k`). now [s]."""
    if kind == SPRAY:
        return spray.choose(c, k, params, world)
    if kind == ENTROPY_BITMAP:
        return entropy_bitmap.choose(c, k, params, paths, world)
    if kind == REPS:
        return reps.choose(c, k, params, now, world)
    if kind == PLB:
        return plb.choose(c, k, params, world)
    if kind == VALIANT:
        return draw_below(c, k, k.paths, world)
    if kind == UGAL:
        return dragonfly.choose_minimal(c, k, world)
    return 0


@kernel
def on_feedback(kind, c, k, params, paths, event, path, marked, sequence, now, world):
    """How packet `sequence` fared on a path, an event of `feedback`; at a timeout both are -1. now [s]."""
    if kind == ENTROPY_BITMAP:
        entropy_bitmap.on_feedback(k, params, paths, event, path, marked)
    elif kind == REPS:
        reps.on_feedback(k, params, event, path, marked, now)
    elif kind == PLB:
        plb.on_feedback(c, k, params, event, marked, sequence, now, world)


@kernel
def steer(slot, link, now, ports, packets, connections, balancers, paths, path_links, hops, memory, world):
    """Egress port of a packet that has come over `link` to a switch, -1: none.

    Where CONGA steers any class, the links between switches measure the packets of all classes.
    """
    port = _steered(slot, link, now, ports, packets, connections, balancers, paths, path_links, hops, memory, world)
    packet, row = packets[slot], world[0].conga_class - 1
    if row >= 0 and port >= 0 and packet.kind == DATA:
        goal = connections[packet.connection].goal
        if goal >= 0 and hops[ports[link].far * world[0].goals + goal] > 0:
            conga.load(packet, port, balancers[row], now, ports)
    return port


@kernel
def _steered(slot, link, now, ports, packets, connections, balancers, paths, path_links, hops, memory, world):
    """The port by the packet's path, or by the switch's choice.

    `hops` holds tables of `routing.Router.next_hops`, then the device of every target. On the way through the fabric a
    packet stands before the last fabric link of its path, as far as `packet.hop` is concerned. now [ps].
    """
    packet = packets[slot]
    port = path_links[packet.hop]
    c = packet.connection
    k = connections[c]
    kind, params = k.balancer, balancers[k.balancer_params]
    device = ports[link].far
    if kind < AT_SWITCHES:
        return port
    if kind == UGAL:
        if packet.kind == DATA:
            dragonfly.divert(packet, k, params, device, now, ports, paths, path_links, world)
        return path_links[packet.hop]
    goals = world[0].goals
    if k.goal < 0:
        return port
    if packet.kind != DATA:
        if kind == CONGA and packet.kind == ACK and k.home != k.goal:
            if device == hops[world[0].goal_devices + k.goal]:
                conga.hand_back(packet, k, memory, world)
            elif device == hops[world[0].goal_devices + k.home]:
                conga.told(packet, k, now, memory, world)
        return port
    place = hops[device * goals + k.goal]
    if place == 0:
        if ports[port].node != device:
            return -1
        if kind == CONGA and k.home != k.goal and device == hops[world[0].goal_devices + k.goal]:
            conga.arrived(packet, k, memory, world)
        return port
    if hops[place] == 1:
        port = hops[place + 2]
    elif kind == FLOWLET:
        port = flowlet.choose(packet, device, place, params, now, hops, memory, world)
    elif kind == CONGA and device != hops[world[0].goal_devices + k.home]:
        port = hops[place + 2 + c % hops[place]]  # parallel links of a spine to a leaf
    elif kind == CONGA:
        port = conga.choose(packet, k, device, place, params, now, ports, hops, memory, world)
    elif kind == DRILL:
        port = drill.choose(packet, device, place, params, now, ports, hops, world)
    else:
        port = adaptive.choose(packet, device, place, params, now, ports, hops, world)
    leaving = ports[port].far == ports[path_links[k.exit]].far
    packet.hop = k.exit if leaving else k.exit - 1
    return port
