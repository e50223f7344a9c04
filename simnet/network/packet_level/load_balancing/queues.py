"""What a switch sees of its own egress queues when it chooses a port."""

from simnet.jit import kernel

_PAUSED = 1e12  # [bytes] a port that the packet's lane may not leave by comes after all others


@kernel
def backlog(packet, port, now, ports, world):
    """Bytes that a port has still to send at `now` [ps], the rest of the packet on its way out included, in all lanes.

    Ports are served lazily: what should have left since the last look is taken off, so no port is served for this.
    """
    p = ports[port]
    waiting = p.data_bytes + p.control_bytes
    if ports[port + packet.lane * world[0].links].paused == 1:
        return _PAUSED + waiting
    return max(waiting + (p.busy_until - now) / p.ps_per_byte, 0.0)
