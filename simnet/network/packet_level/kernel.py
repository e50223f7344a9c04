"""The event loop of the packet-level model: arrivals at the heads of wires, wake-ups, pauses, paces and timeouts."""

import numpy as np

from simnet.jit import kernel
from simnet.network.dependencies import count_off, count_successors, pop_timer, release
from simnet.network.packet_level import congestion_control, pulls, receiver, sender
from simnet.network.packet_level.answering import begin, send_answer, take_answer, time_out
from simnet.network.packet_level.credits import ENOUGH, return_credit
from simnet.network.packet_level.heap import pop, replace_first, room
from simnet.network.packet_level.packet_pool import SPARE_PACKETS, free_packet
from simnet.network.packet_level.port import append, row_at, uniform
from simnet.network.packet_level.sampling import sample
from simnet.network.packet_level.serving import look_after, serve
from simnet.network.packet_level.state import (
    ARRIVE,
    CREDITS,
    DATA,
    DUE,
    NEVER,
    PAUSE,
    PORT_EVENTS,
    PULL,
    RESUME,
    WAKE,
    place,
)
from simnet.network.packet_level.switching import forward

# Why the loop came back.
REACHED, COMPLETED, BUDGET, STUCK, MORE_PACKETS, MORE_EVENTS, MORE_TIMERS = range(7)


@kernel(inline=True)
def arrive(
    port, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params, balancers,
    records, settings, feedback, heap, world, graphs, flows, successors, pending, completions, timers, record, hops,
    memory,
):  # fmt: skip
    """The packet at the head of a wire has reached the far end."""
    p = ports[port]
    slot = place(p.wire_head)
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
            return_credit(row_at(slot, port, packets, world), packets[slot].bytes, now, ports, packets, heap, world)
        free_packet(slot, packets, world)
        return
    if path_links[packets[slot].hop + 1] >= 0:
        forward(
            slot, port, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
            params, balancers, records, settings, heap, world, graphs, flows, successors, timers, hops, memory,
        )  # fmt: skip
        return
    if p.lossless == CREDITS:
        return_credit(row_at(slot, port, packets, world), packets[slot].bytes, now, ports, packets, heap, world)
    if packets[slot].kind != DATA:
        take_answer(
            slot, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records,
            feedback, heap, world, graphs, flows, successors, timers,
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
def handle(
    number, now, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links, params,
    balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending, completions, timers,
    record, hops, memory,
):  # fmt: skip
    """Process the first event of the heap, which is no arrival."""
    kind, row = number // len(ports), number % len(ports)
    port = place(row % world[0].links)
    pop(heap, world)
    grant = np.int64(-1)
    if kind == PULL:
        grant = pulls.next_grant(port, now, connections, params, ports, packets, paths, heap, world)
        if grant < 0:
            return
        port = place(path_links[packets[grant].hop])
    c = (number - PORT_EVENTS * len(ports)) >> 1
    if kind >= PORT_EVENTS:
        port = place(connections[c].port)
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    if kind == WAKE:
        return
    p = ports[row]
    if kind >= PORT_EVENTS:
        if (number - PORT_EVENTS * len(ports)) & 1 == DUE:
            sender.settle(c, now, connections, messages, ports, heap, world)
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
        append(place(grant), port, row_at(grant, port, packets, world), now, ports, packets, world)
    else:
        p.starving = ENOUGH
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip


@kernel(inline=True)
def start_flow(
    now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world, graphs,
    flows, successors, pending, completions, timers, record,
):  # fmt: skip
    """The flow of the first timer begins; one without bytes, or from a device to itself, has arrived at once."""
    flow = timers[0].code >> 1
    pop_timer(timers, world)
    if len(record) > 0:
        record[2 * flow] = now
    c = flows[flow].connection
    if connections[c].paths != 0 and flows[flow].bytes > 0.0:
        port = place(connections[c].port)
        look_after(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip
        begin(flow, now, connections, messages, params, flows, ports, heap, world)
        look_after(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip
        return
    if len(record) > 0:
        record[2 * flow + 1] = now
    release(flow, True, np.float64(now), graphs, flows, successors, connections, timers, world)
    release(flow, False, np.float64(now), graphs, flows, successors, connections, timers, world)
    count_off(flow, graphs, flows, connections, pending, completions, world)


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
        if w.heap + spare_events > room(heap):
            return MORE_EVENTS
        if time > w.sample_next:
            w.now = w.sample_next
            look_after(
                place(w.sample_port), w.now, ports, devices, packets, connections, messages, bits, paths, params,
                balancers, records, heap, world, graphs, flows, successors, timers,
            )  # fmt: skip
            sample(ports, connections, samples, probes, world)
            continue
        w.now = time
        w.events += 1
        if w.timers > 0 and np.int64(timers[0].time) <= time:
            if w.timers + count_successors(timers[0].code >> 1, flows) + 2 >= len(timers):
                return MORE_TIMERS
            start_flow(
                time, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
                world, graphs, flows, successors, pending, completions, timers, record,
            )  # fmt: skip
            continue
        number = heap[0] & ((np.int64(1) << w.bits) - 1)
        if number < len(ports):
            arrive(
                place(number), time, ports, devices, device_ports, packets, connections, messages, bits, paths,
                path_links, params, balancers, records, settings, feedback, heap, world, graphs, flows, successors,
                pending, completions, timers, record, hops, memory,
            )  # fmt: skip
        else:
            handle(
                number, time, ports, devices, device_ports, packets, connections, messages, bits, paths, path_links,
                params, balancers, records, settings, feedback, heap, world, graphs, flows, successors, pending,
                completions, timers, record, hops, memory,
            )  # fmt: skip
