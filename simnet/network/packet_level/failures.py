"""Links that change, fail and return."""

from simnet.jit import kernel
from simnet.network.packet_level import sender
from simnet.network.packet_level.connection_state import IDLE, IN_RING
from simnet.network.packet_level.heap import push
from simnet.network.packet_level.packet_pool import free_packet
from simnet.network.packet_level.port import leave_ingress, note_queue
from simnet.network.packet_level.state import DUE, WAKE


@kernel
def look_at_all(now, ports, heap, world):
    """Have every port looked at, so that what has started by `now` [ps] has done so on the links as they were."""
    for port in range(world[0].links):
        push(now, WAKE * len(ports) + port, heap, world)


@kernel
def cut(port, now, ports, devices, packets, heap, world):
    """A link fails: what waits for it is lost now, what is on its wire when it would have arrived."""
    p = ports[port]
    p.down = 1
    note_queue(p, now)
    for row in range(port, len(ports), world[0].links):
        lane = ports[row]
        _drop_all(lane.data_head, port, now, ports, devices, packets, heap, world)
        _drop_all(lane.control_head, port, now, ports, devices, packets, heap, world)
        lane.data_head = -1
        lane.control_head = -1
        lane.data_bytes = 0
        if lane.paused == 1:
            lane.paused = 0
            lane.paused_time += now - lane.paused_since
        if lane.pausing == 1:
            lane.pausing = 0
            lane.after_xoff = 0
            devices[p.far].pausing -= 1
    p.control_bytes = 0


@kernel
def _drop_all(slot, port, now, ports, devices, packets, heap, world):
    """Drop a packet in a queue of a port and all behind it."""
    while slot >= 0:
        following = packets[slot].next
        ports[port].dropped += 1
        ports[port].dropped_bytes += packets[slot].bytes
        leave_ingress(slot, now, ports, devices, packets, heap, world)
        free_packet(slot, packets, world)
        slot = following


@kernel
def put_back(c, now, connections, ports, heap, world):
    """A connection has new paths: take it from its old port's ring, and have its new port look at it right away."""
    k = connections[c]
    if k.state == IN_RING:
        sender.leave_ring(c, IDLE, connections, ports)
    k.port = k.next_port
    k.row = k.port + k.lane * world[0].links
    if k.total > 0 and k.paths > 0:
        k.due = now
        sender.push_event(DUE, c, now, ports, heap, world)
