"""Load balancing at switches, driven without a network: which port the next packet takes."""

import numpy as np
import pytest

from simnet.network.packet_level.connection_state import CONNECTION, MEMORY
from simnet.network.packet_level.load_balancing import adaptive, conga, drill, flowlet
from simnet.network.packet_level.load_balancing.queues import backlog
from simnet.network.packet_level.state import PACKET, PORT, WORLD
from simnet.network.records import table

PORTS = 4
PLACE = 1  # of the set of all ports


class Switch:
    """Switch 3 with idle ports of 1 GB/s (1,000 ps a byte), all as near to the destination."""

    def __init__(self):
        self.ports, self.packets, self.world = table(PORTS, PORT), table(1, PACKET), table(1, WORLD)
        self.ports.ps_per_byte = 1000.0
        self.hops = np.array([0, PORTS, 0, *range(PORTS)], np.int32)
        self.memory = table(64, MEMORY)
        self.memory.switch = -1
        self.packet = self.packets[0]
        self.packet.bytes = 1000

    def next_packet(self, connection: int = 0):
        self.packet.connection = connection
        self.packet.sequence += 1
        return self.packet

    def adaptive(self, now: int = 0, step: float = 1.0) -> int:
        row = np.array([step])
        return int(adaptive.choose(self.next_packet(), 3, PLACE, row, now, self.ports, self.hops, self.world))

    def drill(self, *params, now: int = 0) -> int:
        row = np.array(params, float)
        return int(drill.choose(self.next_packet(), 3, PLACE, row, now, self.ports, self.hops, self.world))

    def flowlet(self, now: int, connection: int = 0) -> int:
        packet, row = self.next_packet(connection), np.array([100e-6])
        return int(flowlet.choose(packet, 3, PLACE, row, now, self.hops, self.memory, self.world))


def test_backlog_takes_off_what_a_port_has_sent_since_it_was_looked_at():
    switch = Switch()
    switch.ports[0].data_bytes, switch.ports[0].busy_until = 3000, 1_000_000

    def seen(now: int) -> float:
        return backlog(switch.packet, 0, now, switch.ports, switch.world)

    assert [seen(t) for t in (0, 1_000_000, 2_000_000, 9_000_000)] == [4000, 3000, 2000, 0]
    switch.ports[0].paused = 1
    assert seen(9_000_000) > 1e9


def test_adaptive_takes_the_least_loaded_port_and_draws_among_equals():
    switch = Switch()
    switch.ports.data_bytes = [3000, 1000, 2000, 1000]
    counts = np.bincount([switch.adaptive() for _ in range(400)], minlength=PORTS)
    assert counts[0] == counts[2] == 0
    assert 150 < counts[1] < 250


def test_drill_with_as_many_samples_as_it_likes_finds_the_shortest_queue():
    switch = Switch()
    switch.ports.data_bytes = [3000, 500, 2000, 1000]
    assert {switch.drill(64, 0) for _ in range(50)} == {1}


def test_drill_remembers_the_best_port():
    switch = Switch()
    switch.ports.data_bytes = [3000, 500, 2000, 1000]
    chosen = [switch.drill(2, 1) for _ in range(100)]
    first = chosen.index(1)
    assert set(chosen[first:]) == {1}
    assert len({switch.drill(1, 0) for _ in range(100)}) == PORTS  # one sample without memory: random


def test_a_steady_flow_never_switches_flowlet_and_a_pause_may_switch_it():
    switch = Switch()
    steady = {switch.flowlet(now) for now in range(0, 10**9, 90_000_000)}  # a packet every 90 us
    assert len(steady) == 1
    after_gaps = {switch.flowlet(10**9 + i * 110_000_000) for i in range(50)}
    assert len(after_gaps) == PORTS


def test_flowlets_of_connections_are_apart():
    switch = Switch()
    ports = [switch.flowlet(1000, connection) for connection in range(8)]
    assert len(set(ports)) > 1
    assert ports == [switch.flowlet(2000, connection) for connection in range(8)]


@pytest.fixture
def leaf():
    """Switch 3 is leaf 0 of two, with all its ports as uplinks towards leaf 1."""
    switch = Switch()
    switch.world.goals, switch.world.uplinks, switch.world.conga = 2, PORTS, 8
    switch.connections = table(1, CONNECTION)
    switch.connections.home, switch.connections.goal = 0, 1
    switch.row = np.array([100e-6, 50e-6, 0.2, 3, 500e-6])
    return switch


def uplink(leaf, now: int) -> int:
    k, packet = leaf.connections[0], leaf.next_packet()
    return int(
        conga.choose(packet, k, 3, PLACE, leaf.row, now, leaf.ports, leaf.hops, leaf.memory, leaf.world)
    )  # fmt: skip


def test_conga_measures_a_full_link_as_two_to_the_q(leaf):
    # 1 GB/s for 2 ms: X tends to rate t / alpha, just before a decay to that plus nothing
    for i in range(2000):
        conga.load(leaf.next_packet(), 0, leaf.row, i * 1_000_000, leaf.ports)
    assert leaf.packet.congestion in (7, 8)
    assert conga._decayed(leaf.ports[0], leaf.row, 2_000_000_000 + 3_000_000_000) == 0


def test_conga_avoids_what_is_loaded_here_or_there(leaf):
    k = leaf.connections[0]
    for i in range(1000):
        conga.load(leaf.next_packet(), 0, leaf.row, i * 1_000_000, leaf.ports)
    # data over uplink 1 met congestion 6 on its way; leaf 1 tells leaf 0 in the turn of that uplink
    leaf.packet.uplink, leaf.packet.congestion = 1, 6
    conga.arrived(leaf.packet, k, leaf.memory, leaf.world)
    for _ in range(PORTS):
        conga.hand_back(leaf.packet, k, leaf.memory, leaf.world)
        conga.told(leaf.packet, k, 1_000_000_000, leaf.memory, leaf.world)
    gaps = [1_000_000_000 + i * 101_000_000 for i in range(1, 4)]
    assert {uplink(leaf, now) for now in gaps} <= {2, 3}
    aged = {uplink(leaf, 10_000_000_000 + i * 101_000_000) for i in range(60)}
    assert aged == {0, 1, 2, 3}


def test_conga_keeps_the_uplink_within_a_flowlet(leaf):
    first = uplink(leaf, 1000)
    for i in range(1000):
        conga.load(leaf.next_packet(), first, leaf.row, 1000 + i, leaf.ports)
    assert uplink(leaf, 50_000_000) == first
