"""A packet on its way: admitted to its next queue, trimmed or refused there, and upstream paused where it is full."""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level import load_balancing
from simnet.network.packet_level.credits import return_credit
from simnet.network.packet_level.packet_pool import free_packet
from simnet.network.packet_level.port import (
    append,
    append_control,
    fits,
    pause_if_full,
    row_at,
    uniform,
    wake_at,
    xoff_of,
)
from simnet.network.packet_level.serving import look_after, serve
from simnet.network.packet_level.state import CREDITS, DATA, PFC, place


@kernel
def admit(slot, port, row, ports, devices, packets, settings, world):
    """Find a place for a packet at an egress queue: as it is, trimmed, or not at all (False)."""
    size = packets[slot].bytes
    if ports[port].down == 1:
        ports[port].dropped += 1
        ports[port].dropped_bytes += size
        return False
    if packets[slot].control == 1:
        return True
    up = ports[packets[slot].ingress]
    if up.lossless == CREDITS or ports[port].lossless == CREDITS:
        return True  # the sender had credit for it, or will be held back by credit
    if up.lossless == PFC:
        if up.pausing == 0 or up.after_xoff + size <= up.headroom:
            return True
    elif fits(size, row, ports, devices):
        return True
    p, lane = ports[port], ports[row]
    if lane.trims == 1 and packets[slot].kind == DATA:
        victim = slot
        # half of the time the last one in the queue gives its place to the newcomer
        if lane.data_head >= 0 and uniform(world, packets[slot].connection, packets[slot].sequence, port + 7) < 0.5:
            victim = lane.data_tail
        if victim == slot:
            _trim(slot, port, ports, packets, settings)
        else:
            _trim_last(port, row, ports, devices, packets, settings)
        return True
    p.dropped += 1
    p.dropped_bytes += size
    if row != port:
        lane.dropped += 1
    return False


@kernel
def _trim(slot, port, ports, packets, settings):
    """Cut a packet's payload off; its header goes on in the control class."""
    packets[slot].bytes = settings[0].trim_size
    packets[slot].trimmed = 1
    packets[slot].control = 1
    ports[port].trimmed += 1


@kernel
def _trim_last(port, row, ports, devices, packets, settings):
    """Trim the last packet of a lane's data queue, to admit another; it stays as a header in the control queue."""
    p, lane = ports[port], ports[row]
    last = lane.data_tail
    size = packets[last].bytes
    if last == lane.data_head:
        lane.data_head = -1
    else:
        before = np.int32(packets[last].arrival)
        packets[before].next = -1
        lane.data_tail = before
    p.data_bytes -= size
    if row != port:
        lane.data_bytes -= size
    saved = size - settings[0].trim_size
    if packets[last].ingress >= 0:
        ports[packets[last].ingress].ingress_bytes -= saved
        devices[p.node].used -= saved
    _trim(last, port, ports, packets, settings)
    append_control(last, port, row, ports, packets)


@kernel
def refuse(slot, now, ports, packets, heap, world):
    """A packet finds no place where it has come to."""
    ingress = place(packets[slot].ingress)
    if ports[ingress].lossless == CREDITS:
        return_credit(ingress, packets[slot].bytes, now, ports, packets, heap, world)
    free_packet(slot, packets, world)


@kernel(inline=True)
def forward(
    slot, link, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params,
    balancers, records, settings, heap, world, graphs, flows, successors, timers, hops, memory,
):  # fmt: skip
    """A packet has come over `link` to a device that passes it on: queue it at its next port."""
    packets[slot].hop += 1
    chosen = path_links[packets[slot].hop]
    ingress = row_at(slot, link, packets, world)
    packets[slot].ingress = ingress
    if world[0].lanes > 1:
        packets[slot].lane = min(packets[slot].lane + ports[link].raises, world[0].lanes)
    if world[0].steered == 1:
        chosen = load_balancing.steer(
            slot, link, now, ports, packets, connections, balancers, paths, path_links, hops, memory, world
        )
        if chosen < 0:  # on its way it has got where no path leads on
            refuse(slot, now, ports, packets, heap, world)
            return
    port = place(chosen)
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    row = row_at(slot, port, packets, world)
    if not admit(slot, port, row, ports, devices, packets, settings, world):
        refuse(slot, now, ports, packets, heap, world)
        return
    size = packets[slot].bytes
    device = devices[ports[port].node]
    device.used += size
    ports[ingress].ingress_bytes += size
    append(slot, port, row, now, ports, packets, world)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip
    elif ports[port].prompt == 1 or device.pausing > 0:
        wake_at(port, ports[port].busy_until, ports, heap, world)
    if ports[ingress].lossless == PFC and packets[slot].control == 0:
        hold_back(
            ingress, size, now, ports, devices, device_ports, packets, connections, messages, bits, paths, params,
            balancers, records, heap, world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel(inline=True)
def hold_back(
    ingress, size, now, ports, devices, device_ports, packets, connections, messages, bits, paths, params, balancers,
    records, heap, world, graphs, flows, successors, timers,
):  # fmt: skip
    """Pause a lane upstream once its packets, the last of `size` bytes, fill their part of the buffer."""
    up = ports[ingress]
    device = devices[up.far]
    if up.pausing == 1:
        up.after_xoff += size
        return
    if up.ingress_bytes < xoff_of(up, device):
        return
    # queues that were not looked at lately may hold less than the books say
    for i in range(device.first_port, device.first_port + device.ports):
        look_after(
            place(device_ports[i]), now, ports, devices, packets, connections, messages, bits, paths, params,
            balancers, records, heap, world, graphs, flows, successors, timers,
        )  # fmt: skip
    pause_if_full(ingress, now, ports, devices, heap, world)
    if up.pausing == 0:
        return
    for i in range(device.first_port, device.first_port + device.ports):
        other = place(device_ports[i])
        if ports[other].data_bytes + ports[other].control_bytes > 0:
            wake_at(other, ports[other].busy_until, ports, heap, world)
