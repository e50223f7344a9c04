"""Pull pacers: a receiving port grants credit to its senders, one packet at a time, round robin.

Connections that want credit stand in a list of their receiving port. A grant is a packet of the control class.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.congestion_control import eqds
from simnet.network.packet_level.heap import push
from simnet.network.packet_level.packet_pool import packet_of
from simnet.network.packet_level.state import CREDIT, PULL


@kernel
def _stand_in_line(c, connections, ports):
    p = ports[connections[c].pull_port]
    connections[c].pulling = 1
    connections[c].pull_next = -1
    if p.pull_head < 0:
        p.pull_head = c
    else:
        connections[p.pull_tail].pull_next = c
    p.pull_tail = c


@kernel
def _wants_credit(c, connections, params):
    k = connections[c]
    return k.paths > 0 and eqds.wants_credit(k, params[k.params])


@kernel
def _arm(port, now, ports, heap, world):
    p = ports[port]
    if p.pull_head >= 0 and p.pull_armed == 0:
        p.pull_armed = 1
        push(max(now, p.pull_time), PULL * len(ports) + port, heap, world)


@kernel
def request(c, now, connections, params, ports, heap, world):
    """A data packet has told what its sender wants: put it in line unless it stands there."""
    if connections[c].pulling == 0 and _wants_credit(c, connections, params):
        _stand_in_line(c, connections, ports)
        _arm(connections[c].pull_port, now, ports, heap, world)


@kernel
def next_grant(port, now, connections, params, ports, packets, paths, heap, world):
    """The pacer's turn at `now` [ps]: the packet that grants credit to the first in line, or -1."""
    p = ports[port]
    p.pull_armed = 0
    while p.pull_head >= 0:
        c = p.pull_head
        k = connections[c]
        p.pull_head = k.pull_next
        k.pulling = 0
        if not _wants_credit(c, connections, params):
            continue
        slot = _grant(c, now, connections, packets, paths, world)
        if _wants_credit(c, connections, params):
            _stand_in_line(c, connections, ports)
        packet = (k.mtu + k.header) * p.ps_per_byte
        p.pull_time = now + np.int64(packet / params[k.params, eqds.PULL_RATE])
        _arm(port, now, ports, heap, world)
        return slot
    return np.int64(-1)


@kernel
def _grant(c, now, connections, packets, paths, world):
    """Make the packet that grants a connection more credit; returns its slot."""
    k = connections[c]
    granted = np.int64(eqds.grant(k))
    slot = packet_of(c, CREDIT, 1, connections, packets, world)
    p = packets[slot]
    p.sequence = 0
    p.message = 0
    p.acknowledged = granted
    p.bytes = k.ack_size
    p.sent = now
    p.entropy = granted % k.paths
    p.hop = paths[k.first_path + k.paths + p.entropy].start
    return slot
