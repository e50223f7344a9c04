"""The packets that are not in use, as a list through their own records, and those that are taken from it."""

from simnet.jit import kernel

SPARE_PACKETS = 256  # that one event may need
KEPT_BACK = SPARE_PACKETS // 2  # of them from senders: for answers, grants and credits


@kernel(inline=True)
def new_packet(packets, world):
    """Take a packet, or -1: there is none."""
    slot = world[0].free_packet
    if slot >= 0:
        world[0].free_packet = packets[slot].next
        world[0].free_packets -= 1
    return slot


@kernel(inline=True)
def free_packet(slot, packets, world):
    """Give a packet back."""
    packets[slot].next = world[0].free_packet
    world[0].free_packet = slot
    world[0].free_packets += 1


@kernel(inline=True)
def packet_of(c, kind, control, connections, packets, world):
    """Take a packet for a connection, as it is before any port has seen it; there must be one."""
    slot = new_packet(packets, world)
    p = packets[slot]
    p.kind = kind
    p.control = control
    p.marked = 0
    p.trimmed = 0
    p.echo = 0
    p.hops = 0
    p.lane = connections[c].lane
    p.connection = c
    p.ingress = -1
    return slot
