"""Links that change, fail and return; deadlocks and cut-off flows that are reported, not waited for."""

import math

import numpy as np
import pytest

from simnet.errors import SimnetError
from simnet.flow_graph import flow_graph
from simnet.network.model import STUCK, UNREACHABLE, LinkChange
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.parameters import Loss, Pfc, Ports
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.topology import Topology
from tests.network.packet_level.measuring import link_to
from tests.network.systems import finish_times, leaf_spine, star

RATE = 12.5e9
NONE = Policies(congestion_control={"kind": "none"})


def test_a_slower_link_slows_what_is_sent_over_it():
    # half of 4 MB at full rate, half at a quarter
    topology = star(2, RATE)
    changes = [LinkChange(160e-6, link, RATE / 4) for link in range(len(topology.links))]
    size = 4_000_000
    times = finish_times(PacketModel(Scenario(topology, 1, NONE, changes)), flow_graph(2, [0], [1], [0], size), [1, 2])
    wire = size * 4160 / 4096 / RATE
    assert times[0] == pytest.approx(160e-6 + (wire - 160e-6) * 4, rel=0.02)


def test_a_failed_spine_is_left_and_what_was_lost_is_sent_again():
    topology = leaf_spine(2, 2, 1, RATE)
    a, b = topology.gpus
    graph = flow_graph(2, [0], [1], [0], 2_000_000)
    network = PacketModel(Scenario(topology, 1, NONE))
    alone = finish_times(network, graph, [a, b])[0]
    used = np.flatnonzero(network.report().bytes)
    spine = next(d for d in (2, 3) if any(topology.links[i].destination == d for i in used))
    links = [i for i, k in enumerate(topology.links) if spine in (k.source, k.destination)]
    changes = [LinkChange(80e-6, link, 0.0) for link in links]
    times = finish_times(PacketModel(Scenario(topology, 1, NONE, changes)), graph, [a, b])
    # what was in flight is lost; the first packet over the other spine shows the gap, and the sender goes back
    round_trip = 8e-6 + 5 * 4160 / RATE
    assert alone < times[0] < alone + 2 * round_trip


def test_a_flow_cut_off_for_ever_is_reported_by_name():
    topology = star(2, RATE)
    network = PacketModel(Scenario(topology, 1, NONE, [LinkChange(50e-6, i, 0.0) for i in range(2)]))
    network.start(flow_graph(2, [0], [1], [0], 2_000_000), np.array([1, 2]), 0, 0.0)
    (lost,) = network.advance(math.inf)
    assert (lost.outcome, lost.detail) == (UNREACHABLE, "no path from h0 to h1")
    assert lost.time == pytest.approx(50e-6)


def test_a_flow_waits_for_a_link_that_returns():
    topology = star(2, RATE)
    down, up = ([LinkChange(t, i, rate) for i in range(2)] for t, rate in ((50e-6, 0.0), (10e-3, RATE)))
    times = finish_times(
        PacketModel(Scenario(topology, 1, NONE, down + up)), flow_graph(2, [0], [1], [0], 2_000_000), [1, 2]
    )
    assert times[0] > 10e-3


def test_timeouts_double_while_nothing_comes_back():
    # a wire that loses everything
    topology = star(2, RATE)
    lost = Ports(lossless=False, losses=[Loss(link=("switch", "h1"), probability=1.0)])
    transport = {"kind": "go_back_n", "timeout": "4ms"}
    policies = Policies(congestion_control={"kind": "none"}, ports=lost, transport=transport)
    network = PacketModel(Scenario(topology, 1, policies))
    network.start(flow_graph(2, [0], [1], [0], 10_000), np.array([1, 2]), 0, 0.0)
    assert network.advance(1.0) == []
    # after 4, 12, 28, 60, 124, 252, 508, 764 ms; from the seventh on they are 256 ms apart
    assert int(network.tables.connections.timeouts[0]) == 8


def ring_of_switches() -> Topology:
    """Four switches in a circle of one-way links, a host on each: all traffic runs clockwise."""
    topology = Topology("circle")
    switches = [topology.add_device(f"s{i}", "switch") for i in range(4)]
    hosts = [topology.add_device(f"h{i}", "gpu") for i in range(4)]
    for i in range(4):
        topology.add_link(switches[i], switches[(i + 1) % 4], RATE, 1e-6, "ethernet")
        topology.connect(hosts[i], switches[i], RATE, 1e-6, "ethernet")
    return topology


def test_a_circle_of_pauses_is_a_deadlock_and_named():
    topology = ring_of_switches()
    tight = Ports(pfc=Pfc(xoff="20kB", xon="10kB"))
    policies = Policies(congestion_control={"kind": "none"}, ports=tight)
    network = PacketModel(Scenario(topology, 1, policies))
    # every host sends two switches on: each link of the circle carries two flows, and holds packets for the next
    graph = flow_graph(4, range(4), [2, 3, 0, 1], range(4), 4_000_000)
    network.start(graph, np.array(topology.gpus), 0, 0.0)
    done = []
    while not done or done[-1].outcome == "done":
        more = network.advance(math.inf)
        assert more, "a deadlock must not look like the end of the run"
        done += more
        if len(done) == 4 and all(c.outcome == "done" for c in done):
            pytest.fail("no deadlock formed")
    assert done[-1].outcome == STUCK
    assert done[-1].detail.startswith("deadlock: these links wait for one another in a circle: ")
    assert all(f"s{i} -> s{(i + 1) % 4}" in done[-1].detail for i in range(4))


def test_messages_that_start_later_are_sent_later():
    # one at the start, one long after the first has gone: a port that idles must not send into the past
    topology = star(2, RATE)
    network = PacketModel(Scenario(topology, 1, NONE))
    graph = flow_graph(2, [0], [1], [0], 100_000)
    first = finish_times(network, graph, [1, 2])[0]
    again = finish_times(network, graph, [1, 2], start=5e-3)[0]
    assert again - 5e-3 == pytest.approx(first, abs=1e-12)


def test_packets_that_cannot_be_numbered_are_an_error():
    network = PacketModel(Scenario(star(2, RATE), 1, NONE))
    with pytest.raises(
        SimnetError, match=r"up to 2\.15e\+09 packets of a connection; from h0 to h1 there would be 2\.44e\+14"
    ):
        network.start(flow_graph(2, [0], [1], [0], 1e18), np.array([1, 2]), 0, 0.0)


def test_rate_cap_of_a_connection():
    graph = flow_graph(2, [0], [1], [0], 1_000_000, rate_cap=RATE / 4)
    times = finish_times(PacketModel(Scenario(star(2, RATE), 1, NONE)), graph, [1, 2])
    assert times[0] == pytest.approx(4 * 1_000_000 * 4160 / 4096 / RATE, rel=0.02)


@pytest.mark.parametrize("when", [0.1e-6, 0.9e-6, 1.7e-6, 10.05e-6])
def test_a_rate_counts_from_the_moment_of_its_change(when):
    """Packets that have started by then go on at the old rate, all others go at the new one."""
    topology = star(2, RATE, 1e-6)
    chosen = Policies(congestion_control={"kind": "none"}, transport={"kind": "selective_repeat"})
    link = link_to(topology, "h0", "switch")
    model = PacketModel(Scenario(topology, 1, chosen, [LinkChange(when, link, RATE / 2)]))
    packets, duration = 100, 4160 / RATE
    before = math.ceil(when / duration)
    last = finish_times(model, flow_graph(2, [0], [1], [0], packets * 4096), topology.gpus).max()
    assert last == pytest.approx((before + 2 * (packets - before) + 1) * duration + 2e-6, abs=1e-12)
