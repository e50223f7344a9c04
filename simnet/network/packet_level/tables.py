"""All arrays of a packet-level model, as its kernels take them, and how they are made longer."""

import numpy as np

from simnet import hashing
from simnet.errors import SimnetError
from simnet.network.packet_level import settings
from simnet.network.packet_level.connection_state import CONNECTION, FEEDBACK, MESSAGE
from simnet.network.packet_level.fabric import device_table, port_table
from simnet.network.packet_level.heap import empty_heap, grown_heap, room
from simnet.network.packet_level.queues import lane_names
from simnet.network.packet_level.settings import Settings
from simnet.network.packet_level.state import INT, PACKET, SECOND, WORLD, number_bits, time_bits
from simnet.network.records import grown, table
from simnet.network.scenario import Scenario


class Tables:
    """The state of a model between two calls of its kernel; every array may be replaced by a longer one.

    connected: rows of `connections` that are taken, the first ones. lane_names: of lanes 1, 2, ... of ports, if any.
    """

    def __init__(self, scenario: Scenario, classes: tuple[Settings, ...]):
        """classes: settings of all classes of traffic."""
        shared, queues = classes[0].ports, settings.queues_in_turn(classes)
        self.world = table(1, WORLD)
        self.world.seed = hashing.keys(scenario.seed, 0)[()]
        self.world.free_packet = -1
        self.world.int_hops = shared.int_hops
        self.world.links = len(scenario.topology.links)
        self.world.lanes = max(len(queues), shared.ports.virtual_lanes)
        self.world.priorities = len(queues) > 1
        self.world.strict = sum(queue.own.strict for queue in queues)
        self.lane_names = lane_names(queues)
        self.ports = port_table(scenario.topology, queues)
        self.devices, self.device_ports = device_table(scenario.topology, shared)
        self.packets = table(0, PACKET)
        self.records = table(1, INT)
        self.connections, self.connected = table(0, CONNECTION), 0
        self.messages = table(0, MESSAGE)
        self.bits = np.zeros((0, 3, max(c.words for c in classes)), np.uint64)
        self.params = settings.control_rows(classes)
        self.balancers = settings.balancer_rows(classes)
        self.settings = shared.row()
        self.feedback = table(1, FEEDBACK)
        self.heap = empty_heap(1024)
        self.add_packets(1024)
        self._number_bits()

    # -- time -----------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The kernel's time [s]."""
        return int(self.world[0].now) / SECOND

    def ticks(self, seconds: float) -> int:
        """A time in whole picoseconds. Raises SimnetError where keys of the heap have no room for it."""
        ticks = round(seconds * SECOND)
        room = time_bits(int(self.world[0].bits))
        if ticks >> room:
            limit = (1 << room) / SECOND
            raise SimnetError(f"the packet-level model counts picoseconds and cannot go beyond {limit:.3g} s here")
        return ticks

    def latest(self, connections: int) -> float:
        """Where picoseconds end with so many connections [s]; the table of them grows ahead of its need."""
        return (1 << time_bits(number_bits(len(self.ports), 2 * connections))) / SECOND

    # -- room -----------------------------------------------------------------------------------------------

    def add_connections(self, more: int) -> int:
        """Take `more` rows of connections; returns the first."""
        first, self.connected = self.connected, self.connected + more
        if self.connected > len(self.connections):
            self.connections = grown(self.connections, self.connected)
            bits = np.zeros((len(self.connections), *self.bits.shape[1:]), np.uint64)
            bits[: len(self.bits)] = self.bits
            self.bits = bits
            self._number_bits()
        return first

    def fit_messages(self, flows: int) -> None:
        """Make room for a message per flow of the graphs under way."""
        if flows > len(self.messages):
            self.messages = grown(self.messages, flows)

    def add_events(self, more: int) -> None:
        """Make room for `more` events."""
        if int(self.world[0].heap) + more > room(self.heap):
            self.heap = grown_heap(self.heap, room(self.heap) + more + 1024)

    def add_packets(self, more: int) -> None:
        """Put `more` free packets, and room for their INT records, behind the others."""
        before, world = len(self.packets), self.world[0]
        packets = table(before + more, PACKET)
        packets[:before] = self.packets
        packets.next[before:-1] = np.arange(before + 1, before + more)
        packets.next[-1] = world.free_packet
        world.free_packet = before
        world.free_packets += more
        self.packets = packets
        if world.int_hops:
            records = table(len(packets) * int(world.int_hops), INT)
            records[: len(self.records)] = self.records
            self.records = records

    def _number_bits(self) -> None:
        """Bits that an event's number takes in its key; keys in the heap are written anew when they change."""
        world = self.world[0]
        bits = number_bits(len(self.ports), len(self.connections))
        used = int(world.heap)
        if used and bits != world.bits:
            keys = self.heap[:used]
            times, numbers = keys >> world.bits, keys & ((1 << int(world.bits)) - 1)
            self.heap[:used] = (times << bits) | numbers
        world.bits = bits
