"""The event loop of the packet-level model: arrivals at the heads of wires, wake-ups, pauses, paces and timeouts."""

import numpy as np

from simnet.jit import kernel
from simnet.network.dependencies import START, count_off, count_successors, pop_timer, release
from simnet.network.packet_level import congestion_control, load_balancing, pulls, receiver, sender
from simnet.network.packet_level.heap import pop, push, replace_first
from simnet.network.packet_level.load_balancing.feedback import ANSWERED, EXPIRED, TRIMMED
from simnet.network.packet_level.port import (
    append,
    fits,
    free_packet,
    pause_if_full,
    return_credit,
    send_waiting,
    transmit,
    uniform,
    wake_at,
    xoff_of,
)
from simnet.network.packet_level.state import (
    ACK,
    ARRIVE,
    CREDIT,
    CREDITS,
    DATA,
    DUE,
    GO_BACK_N,
    IN_RING,
    NACK,
    PAUSE,
    PFC,
    PORT_EVENTS,
    PULL,
    RESUME,
    SELECTIVE,
    WAKE,
)

# Why the loop came back.
REACHED, COMPLETED, BUDGET, STUCK, MORE_PACKETS, MORE_EVENTS, MORE_TIMERS = range(7)

SPARE_PACKETS = 256  # room that one event may need
NEVER = np.int64(2**62)
MOST_BARREN_TIMEOUTS = 30  # in a row, without anything acknowledged: nothing moves any more


@kernel
def pull(
    port, ports, packets, connections, messages, bits, paths, params, balancers, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """Send a packet of the connection whose turn it is at a free port; False if none may send."""
    p = ports[port]
    if p.paused == 1 or world[0].free_packets < SPARE_PACKETS // 2:
        return False
    start = p.busy_until
    while p.ring >= 0:
        c = p.ring
        k = connections[c]
        congestion_control.before_send(k.control_kind, k, params[k.params], start * 1e-12)
        if sender.wanted_state(c, start, connections, messages, bits) != IN_RING:
            sender.settle(c, start, connections, messages, bits, ports, heap, world)
            continue
        if p.lossless == CREDITS and p.credits < k.mtu + k.header:
            return False
        p.ring = k.ring_next
        message, before = k.message, k.highest
        slot = sender.next_packet(c, start, connections, messages, bits, packets, paths, balancers, world)
        if k.timer == 0 or k.unacknowledged == packets[slot].sequence:
            sender.arm_timeout(c, start, connections, ports, heap, world)
        transmit(slot, port, start, ports, packets, heap, world)
        if k.highest > before and k.message != message:
            release(message, True, np.float64(start), graphs, flows, successors, connections, timers, world)
        sender.settle(c, start, connections, messages, bits, ports, heap, world)
        return True
    return False


@kernel
def serve_queue(port, now, ports, devices, packets, records, heap, world):
    """Start all packets of a port's queues whose turn has come by `now`."""
    p = ports[port]
    while p.busy_until <= now:
        if not send_waiting(port, ports, devices, packets, records, heap, world):
            p.busy_until = now
            break
    # a paused sender upstream waits for space here, which only a timely look at this queue shows
    if (p.data_head >= 0 or p.control_head >= 0) and devices[p.node].pausing > 0 and p.busy_until > now:
        wake_at(port, p.busy_until, ports, heap, world)


@kernel
def serve_ring(
    port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
    graphs, flows, successors, timers,
):  # fmt: skip
    """Start everything at a sender's port whose turn has come by `now`: what waits in its queues, then connections."""
    p = ports[port]
    while p.busy_until <= now:
        if send_waiting(port, ports, devices, packets, records, heap, world):
            continue
        if not pull(
            port, ports, packets, connections, messages, bits, paths, params, balancers, heap, world,
            graphs, flows, successors, timers,
        ):  # fmt: skip
            p.busy_until = now
            break


@kernel(inline=True, entry=False)
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
def admit(slot, port, ports, devices, packets, settings, world):
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
    elif fits(size, port, ports, devices):
        return True
    p = ports[port]
    if p.trims == 1 and packets[slot].kind == DATA:
        victim = slot
        # half of the time the last one in the queue gives its place to the newcomer
        if p.data_head >= 0 and uniform(world, packets[slot].connection, packets[slot].sequence, port + 7) < 0.5:
            victim = p.data_tail
        if victim == slot:
            packets[slot].bytes = settings[0].trim_size
            packets[slot].trimmed = 1
            packets[slot].control = 1
            p.trimmed += 1
            return True
        trim_last(slot, port, ports, devices, packets, settings)
        return True
    p.dropped += 1
    p.dropped_bytes += size
    return False


@kernel
def trim_last(slot, port, ports, devices, packets, settings):
    """Trim the last packet of a data queue, where it stays as a header in the control queue, to admit `slot`."""
    p = ports[port]
    last = p.data_tail
    size = packets[last].bytes
    before = p.data_head
    if before == last:
        p.data_head = -1
    else:
        while packets[before].next != last:
            before = packets[before].next
        packets[before].next = -1
        p.data_tail = before
    p.data_bytes -= size
    saved = size - settings[0].trim_size
    if packets[last].ingress >= 0:
        ports[packets[last].ingress].ingress_bytes -= saved
        devices[p.node].used -= saved
    packets[last].bytes = settings[0].trim_size
    packets[last].trimmed = 1
    packets[last].control = 1
    packets[last].next = -1
    if p.control_head < 0:
        p.control_head = last
    else:
        packets[p.control_tail].next = last
    p.control_tail = last
    p.control_bytes += settings[0].trim_size
    p.trimmed += 1


@kernel
def refuse(slot, link, now, ports, packets, heap, world):
    """A packet that has come over `link` finds no place."""
    if ports[link].lossless == CREDITS:
        return_credit(link, packets[slot].bytes, now, ports, packets, heap, world)
    free_packet(slot, packets, world)


@kernel(inline=True, entry=False)
def forward(
    slot, link, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params,
    balancers, records, settings, heap, world, graphs, flows, successors, timers, hops, memory,
):  # fmt: skip
    """A packet has come over `link` to a device that passes it on: queue it at its next port."""
    packets[slot].hop += 1
    port = path_links[packets[slot].hop]
    packets[slot].ingress = link
    if world[0].steered == 1:
        port = load_balancing.steer(
            slot, link, now, ports, packets, connections, balancers, paths, path_links, hops, memory, world
        )
        if port < 0:  # on its way it has got where no path leads on
            refuse(slot, link, now, ports, packets, heap, world)
            return
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    if not admit(slot, port, ports, devices, packets, settings, world):
        refuse(slot, link, now, ports, packets, heap, world)
        return
    size = packets[slot].bytes
    device = devices[ports[port].node]
    device.used += size
    ports[link].ingress_bytes += size
    append(slot, port, now, ports, packets)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip
    elif device.pausing > 0:
        wake_at(port, ports[port].busy_until, ports, heap, world)
    up = ports[link]
    if up.lossless != PFC or packets[slot].control == 1:
        return
    if up.pausing == 1:
        up.after_xoff += size
    elif up.ingress_bytes >= xoff_of(up, device):
        # queues that were not looked at lately may hold less than the books say
        for i in range(device.first_port, device.first_port + device.ports):
            serve(
                device_ports[i], now, ports, devices, packets, connections, messages, bits, paths, params, balancers,
                records, heap, world, graphs, flows, successors, timers,
            )  # fmt: skip
        pause_if_full(link, now, ports, devices, heap, world)
        if up.pausing == 1:
            for i in range(device.first_port, device.first_port + device.ports):
                other = device_ports[i]
                if ports[other].data_head >= 0 or ports[other].control_head >= 0:
                    wake_at(other, ports[other].busy_until, ports, heap, world)


@kernel(inline=True, entry=False)
def send_answer(
    slot, now, ports, devices, packets, connections, messages, bits, paths, path_links, params, balancers, records,
    heap, world, graphs, flows, successors, timers,
):  # fmt: skip
    """Queue an acknowledgement at the receiver's own port."""
    port = path_links[packets[slot].hop]
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    append(slot, port, now, ports, packets)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel(inline=True, entry=False)
def take_answer(
    slot, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, settings,
    feedback, heap, world, graphs, flows, successors, timers,
):  # fmt: skip
    """An ACK, a NACK or a grant of credit has come to its sender."""
    p = packets[slot]
    c = p.connection
    k = connections[c]
    port = k.port
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    if p.kind == CREDIT:
        congestion_control.eqds.on_credit(k, p.acknowledged)
        sender.arm_timeout(c, now, connections, ports, heap, world)
    else:
        event = TRIMMED if p.trimmed == 1 else ANSWERED
        load_balancing.on_feedback(
            k.balancer, c, k, balancers[k.balancer_params], paths, event, p.entropy, p.echo, p.sequence, now * 1e-12,
            world,
        )  # fmt: skip
        acknowledge(slot, now, packets, connections, messages, bits, params, records, settings, feedback, ports, heap,
                    world)  # fmt: skip
    if k.inflight <= 0.0 and k.unacknowledged >= k.total:
        k.deadline = NEVER
    free_packet(slot, packets, world)
    sender.settle(c, now, connections, messages, bits, ports, heap, world)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel(inline=True, entry=False)
def acknowledge(
    slot, now, packets, connections, messages, bits, params, records, settings, feedback, ports, heap, world
):
    """Take in what an ACK or NACK says."""
    p = packets[slot]
    c = p.connection
    k = connections[c]
    acknowledged = 0.0
    if k.transport != GO_BACK_N and p.kind == ACK:
        acknowledged += sender.acknowledge_one(c, p.sequence, connections, messages, bits)
        k.inflight -= acknowledged
    before = k.unacknowledged
    if p.acknowledged > before:
        freed = sender.acknowledge_up_to(c, p.acknowledged, connections, messages, bits)
        k.inflight -= freed
        acknowledged += freed
    seconds = now * 1e-12
    row = params[k.params]
    congestion_control.before_send(k.control_kind, k, row, seconds)
    k.rtt = (now - p.sent) * 1e-12
    if p.kind == NACK:
        lost = k.inflight
        if k.transport == GO_BACK_N:
            sender.go_back(c, connections)
        else:
            lost = sender.lose(c, p.sequence, connections, messages, bits)
            k.inflight -= lost
        congestion_control.on_loss(k.control_kind, k, row, seconds, lost, False)
    else:
        f = feedback[0]
        f.bytes = acknowledged
        f.marked = p.echo
        f.rtt = k.rtt
        f.sequence = p.sequence
        f.hops = p.hops
        f.first = slot * world[0].int_hops
        congestion_control.on_ack(k.control_kind, k, row, seconds, f, records)
        if k.transport == SELECTIVE and settings[0].duplicates > 0:
            missing_before(c, p.sequence - settings[0].duplicates, seconds, connections, messages, bits, row)
    if k.unacknowledged > before:
        k.barren = 0
        sender.arm_timeout(c, now, connections, ports, heap, world)


@kernel
def missing_before(c, number, now, connections, messages, bits, row):
    """Packets that were overtaken by enough later ones are lost, once per window."""
    k = connections[c]
    lost = 0.0
    for sequence in range(max(k.unacknowledged, k.recovery), min(number + 1, k.highest)):
        bytes_lost = sender.lose(c, sequence, connections, messages, bits)
        k.inflight -= bytes_lost
        lost += bytes_lost
        k.recovery = sequence + 1
    if lost > 0.0:
        congestion_control.on_loss(k.control_kind, k, row, now, lost, False)


@kernel(inline=True, entry=False)
def arrive(
    port, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params, balancers,
    records, settings, feedback, heap, world, graphs, flows, successors, pending, completions, timers, record, hops,
    memory,
):  # fmt: skip
    """The packet at the head of a wire has reached the far end."""
    p = ports[port]
    slot = p.wire_head
    p.wire_head = packets[slot].next
    if p.wire_head >= 0:
        replace_first(packets[p.wire_head].arrival, ARRIVE * len(ports) + port, heap, world)
    else:
        pop(heap, world)
    p.bytes_in += packets[slot].bytes
    p.packets_in += 1
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    lost = p.down == 1 or p.packets_in == p.lose
    if lost or (p.loss > 0.0 and uniform(world, packets[slot].connection, packets[slot].sequence, now) < p.loss):
        p.dropped += 1
        p.dropped_bytes += packets[slot].bytes
        if p.lossless == CREDITS:
            return_credit(port, packets[slot].bytes, now, ports, packets, heap, world)
        free_packet(slot, packets, world)
        return
    if path_links[packets[slot].hop + 1] >= 0:
        forward(
            slot, port, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
            params, balancers, records, settings, heap, world, graphs, flows, successors, timers, hops, memory,
        )  # fmt: skip
        return
    if p.lossless == CREDITS:
        return_credit(port, packets[slot].bytes, now, ports, packets, heap, world)
    if packets[slot].kind != DATA:
        take_answer(
            slot, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records,
            settings, feedback, heap, world, graphs, flows, successors, timers,
        )  # fmt: skip
        return
    c = packets[slot].connection
    complete, answered = receiver.receive(
        slot, now, connections, params, messages, bits, packets, paths, settings, world
    )
    if connections[c].control_kind == congestion_control.EQDS:
        pulls.request(c, now, connections, params, ports, heap, world)
    if complete >= 0:
        world[0].messages -= 1
        if len(record) > 0:
            record[2 * complete + 1] = now
        release(complete, False, np.float64(now), graphs, flows, successors, connections, timers, world)
        count_off(complete, graphs, flows, connections, pending, completions, world)
    if answered:
        send_answer(
            slot, now, ports, devices, packets, connections, messages, bits, paths, path_links, params, balancers,
            records, heap, world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel
def time_out(c, now, connections, messages, bits, paths, params, balancers, ports, heap, world):
    """The timeout of a connection fires: look whether anything is overdue, and send it again."""
    k = connections[c]
    k.timer = 0
    starved = k.credit <= 0.0 and k.unacknowledged < k.total
    if k.unacknowledged >= k.highest and not starved:
        return
    if k.deadline > now:
        k.timer = k.deadline
        push(k.deadline, PORT_EVENTS * len(ports) + 2 * c + 1, heap, world)
        return
    k.timeouts += 1
    k.barren += 1
    if k.barren >= MOST_BARREN_TIMEOUTS:
        world[0].stuck = c + 1
    lost = k.inflight
    if k.transport == GO_BACK_N:
        sender.go_back(c, connections)
    else:
        sender.lose_all(c, connections, messages, bits)
    congestion_control.on_loss(k.control_kind, k, params[k.params], now * 1e-12, lost, True)
    if lost > 0.0:
        load_balancing.on_feedback(
            k.balancer, c, k, balancers[k.balancer_params], paths, EXPIRED, -1, 0, -1, now * 1e-12, world
        )
    sender.arm_timeout(c, now, connections, ports, heap, world)
    sender.settle(c, now, connections, messages, bits, ports, heap, world)


@kernel
def begin(flow, now, connections, messages, bits, params, flows, ports, heap, world):
    """Queue a message behind those of its connection."""
    c = flows[flow].connection
    k = connections[c]
    if k.total == 0:
        congestion_control.start(k.control_kind, k, params[k.params], now * 1e-12)
    elif k.next_sequence >= k.total:
        congestion_control.wake(k.control_kind, k, params[k.params], k.unacknowledged >= k.total)
    m = messages[flow]
    size = np.int64(np.ceil(flows[flow].bytes))
    m.packets = max((size + np.int64(k.mtu) - 1) // np.int64(k.mtu), 1)
    m.last_payload = size - (m.packets - 1) * np.int64(k.mtu)
    m.first = k.total
    m.arrived = 0
    m.next = -1
    if k.unacknowledged < k.total:
        messages[k.newest].next = flow
    else:
        k.oldest = flow
    if k.next_sequence >= k.total:
        k.message = flow
    k.newest = flow
    k.total += m.packets
    world[0].messages += 1
    sender.settle(c, now, connections, messages, bits, ports, heap, world)


@kernel
def handle(
    number, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params,
    balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending, completions, timers,
    record, hops, memory,
):  # fmt: skip
    """Process the first event of the heap, which is no arrival."""
    kind, port = number // len(ports), number % len(ports)
    pop(heap, world)
    grant = np.int64(-1)
    if kind == PULL:
        grant = pulls.next_grant(port, now, connections, params, ports, packets, paths, settings, heap, world)
        if grant < 0:
            return
        port = np.int64(path_links[packets[grant].hop])
    c = (number - PORT_EVENTS * len(ports)) >> 1
    if kind >= PORT_EVENTS:
        port = np.int64(connections[c].port)
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    if kind == WAKE:
        return
    p = ports[port]
    if kind >= PORT_EVENTS:
        if (number - PORT_EVENTS * len(ports)) & 1 == DUE:
            sender.settle(c, now, connections, messages, bits, ports, heap, world)
        else:
            time_out(c, now, connections, messages, bits, paths, params, balancers, ports, heap, world)
    elif kind == PAUSE:
        p.paused = 1
        p.pauses += 1
        p.paused_since = now
    elif kind == RESUME:
        p.paused = 0
        p.paused_time += now - p.paused_since
    elif kind == PULL:
        append(grant, port, now, ports, packets)
    else:
        credit_back(port, ports, packets, heap, world)
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip


@kernel
def credit_back(port, ports, packets, heap, world):
    """The first credit on its way back to a port has arrived."""
    p = ports[port]
    slot = p.credit_head
    p.credits += packets[slot].bytes
    p.credit_head = packets[slot].next
    if p.credit_head >= 0:
        push(packets[p.credit_head].arrival, 4 * len(ports) + port, heap, world)
    free_packet(slot, packets, world)


@kernel(inline=True, entry=False)
def sample(ports, connections, samples, probes, world):
    """Note counters of the port whose turn it is; after the last one set the next time, and thin out a full table.

    The port has been served, so what it has sent and what waits in it are those of this very moment.
    """
    w = world[0]
    most = len(samples) // len(ports)
    p = ports[w.sample_port]
    s = samples[w.samples * len(ports) + w.sample_port]
    s.bytes = p.bytes_out - max(p.busy_until - w.now, 0) / p.ps_per_byte
    s.area = p.area + np.float64(p.data_bytes) * np.float64(w.now - p.area_since)
    w.sample_port += 1
    if w.sample_port < len(ports):
        return
    chosen = len(probes) // most
    for c in range(min(chosen, len(connections))):
        k, row = connections[c], probes[w.samples * chosen + c]
        row.window, row.rate, row.inflight, row.rtt = k.window, k.rate, k.inflight, k.rtt
    w.sample_port = 0
    w.samples += 1
    if w.samples == most:
        for i in range(most // 2):
            for port in range(len(ports)):
                samples[i * len(ports) + port] = samples[(2 * i + 1) * len(ports) + port]
            for c in range(chosen):
                probes[i * chosen + c] = probes[(2 * i + 1) * chosen + c]
        w.samples = most // 2
        w.sample_step *= 2
    w.sample_next += w.sample_step


@kernel
def next_event(heap, timers, world):
    """Time of the next event [ps]; NEVER: none."""
    time = heap[0] >> world[0].bits if world[0].heap > 0 else NEVER
    if world[0].timers > 0:
        time = min(time, np.int64(timers[0].time))
    return time


@kernel
def advance(
    until, budget, spare_events, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
    params, balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending, completions,
    timers, record, samples, probes, hops, memory,
):  # fmt: skip
    """Go on to `until` [ps], to the first instant with completions, or for `budget` events.

    Nothing is taken off a queue unless there is room for what follows, so the caller may enlarge a table and call
    again. `record` [ps, two per flow, or empty] receives start and delivery times, `samples` and `probes` what ports
    and connections were like at equal intervals.
    """
    w = world[0]
    first = w.events
    while True:
        time = next_event(heap, timers, world)
        if w.completions > 0 and time > w.now:
            return COMPLETED
        if w.stuck > 0:
            return STUCK
        if time > until or time == NEVER:
            return REACHED
        if w.events - first > budget:
            return BUDGET
        if w.free_packets < SPARE_PACKETS:
            return MORE_PACKETS
        if w.heap + spare_events > len(heap):
            return MORE_EVENTS
        if time > w.sample_next:
            w.now = w.sample_next
            serve(
                w.sample_port, w.now, ports, devices, packets, connections, messages, bits, paths, params, balancers,
                records, heap, world, graphs, flows, successors, timers,
            )  # fmt: skip
            sample(ports, connections, samples, probes, world)
            continue
        w.now = time
        w.events += 1
        if w.timers > 0 and np.int64(timers[0].time) <= time:
            flow, kind = timers[0].code >> 1, timers[0].code & 1
            if w.timers + count_successors(flow, flows) + 2 >= len(timers):
                return MORE_TIMERS
            pop_timer(timers, world)
            if len(record) > 0:
                record[2 * flow + 1 - kind] = time
            c = flows[flow].connection
            if kind == START and connections[c].paths != 0 and flows[flow].bytes > 0.0:
                serve(
                    connections[c].port, time, ports, devices, packets, connections, messages, bits, paths, params,
                    balancers, records, heap, world, graphs, flows, successors, timers,
                )  # fmt: skip
                begin(flow, time, connections, messages, bits, params, flows, ports, heap, world)
                serve(
                    connections[c].port, time, ports, devices, packets, connections, messages, bits, paths, params,
                    balancers, records, heap, world, graphs, flows, successors, timers,
                )  # fmt: skip
            else:
                if len(record) > 0:
                    record[2 * flow + 1] = time
                release(flow, True, np.float64(time), graphs, flows, successors, connections, timers, world)
                release(flow, False, np.float64(time), graphs, flows, successors, connections, timers, world)
                count_off(flow, graphs, flows, connections, pending, completions, world)
            continue
        number = heap[0] & ((np.int64(1) << w.bits) - 1)
        if number < len(ports):
            arrive(
                number, time, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
                params, balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending,
                completions, timers, record, hops, memory,
            )  # fmt: skip
        else:
            handle(
                number, time, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
                params, balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending,
                completions, timers, record, hops, memory,
            )  # fmt: skip
