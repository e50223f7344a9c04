"""The sending side of a connection: what it may send and when, acknowledgements, losses, timeouts.

A connection that may send is in the ring of its first port, which takes packets from it round robin when it is free
(the packet is made when its transmission starts, so no queue stands at a sender). One that waits for its window
or for its pace is not; an acknowledgement or an event brings it back.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level import congestion_control, load_balancing
from simnet.network.packet_level.bitmaps import ACKNOWLEDGED, LOST, first_set, get_bit, set_bit
from simnet.network.packet_level.connection_state import GO_BACK_N, IDLE, IN_RING, PACED, WINDOW_FULL
from simnet.network.packet_level.heap import push
from simnet.network.packet_level.packet_pool import packet_of
from simnet.network.packet_level.state import DATA, DUE, PORT_EVENTS, TIMEOUT

MOST_DOUBLINGS = 6  # of a timeout


@kernel(inline=True)
def push_event(kind, c, time, ports, heap, world):
    """Queue an event of a connection, DUE or TIMEOUT, at `time` [ps]."""
    push(time, PORT_EVENTS * len(ports) + 2 * c + kind, heap, world)


@kernel
def enter_ring(c, connections, ports):
    """Put a connection last in the ring of its lane of its first port."""
    row = connections[c].row
    first = ports[row].ring
    connections[c].state = IN_RING
    if first < 0:
        ports[row].ring = c
        connections[c].ring_next = c
        connections[c].ring_previous = c
        return
    last = connections[first].ring_previous
    connections[last].ring_next = c
    connections[first].ring_previous = c
    connections[c].ring_next = first
    connections[c].ring_previous = last


@kernel
def leave_ring(c, state, connections, ports):
    """Take a connection out of its ring."""
    row = connections[c].row
    following = connections[c].ring_next
    if following == c:
        ports[row].ring = -1
    else:
        before = connections[c].ring_previous
        connections[before].ring_next = following
        connections[following].ring_previous = before
        if ports[row].ring == c:
            ports[row].ring = following
    connections[c].state = state


@kernel(inline=True)
def payload_of(message, sequence, mtu, messages):
    """Payload of a packet [bytes]."""
    m = messages[message]
    return m.last_payload if sequence == m.first + m.packets - 1 else np.int64(mtu)


@kernel
def message_of(sequence, c, connections, messages):
    """Message that an unacknowledged packet belongs to."""
    message = connections[c].oldest
    while sequence >= messages[message].first + messages[message].packets:
        message = messages[message].next
    return message


@kernel(inline=True)
def wanted_state(c, now, connections, messages):
    """IDLE, WINDOW_FULL, PACED or IN_RING: what keeps a connection from sending at `now` [ps], if anything."""
    k = connections[c]
    if k.lost == 0 and k.next_sequence >= k.total:
        return IDLE
    if k.paths < 0:
        return WINDOW_FULL
    if k.transport != GO_BACK_N and k.lost == 0 and k.next_sequence - k.unacknowledged > k.reorder:
        return WINDOW_FULL
    size = k.mtu + k.header
    if k.lost == 0:
        size = payload_of(k.message, k.next_sequence, k.mtu, messages) + k.header
    if k.inflight > 0.0 and k.inflight + size > k.window:
        return WINDOW_FULL
    if k.credit <= 0.0:
        return WINDOW_FULL
    return PACED if k.next_send > now else IN_RING


@kernel(inline=True)
def pace(c, connections):
    """Set the time of the next packet by the present rate."""
    k = connections[c]
    rate = min(k.rate, k.cap)
    if rate < np.inf and k.last_size > 0.0:
        k.next_send = k.last_sent + np.int64(1e12 * k.last_size / rate)
    else:
        k.next_send = 0


@kernel
def settle(c, now, connections, messages, ports, heap, world):
    """Put a connection where its state belongs: into the ring, or to wait for time or for acknowledgements."""
    pace(c, connections)
    state = wanted_state(c, now, connections, messages)
    k = connections[c]
    if k.state == IN_RING:
        if state != IN_RING:
            leave_ring(c, state, connections, ports)
    elif state == IN_RING:
        enter_ring(c, connections, ports)
    else:
        k.state = state
    if state == PACED and (k.due <= world[0].now or k.next_send < k.due):
        k.due = k.next_send
        push_event(DUE, c, k.next_send, ports, heap, world)


@kernel(inline=True)
def next_packet(c, start, connections, messages, bits, packets, paths, balancers, world):
    """Make the packet that a connection sends at `start` [ps]; returns its slot."""
    k = connections[c]
    fresh = k.lost == 0
    again = True
    if not fresh:
        sequence = first_set(LOST, c, k.unacknowledged, k.highest, bits)
        message = message_of(sequence, c, connections, messages)
        set_bit(LOST, c, sequence, False, bits)
        k.lost -= 1
    else:
        sequence, message = k.next_sequence, k.message
        again = sequence < k.highest
    payload = payload_of(message, sequence, k.mtu, messages)
    slot = packet_of(c, DATA, 0, connections, packets, world)
    p = packets[slot]
    p.sequence = sequence
    p.message = message
    p.bytes = payload + np.int64(k.header)
    p.acknowledged = congestion_control.announced(k.control_kind, k)
    p.sent = start
    p.entropy = load_balancing.choose(
        k.balancer, c, k, balancers[k.balancer_params], paths, start * 1e-12, world
    )  # fmt: skip
    p.hop = paths[k.first_path + p.entropy].start
    k.inflight += p.bytes
    k.credit -= p.bytes
    k.sent_bytes += p.bytes
    k.last_sent = start
    k.last_size = p.bytes
    if again:
        k.resent_packets += 1
        k.resent_bytes += p.bytes
    if fresh:
        k.next_sequence = sequence + 1
        k.highest = max(k.highest, k.next_sequence)
        if k.next_sequence == messages[message].first + messages[message].packets:
            k.message = messages[message].next
    return slot


@kernel
def arm_timeout(c, now, connections, ports, heap, world):
    """Start the timeout anew, twice as long for each one in a row that brought nothing (RFC 6298, up to 64 times).

    Its event looks at the deadline when it fires, so one in the heap is enough.
    """
    k = connections[c]
    k.deadline = now + (k.timeout << min(k.barren, MOST_DOUBLINGS))
    if k.timer == 0:
        k.timer = k.deadline
        push_event(TIMEOUT, c, k.deadline, ports, heap, world)


@kernel(inline=True)
def acknowledge_up_to(c, number, connections, messages, bits):
    """All packets before `number` have arrived; returns the bytes on the wire that this takes out of flight."""
    k = connections[c]
    freed = 0.0
    while k.unacknowledged < number:
        sequence = k.unacknowledged
        message = k.oldest
        size = payload_of(message, sequence, k.mtu, messages) + k.header
        if k.transport == GO_BACK_N:
            freed += size
        else:
            if get_bit(LOST, c, sequence, bits):
                set_bit(LOST, c, sequence, False, bits)
                k.lost -= 1
            elif not get_bit(ACKNOWLEDGED, c, sequence, bits):
                freed += size
            set_bit(ACKNOWLEDGED, c, sequence, False, bits)
        k.unacknowledged = sequence + 1
        if k.unacknowledged == messages[message].first + messages[message].packets:
            k.oldest = messages[message].next
    if k.next_sequence < k.unacknowledged:  # went back, but what it would repeat has arrived after all
        k.next_sequence = k.unacknowledged
        k.message = k.oldest
        freed = min(freed, k.inflight)
    return min(freed, k.inflight)


@kernel(inline=True)
def acknowledge_one(c, sequence, connections, messages, bits):
    """One packet out of order has arrived; returns the bytes that this takes out of flight."""
    k = connections[c]
    if sequence < k.unacknowledged or get_bit(ACKNOWLEDGED, c, sequence, bits):
        return 0.0
    set_bit(ACKNOWLEDGED, c, sequence, True, bits)
    if get_bit(LOST, c, sequence, bits):
        set_bit(LOST, c, sequence, False, bits)
        k.lost -= 1
        return 0.0
    size = payload_of(message_of(sequence, c, connections, messages), sequence, k.mtu, messages) + k.header
    return min(size, k.inflight)


@kernel
def acknowledge_window(c, start, window, connections, messages, bits):
    """Packets from `start` on have arrived where `window` has a bit; returns what that takes out of flight [bytes]."""
    k, freed = connections[c], 0.0
    while window > 0:
        if window & 1 == 1:
            size = acknowledge_one(c, start, connections, messages, bits)
            freed += min(size, k.inflight - freed)
        start += 1
        window >>= 1
    return freed


@kernel
def go_back(c, connections):
    """Send again from the first unacknowledged packet on."""
    k = connections[c]
    k.next_sequence = k.unacknowledged
    k.message = k.oldest
    k.inflight = 0.0


@kernel
def lose(c, sequence, connections, messages, bits):
    """Note a packet as lost, to be sent again; returns the bytes that this takes out of flight."""
    k = connections[c]
    if sequence < k.unacknowledged or get_bit(ACKNOWLEDGED, c, sequence, bits) or get_bit(LOST, c, sequence, bits):
        return 0.0
    set_bit(LOST, c, sequence, True, bits)
    k.lost += 1
    size = payload_of(message_of(sequence, c, connections, messages), sequence, k.mtu, messages) + k.header
    return min(size, k.inflight)


@kernel
def lose_all(c, connections, messages, bits):
    """Note everything in flight as lost."""
    k = connections[c]
    for sequence in range(k.unacknowledged, k.highest):
        k.inflight -= lose(c, sequence, connections, messages, bits)
