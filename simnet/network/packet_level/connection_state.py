"""Record arrays of connections: what their two ends know, their paths and messages, what acknowledgements tell them.

Times are whole picoseconds, sizes bytes on the wire.
"""

import numpy as np

from simnet.network.records import whole_lines

# One of the ways of a connection.
PATH = np.dtype(
    [
        ("start", "i4"),  # in `path_links`; the path ends before -1
        ("penalty", "i2"),  # packets that are still to avoid it
        ("waiting", "i2"),  # packets that have not been answered
    ],
    align=True,
)

# What a switch remembers of a connection's flowlet, or a leaf of the congestion of another one's uplink.
MEMORY = np.dtype([("time", "i8"), ("switch", "i4"), ("value", "i4"), ("heard", "i4")], align=True)

# A flow of a started graph while it is being sent; row f belongs to flow f.
MESSAGE = np.dtype(
    [
        ("first", "i4"),  # sequence number of its first packet
        ("packets", "i4"),
        ("last_payload", "i4"),  # of its last packet [bytes]
        ("arrived", "i4"),  # packets
        ("next", "i4"),  # message of the same connection, -1: none
    ],
    align=True,
)

CC_SLOTS = 48
CONNECTION = whole_lines(
    [
        # as `dependencies` wants them
        ("source", "i4"),
        ("destination", "i4"),
        ("delay", "f8"),  # [ps]
        # where it goes
        ("first_path", "i8"),  # rows first_path ... of PATH, those of data first, then those of acknowledgements
        ("paths", "i4"),  # of each; 0: from a device to itself, -1: no path
        ("port", "i4"),  # link on which it starts
        ("next_port", "i4"),  # the same on its newest paths
        ("lane", "i4"),  # in which its packets start
        ("row", "i4"),  # of PORT: this lane of its first link
        ("entry", "i4"),  # links before the first switch of the fabric
        ("exit", "i8"),  # of its first path: where the last link that leaves a switch stands in `path_links`
        ("home", "i4"),  # number of the leaf it starts from, in the tables of next hops; -1: none
        ("goal", "i4"),  # of the leaf (or device) that it goes to
        ("control_kind", "i4"),  # congestion control
        ("params", "i4"),  # row of its parameters
        ("balancer", "i4"),  # load balancing
        ("balancer_params", "i4"),
        ("transport", "i4"),
        ("state", "i4"),
        ("ring_next", "i4"),
        ("ring_previous", "i4"),
        # sender
        ("total", "i4"),  # packets of all messages so far
        ("next_sequence", "i4"),
        ("unacknowledged", "i4"),  # all before this have been acknowledged
        ("highest", "i4"),  # first number never sent
        ("recovery", "i4"),  # losses before this number belong to one event
        ("lost", "i4"),  # packets to send again
        ("message", "i4"),  # of next_sequence, -1: none
        ("oldest", "i4"),  # first message with unacknowledged packets
        ("newest", "i4"),
        ("inflight", "f8"),  # [bytes]
        ("window", "f8"),  # [bytes]
        ("rate", "f8"),  # [bytes/s] of pacing; inf: none
        ("credit", "f8"),  # [bytes] that the receiver has granted
        ("next_send", "i8"),  # [ps] by pacing
        ("last_sent", "i8"),  # [ps]
        ("last_size", "f8"),  # [bytes]
        ("due", "i8"),  # [ps] for which its event of pacing stands in the heap
        ("deadline", "i8"),  # [ps] of the retransmission timeout
        ("timer", "i8"),  # [ps] for which its timeout stands in the heap, 0: none
        ("timeout", "i8"),  # [ps]
        ("line_rate", "f8"),  # [bytes/s] of its slowest link
        ("base_rtt", "f8"),  # [s] without queues, one full packet
        ("rtt", "f8"),  # [s] last sample
        ("mtu", "f8"),  # payload of a full packet [bytes]
        ("header", "f8"),  # [bytes]
        ("ack_size", "i4"),  # [bytes]
        ("duplicates", "i4"),  # packets acknowledged beyond a missing one that make it lost; 0: only a timeout does
        ("sent_bytes", "f8"),
        ("resent_packets", "i8"),
        ("resent_bytes", "i8"),
        ("timeouts", "i8"),
        ("barren", "i8"),  # timeouts since something was acknowledged
        ("cap", "f8"),  # [bytes/s] that it never exceeds
        ("choice", "f8", (16,)),  # scratch of the load balancer
        ("cc", "f8", (CC_SLOTS,)),  # scratch of the congestion control
        # receiver
        ("expected", "i4"),  # all before this have arrived
        ("pull_port", "i4"),  # link whose far end grants credit
        ("pull_next", "i4"),
        ("pulling", "i4"),  # 1: it stands in line for credit
        ("reorder", "i4"),  # packets beyond `expected` that are kept
        ("ack_every", "i4"),  # packets for one acknowledgement, where nothing calls for one sooner
        ("unanswered", "i4"),  # packets since the last
        ("nacked", "i4"),  # sequence number that the last NACK asked for
        ("nack_time", "i8"),  # [ps] of the last NACK
        ("receiver", "f8", (8,)),  # scratch of the congestion control at the receiver
    ],
)
IDLE, IN_RING, WINDOW_FULL, PACED = range(4)
GO_BACK_N, SELECTIVE, TRIM = range(3)

# What an acknowledgement tells a congestion control.
FEEDBACK = np.dtype(
    [
        ("bytes", "f8"),  # newly acknowledged, on the wire
        ("marked", "i8"),  # 1: the data packet carried an ECN mark
        ("rtt", "f8"),  # [s]
        ("sequence", "i8"),  # of the data packet
        ("hops", "i8"),  # INT records in `records` from row `first` on
        ("first", "i8"),
    ],
    align=True,
)
