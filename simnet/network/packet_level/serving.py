"""Ports at work: start what waits in their queues, then what the connections that begin there may send."""

import numpy as np

from simnet.jit import kernel
from simnet.network.dependencies import release
from simnet.network.packet_level import congestion_control, sender
from simnet.network.packet_level.connection_state import IDLE, IN_RING, WINDOW_FULL
from simnet.network.packet_level.credits import await_credit, has_credit
from simnet.network.packet_level.lanes import book, next_row
from simnet.network.packet_level.packet_pool import KEPT_BACK
from simnet.network.packet_level.port import send_waiting, transmit, wake_at
from simnet.network.packet_level.state import CREDITS, place


@kernel
def send_from_ring(
    port, row, ports, packets, connections, messages, bits, paths, params, balancers, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """Send a packet of the connection of a lane whose turn it is at a free port; False if none may send."""
    p, lane = ports[port], ports[row]
    if lane.paused == 1 or world[0].free_packets < KEPT_BACK:
        return False
    start = p.busy_until
    while lane.ring >= 0:
        c = place(lane.ring)
        k = connections[c]
        congestion_control.before_send(k.control_kind, k, params[k.params], start * 1e-12)
        if sender.wanted_state(c, start, connections, messages) != IN_RING:
            sender.settle(c, start, connections, messages, ports, heap, world)
            continue
        size = np.int64(k.mtu + k.header)
        if lane.lossless == CREDITS and not has_credit(row, size, start, ports, packets, world):
            return False
        lane.ring = k.ring_next
        message, before = k.message, k.highest
        slot = place(sender.next_packet(c, start, connections, messages, bits, packets, paths, balancers, world))
        if k.timer == 0 or k.unacknowledged == packets[slot].sequence:
            sender.arm_timeout(c, start, connections, ports, heap, world)
        transmit(slot, port, row, start, ports, packets, heap, world)
        if k.highest > before and k.message != message:
            release(message, True, np.float64(start), graphs, flows, successors, connections, timers, world)
        sender.settle(c, start, connections, messages, ports, heap, world)
        if k.state == IDLE or k.state == WINDOW_FULL:
            packets[slot].echo = 1
        return True
    return False


@kernel(inline=True)
def wake_if_awaited(port, now, ports, devices, heap, world):
    """A sender upstream may wait for space at a port, which only a timely look at its queues shows."""
    p = ports[port]
    if p.data_bytes + p.control_bytes > 0 and p.busy_until > now and (p.prompt == 1 or devices[p.node].pausing > 0):
        wake_at(port, p.busy_until, ports, heap, world)


@kernel(inline=True)
def idles(port, now, ports, heap, world):
    """Nothing at a free port may go: it idles until `now`, unless credit has come before (False: look again)."""
    if ports[port].lossless == CREDITS and await_credit(port, now, ports, heap, world):
        return False
    ports[port].busy_until = now
    return True


@kernel
def serve_queue(port, now, ports, devices, packets, records, heap, world):
    """Start all packets of a port's queues whose turn has come by `now`."""
    p = ports[port]
    while p.busy_until <= now:
        sent = send_waiting(port, port, port, ports, devices, packets, records, heap, world)
        if not sent and idles(port, now, ports, heap, world):
            break
    wake_if_awaited(port, now, ports, devices, heap, world)


@kernel
def serve_ring(
    port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """Start all whose turn has come by `now` at a port of senders or with lanes: what waits, then connections."""
    p, lanes = ports[port], world[0].lanes > 1
    row = queue = np.int64(port)
    while p.busy_until <= now:
        if lanes:
            row = next_row(port, ports, packets, connections, world)
            queue = row if world[0].priorities == 1 else np.int64(port)  # virtual lanes are marked together
        if row >= 0:
            before, control = p.bytes_out, p.control_bytes
            sent = send_waiting(port, row, queue, ports, devices, packets, records, heap, world) or send_from_ring(
                port, row, ports, packets, connections, messages, bits, paths, params, balancers, heap, world,
                graphs, flows, successors, timers,
            )  # fmt: skip
            if sent and lanes and p.control_bytes == control:
                book(row, p.bytes_out - before, port, ports, world)
            if sent or lanes:  # connections of that lane may not send after all, those of another may
                continue
        if idles(port, now, ports, heap, world):
            break
    if lanes:
        wake_if_awaited(port, now, ports, devices, heap, world)


@kernel(inline=True)
def serve(
    port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """Start everything at a port whose turn has come by `now`."""
    if ports[port].busy_until <= now:
        if ports[port].ring < 0:
            serve_queue(port, now, ports, devices, packets, records, heap, world)
        else:
            serve_ring(
                port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records,
                heap, world, graphs, flows, successors, timers,
            )  # fmt: skip


@kernel
def look_after(
    port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """The same for those who do it now and then: it is not put into them, so they compile faster."""
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
