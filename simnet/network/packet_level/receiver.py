"""The receiving side of a connection: what is accepted, what is acknowledged, and when a message is complete."""

from simnet.jit import kernel
from simnet.network.packet_level import congestion_control
from simnet.network.packet_level.bitmaps import ARRIVED, get_bit, set_bit, window_of
from simnet.network.packet_level.connection_state import GO_BACK_N
from simnet.network.packet_level.packet_pool import free_packet
from simnet.network.packet_level.state import ACK, NACK

# A receiver that goes back repeats its NACK for the same packet at most so often [ps]: 500 us, [HPCC].
NACK_INTERVAL = 500_000_000


@kernel(inline=True)
def accept(sequence, c, connections, bits):
    """Take in a data packet; True if it is new and kept."""
    k = connections[c]
    if sequence < k.expected:
        return False
    if sequence == k.expected:
        k.expected += 1
        if k.reorder > 0:
            while get_bit(ARRIVED, c, k.expected, bits):
                set_bit(ARRIVED, c, k.expected, False, bits)
                k.expected += 1
        return True
    if sequence - k.expected > k.reorder or get_bit(ARRIVED, c, sequence, bits):
        return False
    set_bit(ARRIVED, c, sequence, True, bits)
    return True


@kernel(inline=True)
def answer(slot, kind, c, connections, bits, packets, paths, settings):
    """Turn a data packet into its ACK or NACK, on the way back over the path of the same entropy."""
    p, k = packets[slot], connections[c]
    p.kind = kind
    p.bytes = k.ack_size
    p.control = settings[0].ack_priority
    p.echo = p.marked
    p.marked = 0
    p.acknowledged = k.expected
    if k.ack_every > 1:
        p.message = window_of(ARRIVED, c, k.expected + 1, bits)
        k.unanswered = 0
    p.ingress = -1
    p.lane = k.lane
    p.hop = paths[k.first_path + k.paths + p.entropy].start


@kernel(inline=True)
def receive(slot, now, connections, params, messages, bits, packets, paths, settings, world):
    """A data packet has reached its receiver.

    Returns (message completed or -1, whether there is an answer to send); the packet has become the answer.
    """
    p = packets[slot]
    c, sequence, message = p.connection, p.sequence, p.message
    k = connections[c]
    marked = congestion_control.on_data(k.control_kind, k, params[k.params], now * 1e-12, p)
    if p.trimmed == 1:
        answer(slot, NACK, c, connections, bits, packets, paths, settings)
        packets[slot].echo = marked
        return -1, True
    complete = -1
    new = accept(sequence, c, connections, bits)
    if new:
        world[0].progress += 1
        messages[message].arrived += 1
        if messages[message].arrived == messages[message].packets:
            complete = message
    elif k.transport != GO_BACK_N or sequence < k.expected:
        world[0].duplicates += 1
    kind = ACK
    if k.transport == GO_BACK_N and not new and sequence > k.expected:
        if k.nacked == k.expected and now - k.nack_time < NACK_INTERVAL:
            free_packet(slot, packets, world)
            return complete, False
        k.nacked = k.expected
        k.nack_time = now
        kind = NACK
    k.unanswered += 1
    if new and complete < 0 and marked == 0 and p.echo == 0 and k.unanswered < k.ack_every:
        free_packet(slot, packets, world)
        return complete, False
    answer(slot, kind, c, connections, bits, packets, paths, settings)
    packets[slot].echo = marked
    return complete, True
