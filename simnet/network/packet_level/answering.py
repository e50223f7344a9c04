"""What comes back to a sender, and what does not: acknowledgements, losses, timeouts; and messages that begin."""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level import congestion_control, load_balancing, sender
from simnet.network.packet_level.connection_state import GO_BACK_N, SELECTIVE
from simnet.network.packet_level.load_balancing.feedback import ANSWERED, EXPIRED, TRIMMED
from simnet.network.packet_level.packet_pool import free_packet
from simnet.network.packet_level.port import append, row_at
from simnet.network.packet_level.serving import serve
from simnet.network.packet_level.state import ACK, CREDIT, NACK, NEVER, TIMEOUT, place

MOST_BARREN_TIMEOUTS = 30  # in a row, without anything acknowledged: nothing moves any more


@kernel(inline=True)
def send_answer(
    slot, now, ports, devices, packets, connections, messages, bits, paths, path_links, params, balancers, records,
    heap, world, graphs, flows, successors, timers,
):  # fmt: skip
    """Queue an acknowledgement at the receiver's own port."""
    port = place(path_links[packets[slot].hop])
    serve(
        port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap, world,
        graphs, flows, successors, timers,
    )  # fmt: skip
    append(slot, port, row_at(slot, port, packets, world), now, ports, packets, world)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel(inline=True)
def take_answer(
    slot, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, feedback, heap,
    world, graphs, flows, successors, timers,
):  # fmt: skip
    """An ACK, a NACK or a grant of credit has come to its sender."""
    p = packets[slot]
    c = p.connection
    k = connections[c]
    port = place(k.port)
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
        acknowledge(slot, now, packets, connections, messages, bits, params, records, feedback, ports, heap, world)
    if k.inflight <= 0.0 and k.unacknowledged >= k.total:
        k.deadline = NEVER
    free_packet(slot, packets, world)
    sender.settle(c, now, connections, messages, ports, heap, world)
    if ports[port].busy_until <= now:
        serve(
            port, now, ports, devices, packets, connections, messages, bits, paths, params, balancers, records, heap,
            world, graphs, flows, successors, timers,
        )  # fmt: skip


@kernel(inline=True)
def acknowledge(slot, now, packets, connections, messages, bits, params, records, feedback, ports, heap, world):
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
    if k.ack_every > 1 and k.transport != GO_BACK_N and p.message > 0:
        freed = sender.acknowledge_window(c, p.acknowledged + 1, p.message, connections, messages, bits)
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
        if k.transport == SELECTIVE and k.duplicates > 0:
            missing_before(c, p.sequence - k.duplicates, seconds, connections, messages, bits, row)
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


@kernel
def time_out(c, now, connections, messages, bits, paths, params, balancers, ports, heap, world):
    """The timeout of a connection fires: look whether anything is overdue, and send it again."""
    k = connections[c]
    k.timer = 0
    starved = k.credit <= 0.0 and k.unacknowledged < k.total
    if k.unacknowledged >= k.highest and not starved:
        return
    # who has nothing in flight waits for its turn to be granted credit, which many others have before it
    patience = k.timeout << sender.MOST_DOUBLINGS if starved and k.inflight <= 0.0 else 0
    if k.deadline + patience > now:
        k.timer = k.deadline if k.deadline > now else now + k.timeout
        sender.push_event(TIMEOUT, c, k.timer, ports, heap, world)
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
    sender.settle(c, now, connections, messages, ports, heap, world)


@kernel
def begin(flow, now, connections, messages, params, flows, ports, heap, world):
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
    sender.settle(c, now, connections, messages, ports, heap, world)
