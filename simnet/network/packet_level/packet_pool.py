"""The packets that are not in use, as a list through their own records."""

from simnet.jit import kernel


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
