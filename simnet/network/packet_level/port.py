"""Egress queues: what waits, what is sent next, marks, and pauses of those upstream.

A port is served lazily: `serve` starts every packet whose turn has come by now. It runs before anything that changes
what the port would have done: an arrival at its queue, a pause, a resume, an acknowledgement that lets a connection
send. So queues, marks and INT are those of the very moment at which a packet was sent.
"""

import numpy as np

from simnet.hashing import mix
from simnet.jit import kernel
from simnet.network.packet_level.credits import has_credit, return_credit, take_credits
from simnet.network.packet_level.heap import push
from simnet.network.packet_level.state import ARRIVE, CREDITS, DATA, PAUSE, RESUME, WAKE, place

PAUSE_FRAME = 64  # [bytes] IEEE 802.1Qbb


@kernel
def uniform(world, a, b, c):
    """A number in [0, 1) that depends on the seed and three numbers alone."""
    key = mix(np.uint64(a) ^ mix(np.uint64(b) ^ mix(np.uint64(c) ^ world[0].seed)))
    return np.float64(key >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(inline=True)
def row_at(slot, port, packets, world):
    """Row of PORT of the lane in which a packet takes a port."""
    return place(port + packets[slot].lane * world[0].links)


@kernel
def wake_at(port, time, ports, heap, world):
    """Have a port served at `time` [ps], unless an earlier wake-up stands."""
    p = ports[port]
    if p.woken <= world[0].now or time < p.woken:
        p.woken = time
        push(time, WAKE * len(ports) + port, heap, world)


@kernel(inline=True)
def note_queue(p, now):
    """Book the data queue up to now, before it changes."""
    p.area += np.float64(p.data_bytes) * np.float64(now - p.area_since)
    p.area_since = now


@kernel(inline=True)
def _stamp(slot, port, queue, time, ports, packets, records, world):
    """INT: append time, bytes sent before this packet, the queue behind it, and rate of the port."""
    hops = packets[slot].hops
    if hops < world[0].int_hops:
        record = records[slot * world[0].int_hops + hops]
        record.time = time * 1e-12
        record.bytes = ports[port].bytes_out
        record.queue = ports[queue].data_bytes
        record.rate = 1e12 / ports[port].ps_per_byte
        record.port = port
        packets[slot].hops = hops + 1


@kernel(inline=True)
def _mark(slot, port, row, queue, arrives, time, ports, packets, world):
    """RED on the queue that a data packet finds (arrives: 1) or leaves behind: 0 below Kmin, up to Pmax at Kmax, 1
    above."""
    q = ports[queue]
    length = q.data_bytes
    if q.kmax <= 0 or length <= q.kmin or q.marks_arrivals != arrives:
        return
    if q.lossless == CREDITS:
        take_credits(row, time, ports, packets, world)
        if ports[row].credits < 2 * packets[slot].bytes:
            return  # a victim: its queue stands because the next switch has no room
    if length <= q.kmax:
        probability = q.pmax * (length - q.kmin) / (q.kmax - q.kmin) if q.kmax > q.kmin else 0.0
        packet = packets[slot]
        if uniform(world, packet.connection, packet.sequence, port) >= probability:
            return
    packets[slot].marked = 1
    ports[port].marked += 1
    if queue != port:
        q.marked += 1


@kernel(inline=True)
def xoff_of(up, device):
    """Bytes of a link in the far end's buffer at which it is paused (fixed, or dynamic threshold)."""
    return up.xoff if up.xoff > 0 else np.int64(up.pause_alpha * (device.buffer - device.used))


@kernel(inline=True)
def _xon(up, device):
    return up.xon if up.xoff > 0 else max(xoff_of(up, device) - up.xon, 0)


@kernel(inline=True)
def leave_ingress(slot, time, ports, devices, packets, heap, world):
    """A packet leaves the buffer it has waited in: free the space, resume or give credit to the link it came by."""
    if packets[slot].ingress < 0:
        return
    ingress = place(packets[slot].ingress)
    size = packets[slot].bytes
    up = ports[ingress]
    device = devices[ports[ingress].far]
    device.used -= size
    up.ingress_bytes -= size
    if up.lossless == CREDITS:
        return_credit(ingress, size, time, ports, packets, heap, world)
    elif up.pausing == 1 and up.ingress_bytes <= _xon(up, device):
        up.pausing = 0
        up.after_xoff = 0
        device.pausing -= 1
        arrival = time + up.delay + np.int64(PAUSE_FRAME * up.ps_per_byte)
        up.frame = max(arrival, world[0].now, up.frame + 1)
        push(up.frame, RESUME * len(ports) + ingress, heap, world)


@kernel(inline=True)
def transmit(slot, port, row, start, ports, packets, heap, world):
    """Put a packet of a lane on the wire of its port at `start` [ps]."""
    p = ports[port]
    size = packets[slot].bytes
    duration = np.int64(size * p.ps_per_byte + 0.5)
    p.busy_until = start + duration
    p.busy += duration
    p.bytes_out += size
    p.packets_out += 1
    if p.lossless == CREDITS:
        ports[row].credits -= size
    packets[slot].arrival = p.busy_until + p.delay
    packets[slot].next = -1
    if packets[slot].kind == DATA:
        world[0].data_hops += 1
    if p.wire_head < 0:
        p.wire_head = slot
        push(packets[slot].arrival, ARRIVE * len(ports) + port, heap, world)
    else:
        packets[p.wire_tail].next = slot
    p.wire_tail = slot


@kernel(inline=True)
def send_waiting(port, row, queue, ports, devices, packets, records, heap, world):
    """Start the first packet of a lane at its free port; False if none may go (then connections may).

    queue: row of PORT whose length and thresholds mark it.
    """
    p, lane = ports[port], ports[row]
    start = p.busy_until
    if lane.control_head >= 0:
        slot = place(lane.control_head)
        if p.lossless == CREDITS and not has_credit(row, packets[slot].bytes, start, ports, packets, world):
            return False
        lane.control_head = packets[slot].next
        p.control_bytes -= packets[slot].bytes
    elif lane.data_head >= 0 and lane.paused == 0:
        slot = place(lane.data_head)
        if p.lossless == CREDITS and not has_credit(row, packets[slot].bytes, start, ports, packets, world):
            return False
        note_queue(p, start)
        lane.data_head = packets[slot].next
        p.data_bytes -= packets[slot].bytes
        if row != port:
            lane.data_bytes -= packets[slot].bytes
        if packets[slot].kind == DATA:
            _mark(slot, port, row, queue, 0, start, ports, packets, world)
            if world[0].int_hops > 0:
                _stamp(slot, port, queue, start, ports, packets, records, world)
    else:
        return False
    leave_ingress(slot, start, ports, devices, packets, heap, world)
    transmit(slot, port, row, start, ports, packets, heap, world)
    return True


@kernel(inline=True)
def append_control(slot, port, row, ports, packets):
    """Put a packet at the end of the control queue of its lane."""
    lane = ports[row]
    packets[slot].next = -1
    if lane.control_head < 0:
        lane.control_head = slot
    else:
        packets[lane.control_tail].next = slot
    lane.control_tail = slot
    ports[port].control_bytes += packets[slot].bytes


@kernel(inline=True)
def append(slot, port, row, now, ports, packets, world):
    """Put a packet at the end of the data or the control queue of its lane."""
    if packets[slot].control == 1:
        append_control(slot, port, row, ports, packets)
        return
    p, lane = ports[port], ports[row]
    packets[slot].next = -1
    size = packets[slot].bytes
    note_queue(p, now)
    if packets[slot].kind == DATA:
        queue = row if world[0].priorities == 1 else port
        _mark(slot, port, row, queue, 1, now, ports, packets, world)
    if lane.data_head < 0:
        lane.data_head = slot
    else:
        packets[lane.data_tail].next = slot
        packets[slot].arrival = lane.data_tail
    lane.data_tail = slot
    p.data_bytes += size
    p.peak = max(p.peak, p.data_bytes)
    if row != port:
        lane.data_bytes += size
        lane.peak = max(lane.peak, lane.data_bytes)


@kernel(inline=True)
def fits(size, row, ports, devices):
    """True if the data queue of a lane may take `size` more bytes (drop-tail or dynamic threshold)."""
    p = ports[row]
    if p.limit > 0:
        return p.data_bytes + size <= p.limit
    device = devices[p.node]
    if device.buffer <= 0:
        return True
    free = device.buffer - device.used
    return size <= free and p.data_bytes + size <= device.alpha * free


@kernel
def pause_if_full(row, now, ports, devices, heap, world):
    """Send XOFF back to a lane whose packets fill their part of the buffer."""
    p = ports[row]
    if p.ingress_bytes < xoff_of(p, devices[p.far]):
        return
    p.pausing = 1
    devices[p.far].pausing += 1
    p.frame = max(now + p.delay + np.int64(PAUSE_FRAME * p.ps_per_byte), p.frame + 1)
    push(p.frame, PAUSE * len(ports) + row, heap, world)
