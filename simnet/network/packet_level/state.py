"""Record arrays of the packet-level model, one per entity. Times are whole picoseconds, sizes bytes on the wire."""

import numpy as np

from simnet.network.records import whole_lines

SECOND = 1e12  # [ps]
NEVER = np.int64(2**62)  # [ps]

# A row that is there: numba counts negative ones from the end, which costs instructions at every look, and compiles a
# function anew for every kind of number it is given.
place = np.uint32

# One row: scalars that the kernels share.
WORLD = np.dtype(
    [
        ("now", "i8"),  # [ps]
        ("heap", "i8"),  # entries in the event heap
        ("bits", "i8"),  # of an event's number in its key
        ("free_packet", "i8"),  # first free packet, -1: none
        ("free_packets", "i8"),
        ("timers", "i8"),
        ("completions", "i8"),
        ("parked", "i8"),  # messages without a path
        ("messages", "i8"),  # under way
        ("seed", "u8"),
        ("events", "i8"),
        ("data_hops", "i8"),  # data packets x links, retransmissions included
        ("progress", "i8"),  # packets that were new to their receiver
        ("stuck", "i8"),  # connection that times out without end, plus 1; 0: none
        ("duplicates", "i8"),  # packets that it had already
        ("links", "i8"),
        ("lanes", "i8"),  # of every link: 1, virtual ones, or one per priority
        ("priorities", "i8"),  # 1: lanes are those of priorities
        ("strict", "i8"),  # so many of them, the first ones, are served strictly before the others
        ("int_hops", "i8"),  # INT records kept per packet, 0: none
        # for schemes that choose a path at switches
        ("steered", "i8"),  # 1: there is one
        ("goals", "i8"),  # targets in their tables of next hops
        ("goal_devices", "i8"),  # where those are listed
        ("uplinks", "i8"),  # most of a leaf
        ("conga", "i8"),  # rows of `memory` before CONGA's
        ("conga_class", "i8"),  # class of traffic that CONGA steers, plus 1; 0: none
        ("sample_next", "i8"),  # [ps] time of the next sample
        ("sample_port", "i8"),  # that it reads next
        ("sample_step", "i8"),  # [ps], 0: no samples
        ("samples", "i8"),
    ],
    align=True,
)

# Port i is the egress queue of link i. Its queues and its wire are lists of packets. The fields stand in the order in
# which they are used: what every event touches is in few cache lines.
# Without lanes that row is its lane 0 as well. Else lane v = 1, 2, ... of it has row i + v x links: queues and their
# thresholds, rings, pauses, credits and the buffer at the far end are the lane's own; all else is the port's, as are
# its sums over the lanes.
PORT = whole_lines(
    [
        # the queues and the wire, 64 bytes that every event touches
        ("busy_until", "i8"),  # [ps] end of the transmission under way
        ("ps_per_byte", "f8"),
        ("delay", "i8"),  # [ps] of the wire
        ("data_head", "i4"),
        ("data_tail", "i4"),
        ("control_head", "i4"),
        ("control_tail", "i4"),
        ("wire_head", "i4"),
        ("wire_tail", "i4"),
        ("node", "u4"),  # device at whose egress it stands
        ("far", "u4"),  # device at the other end
        ("ring", "i4"),  # connection that sends next, of those whose first link this is; -1: none; of a port: HAS_LANES
        ("lossless", "i4"),  # NONE, PFC or CREDITS, towards the far end
        # what a transmission changes
        ("data_bytes", "i8"),  # in the data queues of all lanes
        ("control_bytes", "i8"),
        ("bytes_out", "i8"),
        ("packets_out", "i8"),
        ("busy", "i8"),  # [ps]
        ("area", "f8"),  # integral of the data queue over time [bytes ps]
        ("area_since", "i8"),
        ("peak", "i8"),  # largest data queue [bytes]
        # what an arrival at the far end looks at
        ("ingress_bytes", "i8"),  # waiting in egress queues there
        ("pausing", "i4"),  # 1: the far end has sent XOFF
        ("paused", "i4"),  # 1: that has come
        ("down", "i4"),  # 1: it has failed
        ("prompt", "i4"),  # 1: to be looked at as soon as it is free, see `credits`
        ("starving", "i4"),  # whether it waits for credit, see `credits`
        ("lose", "i4"),  # number of the one packet that it loses, from 1; 0: none
        ("loss", "f8"),  # probability that the wire loses a packet
        ("bytes_in", "i8"),
        ("packets_in", "i8"),
        ("xoff", "i8"),  # [bytes]; 0: by the free buffer of the far end
        # settings, and marks
        ("kmin", "i8"),
        ("kmax", "i8"),
        ("pmax", "f8"),
        ("marked", "i8"),
        ("limit", "i8"),  # [bytes] of the data queue; 0: the shared buffer of the device decides
        # credits
        ("credits", "i8"),  # [bytes] free in the far end's input buffer
        ("credit_time", "i8"),  # [ps] at which the first of those on their way comes
        ("credit_head", "i4"),  # those on their way, as a list of packets
        ("credit_tail", "i4"),
        # what happens now and then
        ("raises", "i4"),  # 1: who has crossed it goes on in the next lane
        ("turn", "i4"),  # lane that sent last, or priority whose turn it is, counted from 0 (the strict ones left out)
        ("woken", "i8"),  # [ps] for which a wake-up stands in the heap
        ("xon", "i8"),  # [bytes]; with xoff 0: how far below it
        ("pause_alpha", "f8"),  # with xoff 0: part of the free buffer of the far end at which it is paused
        ("headroom", "i8"),
        ("frame", "i8"),  # [ps] at which the last XOFF or XON comes to it, each later than the one before
        ("after_xoff", "i8"),  # [bytes] that have come since XOFF was sent
        # pull pacer of the far end: connections that want credit, in a list
        ("pull_head", "i4"),
        ("pull_tail", "i4"),
        ("pull_armed", "i8"),  # 1: its event stands in the heap
        ("pull_time", "i8"),  # [ps] of the next grant
        ("trims", "i4"),
        ("marks_arrivals", "i4"),  # 1: by the queue that a packet finds, 0: by the one that it leaves behind
        # counters
        ("dropped", "i8"),
        ("dropped_bytes", "i8"),
        ("trimmed", "i8"),
        ("pauses", "i8"),  # XOFFs that reached this port
        ("paused_since", "i8"),
        ("paused_time", "i8"),  # [ps]
        ("load", "f8"),  # [bytes] sent of late, as CONGA estimates it
        ("load_time", "i8"),  # [ps] up to which it has decayed
        # lanes that share a port by their weights
        ("quantum", "i8"),  # [bytes] that a turn brings; 0: turns are packets, or it is strict
        ("deficit", "i8"),  # [bytes] left of this turn
    ],
)
NONE, PFC, CREDITS = range(3)
HAS_LANES = 0  # in the place of a ring: those of the lanes are to be looked at

DEVICE = np.dtype(
    [
        ("buffer", "i8"),  # [bytes] shared by all ports; 0: every port has its own limit
        ("used", "i8"),
        ("alpha", "f8"),  # dynamic threshold: a lossy queue may hold alpha x what is free
        ("pausing", "i8"),  # ingress links that it has paused
        ("first_port", "i8"),  # its egress ports: device_ports[first_port : first_port + ports]
        ("ports", "i8"),
    ],
    align=True,
)

PACKET = np.dtype(
    [
        ("arrival", "i8"),  # [ps] at the far end of the wire it is on; in a data queue: the packet before it
        ("sent", "i8"),  # [ps] when the data packet left its sender; echoed by its acknowledgement
        ("hop", "u4"),  # where in `path_links` the link stands that it is on
        ("next", "i4"),  # in the list it is in
        ("connection", "u4"),
        ("sequence", "i4"),  # of the data packet, or of the one acknowledged
        ("acknowledged", "i4"),  # cumulative: all before this number have arrived; else what a control tells or grants
        ("message", "i4"),  # of an acknowledgement: bit i: the packet i + 1 beyond `acknowledged` has arrived
        ("bytes", "i4"),  # on the wire
        ("ingress", "i4"),  # lane (row of PORT) by which it came to where it waits, -1: it started here
        ("entropy", "i4"),  # which of the connection's paths it takes
        ("kind", "i1"),
        ("control", "i1"),  # 1: strict priority class
        ("marked", "i1"),
        ("trimmed", "i1"),
        ("hops", "i1"),  # INT records so far
        ("echo", "i1"),  # of an acknowledgement: a data packet was marked; of a data packet: its sender asks for one
        ("lane", "i1"),
        ("uplink", "i2"),  # CONGA: of the first leaf, and the largest congestion on the way
        ("congestion", "i2"),
    ],
    align=True,
)
DATA, ACK, NACK, CREDIT, CNP = range(5)

# What a switch stamps on a packet that it sends.
INT = np.dtype([("time", "f8"), ("bytes", "f8"), ("queue", "f8"), ("rate", "f8"), ("port", "i8")], align=True)

SETTINGS = np.dtype(
    [
        ("ack_priority", "i8"),  # 1: acknowledgements travel in the control class
        ("trim_size", "i8"),
    ],
    align=True,
)

# What is kept of every port at equal intervals of time, sample by sample: counters up to then.
SAMPLE = np.dtype([("bytes", "f8"), ("area", "f8")], align=True)
# The same of chosen connections: `connection` less 1; 0: of none as yet.
PROBE = np.dtype(
    [("window", "f8"), ("rate", "f8"), ("inflight", "f8"), ("rtt", "f8"), ("sent", "f8"), ("connection", "i8")],
    align=True,
)

# Numbers of events: kind x rows of PORT + row for the first kinds, then 2 per connection, then the sampler.
ARRIVE, WAKE, PAUSE, RESUME, CREDIT_BACK, PULL = range(6)
PORT_EVENTS = 6
DUE, TIMEOUT = range(2)


def number_bits(ports: int, connections: int) -> int:
    """Bits of an event's number in its key, with so many rows of PORT and CONNECTION."""
    return int(PORT_EVENTS * ports + 2 * connections + 2).bit_length()


def time_bits(numbers: int) -> int:
    """Bits that are left for its time [ps]: keys stay below 2^62."""
    return 62 - numbers
