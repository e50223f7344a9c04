"""How priorities share a port: by weight, or strictly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.connection_state import CONNECTION
from simnet.network.packet_level.lanes import book, next_priority
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.state import HAS_LANES, PACKET, PORT, WORLD
from simnet.network.records import table
from simnet.network.scenario import Scenario
from tests.network.packet_level.measuring import run_to
from tests.network.packet_level.priorities import PACKET_TIME, WIRE, B, ends, policies, started
from tests.network.systems import drain, star


def received(model: PacketModel) -> np.ndarray:
    """Bytes on the wire that have arrived, per connection."""
    return np.array(model.tables.connections.expected[: model.tables.connected]) * 4160.0


@hypothesis_settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=2, max_size=4), st.booleans(), st.integers(60, 300))
def test_backlogged_priorities_share_a_link_by_their_weights(weights, at_the_sender, microseconds):
    """To within a turn, and what a turn may take too much and miss: a packet, which is a turn of the least weight."""
    topology, n = star(2 * len(weights), B), len(weights)
    own = {i: {"weight": w} for i, w in enumerate(weights)}
    # one host to many at its own port, or many to one at the switch's
    sends = [(i, 0, 1 + i, 1e9) if at_the_sender else (i, 1 + i, 0, 1e9) for i in range(n)]
    model = started(topology, policies(range(1, n), {"pfc": {"xoff": "400kB", "xon": "300kB"}}, own), sends)
    run_to(model, 100e-6)
    before = received(model)
    run_to(model, 100e-6 + microseconds * 1e-6)
    sent = received(model) - before
    assert sent.sum() == pytest.approx(microseconds * 1e-6 * B, abs=2 * 4160)
    turns = sent / (np.array(weights) * 4160 / min(weights))  # each a quantum
    assert turns.max() - turns.min() <= 1 + 2


def test_weights_of_three_to_one():
    topology = star(3, B)
    model = started(topology, policies(own={0: {"weight": 3}}), [(0, 1, 0, 1e9), (1, 2, 0, 1e9)])
    run_to(model, 100e-6)
    before = received(model)
    run_to(model, 1.1e-3)
    assert (received(model) - before) / (1e-3 * B) == pytest.approx([0.75, 0.25], abs=4 * PACKET_TIME / 1e-3)


def test_what_a_priority_leaves_goes_to_the_others():
    topology = star(4, B)
    sends = [(0, 1, 0, 8e5), (1, 2, 0, 8e5), (2, 3, 0, 8e5)]
    first, second, third = ends(topology, policies([1, 2], own={1: {"weight": 2}, 2: {"weight": 5}}), sends)
    # 1 : 2 : 5 until the last one is through, then 1 : 2, then alone
    turn, way = 8e5 * WIRE / B, 2e-6 + PACKET_TIME
    assert third - way == pytest.approx(8 / 5 * turn, abs=8 * PACKET_TIME)
    assert second - way == pytest.approx(8 / 5 * turn + (1 - 2 / 5) * 3 / 2 * turn, abs=8 * PACKET_TIME)
    assert first - way == pytest.approx(3 * turn, abs=PACKET_TIME)


@pytest.mark.parametrize("at_the_sender", [True, False])
def test_a_strict_priority_leaves_the_others_the_rest(at_the_sender):
    topology = star(4, B)
    sends = [(1, 1, 0, 1e6), (0, 1, 2, 2e6)] if at_the_sender else [(1, 1, 0, 1e6), (0, 2, 0, 2e6)]
    strict, other = ends(topology, policies(own={1: {"strict": True}}), sends)
    assert strict == pytest.approx(1e6 * WIRE / B + 2e-6 + PACKET_TIME, rel=0.01)
    assert other == pytest.approx(3e6 * WIRE / B + 2e-6 + PACKET_TIME, rel=0.01)


def test_a_strict_priority_of_a_third_of_the_link_leaves_two_thirds():
    topology = star(3, B)
    model = PacketModel(Scenario(topology, 1, policies(own={1: {"strict": True}})))
    hosts = np.array([topology.id_of(f"h{i}") for i in range(3)])
    model.start(flow_graph(2, [0], [1], [0], 1e7, rate_cap=B / 3, traffic_class=1), hosts[[1, 0]], 0, 0.0)
    model.start(flow_graph(2, [0], [1], [0], 1e6), hosts[[2, 0]], 1, 0.0)
    times = {c.graph: c.time for c in drain(model) if c.rank == 1}
    assert times[1] == pytest.approx(1.5 * 1e6 * WIRE / B + 2e-6 + PACKET_TIME, rel=0.01)
    assert times[0] == pytest.approx(3 * 1e7 * WIRE / B + 2e-6 + PACKET_TIME, rel=0.01)


def test_of_strict_ones_the_higher_number_comes_first():
    own = {n: {"strict": True} for n in (2, 5)}
    sends = [(c, c + 1, 0, 1e6) for c in range(3)]
    last, second, first = ends(star(4, B), policies([2, 5], own=own), sends)
    turn = 1e6 * WIRE / B
    assert [first, second, last] == pytest.approx([turn, 2 * turn, 3 * turn], rel=0.04)


def test_whose_turn_it_is_at_a_port():
    """A strict priority and two of weights 2 and 1 with packets of 1000 B, then a control packet in the last."""
    ports, packets, world = table(4, PORT), table(4, PACKET), table(1, WORLD)
    world.links, world.lanes, world.priorities, world.strict = 1, 3, 1, 1
    ports.control_head, ports.ring = -1, [HAS_LANES, -1, -1, -1]
    ports.data_head, ports.quantum = [-1, 0, 1, 2], [0, 0, 2000, 1000]
    packets.bytes = 1000

    def rows(turns: int, size: int = 1000) -> list[int]:
        found = []
        for _ in range(turns):
            found.append(int(next_priority(0, ports, packets, table(1, CONNECTION), world)))
            book(found[-1], size, 0, ports, world)
        return found

    assert rows(2) == [1, 1]
    ports[1].paused = 1
    assert rows(7) == [2, 2, 3, 2, 2, 3, 2]
    ports[1].paused = 0
    assert rows(1) == [1]
    ports[1].data_head = -1
    assert rows(2) == [2, 3]  # its turn goes on where it was
    assert rows(6, size=1500) == [2, 2, 3, 2, 3, 2]  # what is taken too much is missing the next time
    ports[3].control_head = 3
    assert next_priority(0, ports, packets, table(1, CONNECTION), world) == 3
    ports.control_head, ports.data_head = -1, -1
    assert next_priority(0, ports, packets, table(1, CONNECTION), world) == -1
