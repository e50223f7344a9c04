"""Priorities: classes of traffic with queues of their own at ports, and pauses, marks and losses of those alone."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network.model import STUCK, LinkChange
from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.builders import BUILDERS
from tests.network.packet_level.measuring import check_that_nothing_is_left, link_to, printed_without_jit, settle
from tests.network.packet_level.priorities import (
    LOSSLESS,
    LOSSY,
    NONE,
    PACKET_TIME,
    WIRE,
    B,
    ends,
    of_lanes,
    policies,
    slowed,
    started,
)
from tests.network.packet_level.test_failures import ring_of_switches
from tests.network.systems import drain, leaf_spine, star

# -- one queue, unless a class has a priority of its own ------------------------------------------------------

BUSY = [(0, 1, 0, 4e5), (1, 2, 0, 3e5), (0, 3, 0, 1e5), (1, 1, 4, 2e5)]


def told(chosen: Policies) -> str:
    model = started(star(5, B), chosen, BUSY)
    done, report = drain(model), model.report()
    return repr([done, report.counts, report.bytes.tolist(), [c.tolist() for c in report.ports.values()]])


def test_classes_of_one_priority_share_a_queue():
    alone = told(Policies(congestion_control=NONE, ports=LOSSLESS, classes={"class1": {}}))
    assert told(policies([0])) == alone
    assert told(policies([0], own={0: {"weight": 7, "strict": True}})) == alone
    assert told(policies([1])) != alone
    model = started(star(5, B), policies([2, 2, 0, 5]), BUSY)
    assert model.tables.world[0].lanes == 3


# -- pauses ----------------------------------------------------------------------------------------------------

STALLED = [(0, 1, 0, 2e6), (1, 1, 2, 4e6)]  # the first crawls: its last link is a hundredth


@pytest.mark.parametrize("own", [{1: LOSSY}, {}], ids=["lossy", "lossless"])
def test_a_priority_beside_a_paused_one_goes_on_at_full_rate(own):
    topology = star(3, B)
    sent = 4e6 * WIRE + 40e3 + 2e-6 * B  # and what priority 0 sends until it is paused: XOFF and a loop
    end = ends(topology, policies(own=own), STALLED, slowed(topology, "switch", "h0", B / 100))[1]
    assert end == pytest.approx((sent / B) / 0.99 + PACKET_TIME + 2e-6, rel=0.01)


def test_in_one_priority_it_crawls_with_the_paused():
    topology = star(3, B)
    end = ends(topology, policies([0]), STALLED, slowed(topology, "switch", "h0", B / 100))[1]
    assert end == pytest.approx(2e6 * WIRE / (B / 100), rel=0.05)  # packet by packet with the other, until that ends


@pytest.mark.parametrize(("priority", "part", "time"), [(1, 1 / 2, 2.0), (0, 1.0, 20.0)])
def test_an_incast_pauses_a_victim_of_its_own_priority_only(priority, part, time):
    """Two hosts send to one whose link is a tenth; a third sends over the same link between the switches.

    Paused alone, the incast leaves it nine tenths, so at half rate it goes on. Paused together, the three inputs of the
    first switch get equal parts, so the victim half of what the incast gets.
    """
    topology = leaf_spine(2, 1, 3, B)
    changes = slowed(topology, "leaf1", "h3", B / 10)
    model = started(topology, policies([priority]), [(0, 0, 3, 4e6), (0, 1, 3, 4e6)], changes)
    victim = flow_graph(2, [0], [1], [0], 2e6, rate_cap=B * part, traffic_class=1)
    number = model.start(victim, np.array([topology.id_of("h2"), topology.id_of("h4")]), 2, 0.0)
    end = next(c.time for c in drain(model) if (c.graph, c.rank) == (number, 1))
    assert end == pytest.approx(time * 2e6 * WIRE / B, rel=0.05)
    pauses = model.report().ports["pauses"]
    assert (pauses[link_to(topology, "h2", "leaf0")] > 0) == (priority == 0)
    assert pauses[link_to(topology, "h0", "leaf0")] > 0
    assert model.report().ports["dropped"].sum() == 0


def test_pauses_of_a_port_are_those_of_its_queues():
    topology = star(4, B)
    own = {1: {"pfc": {"xoff": "80kB", "xon": "60kB"}}, 2: LOSSY}
    sends = [(c, h, 0, 1e6) for c in range(3) for h in (1, 2, 3)]
    model = started(topology, policies([1, 2], own=own, ports={**LOSSLESS, "buffer": "1MB"}), sends)
    drain(model)
    report, lanes = model.report(), of_lanes(model, "pauses")
    assert (lanes[:2].sum(axis=1) > 0).all()
    assert lanes[2].sum() == 0
    assert np.array_equal(report.ports["pauses"], lanes.sum(axis=0))
    xoffs = of_lanes(model, "xoff")[:, link_to(topology, "h1", "switch")]
    assert xoffs.tolist() == [40e3, 80e3, 0]


@pytest.mark.parametrize(("headroom", "loses"), [(None, False), ("1B", True)])
def test_headroom_of_a_priority(headroom, loses):
    pfc = {"xoff": "40kB", "xon": "30kB"} | ({"headroom": headroom} if headroom else {})
    topology = star(4, B)
    sends = [(c, h, 0, 1e6) for c in range(2) for h in (1, 2, 3)]
    model = started(topology, policies(own={1: {"pfc": pfc}}), sends)
    drain(model)
    dropped = model.report().ports["dropped"].sum()
    assert (dropped > 0) == loses
    again = model.tables.connections.resent_packets
    assert again[:3].sum() == 0, "the other priority has room for what is under way"
    assert (again[3:].sum() > 0) == loses


def test_a_circle_of_pauses_names_the_priority():
    topology = ring_of_switches()
    model = PacketModel(Scenario(topology, 1, policies([3], {"pfc": {"xoff": "20kB", "xon": "10kB"}})))
    hosts = np.array([topology.id_of(f"h{i}") for i in range(4)])
    model.start(flow_graph(4, range(4), [2, 3, 0, 1], range(4), 4e6, traffic_class=1), hosts, 0, 0.0)
    done = drain(model)
    assert done[-1].outcome == STUCK
    assert all(f"s{i} -> s{(i + 1) % 4} (priority 3)" in done[-1].detail for i in range(4))


# -- marks, losses, INT ----------------------------------------------------------------------------------------


def marked(priority: int) -> np.ndarray:
    """Marks of a link that two line-rate senders fill and, with a twentieth of it, a third one of a class with ECN."""
    topology = star(4, B)
    ecn = {"ecn": {"kmin": "20kB", "kmax": "20kB"}}
    chosen = policies([priority], own={priority: ecn}, classes=[{"congestion_control": {"kind": "dctcp"}}])
    model = PacketModel(Scenario(topology, 1, chosen))
    hosts = np.array([topology.id_of(f"h{i}") for i in range(4)])
    model.start(flow_graph(3, [0, 1], [2, 2], [0, 1], 1e6), hosts[[1, 2, 0]], 0, 0.0)
    model.start(flow_graph(2, [0], [1], [0], 1e5, rate_cap=B / 20, traffic_class=1), hosts[[3, 0]], 1, 0.0)
    drain(model)
    return model.report().ports["marked"].sum()


def test_a_mark_tells_of_the_queue_of_its_priority_alone():
    assert marked(1) == 0  # a packet of the third never finds one before it
    assert marked(0) > 100


def test_only_lossy_priorities_lose():
    topology = star(5, B)
    chosen = policies(own={1: {**LOSSY, "queue": "50kB"}}, classes=[{"transport": {"kind": "selective_repeat"}}])
    sends = [(0, 1, 0, 1e6), (0, 2, 0, 1e6), (1, 3, 0, 1e6), (1, 4, 0, 1e6)]
    model = started(topology, chosen, sends)
    assert len(drain(model)) == 8
    again = model.tables.connections.resent_packets
    assert again[:2].tolist() == [0, 0]
    assert (again[2:4] > 0).any()
    port = link_to(topology, "switch", "h0")
    assert of_lanes(model, "peak")[1, port] <= 50e3
    assert of_lanes(model, "peak")[0, port] > 50e3
    assert model.report().ports["peak_queue"][port] > of_lanes(model, "peak")[0, port]


def test_trimming_beside_pauses():
    chosen = policies(control={"kind": "dcqcn"}, ports={}, classes=[{"congestion_control": {"kind": "eqds"}}])
    model = started(star(9, B), chosen, [(c, h, 0, 5e5) for c, h in zip([0, 1] * 4, range(1, 9))])
    assert len(drain(model)) == 16
    check_that_nothing_is_left(model)
    assert model.report().ports["trimmed"].sum() > 0
    assert model.report().ports["dropped"].sum() == 0


# -- every control beside every other ------------------------------------------------------------------------

SHARED = {"weight": 2}


def paired(a: str, b: str, **more) -> str:
    """What a run tells of two controls in priorities of their own, or that links cannot do what both need."""
    try:
        chosen = policies(
            control={"kind": a}, ports={}, own={1: SHARED}, classes=[{"congestion_control": {"kind": b}}], **more
        )
        model = started(star(5, B), chosen, [(0, 1, 0, 1e5), (0, 2, 0, 1e5), (1, 3, 0, 1e5), (1, 4, 0, 1e5)])
    except InputError as error:
        return str(error)
    done = drain(model)
    report = model.report()
    assert len(done) == 8
    assert report.counts["progress"] == 4 * 25
    check_that_nothing_is_left(model)
    return repr([done, report.bytes.tolist(), [c.tolist() for c in report.ports.values()], report.transport])


@pytest.mark.parametrize("a", CONGESTION_CONTROLS)
def test_bytes_are_conserved_whatever_controls_meet(a):
    for b in CONGESTION_CONTROLS:
        mixed = "credits for all priorities or for none" in paired(a, b)
        assert mixed == ((a == "ib_cca") != (b == "ib_cca")), (a, b)


def test_plain_python_agrees():
    some = [("dcqcn", "swift"), ("hpcc", "eqds"), ("ib_cca", "ib_cca")]
    code = f"for a, b in {some}: print(paired(a, b), paired(b, a, packets={{'ack_priority': False}}))"
    agreed = [f"{paired(a, b)} {paired(b, a, packets={'ack_priority': False})}" for a, b in some]
    assert printed_without_jit(__name__, code) == agreed


@pytest.mark.parametrize("ports", [LOSSLESS, {"credits": "40kB"}], ids=["pauses", "credits"])
def test_servers_keep_priorities_apart_from_gpu_to_gpu(ports):
    """From GPU to GPU over PCIe and NICs: the slow receiver of one class does not hold the other class back."""
    node = {"kind": "dgx_a100"}
    topology = BUILDERS["leaf_spine"](leaves=1, spines=1, ports_per_leaf=24, node=node, link_rate="100Gbps").build()
    slow = slowed(topology, "leaf0", "node1/nic0", B / 10)
    times = []
    for priority in (0, 1):
        model = PacketModel(Scenario(topology, 1, policies([priority], ports), slow))
        devices = np.array([topology.gpus[0], topology.gpus[8], topology.gpus[16]])
        model.start(flow_graph(2, [0], [1], [0], 4e6), devices[[0, 1]], 0, 0.0)
        model.start(flow_graph(2, [0], [1], [0], 4e6, traffic_class=1), devices[[0, 2]], 1, 0.0)
        times.append({c.graph: c.time for c in drain(model) if c.rank == 1}[1])
        check_that_nothing_is_left(model)
    alone = 4e6 * WIRE / B
    assert times[0] > 5 * alone
    assert times[1] < 1.2 * alone


def test_a_failed_link_empties_all_priorities():
    topology = leaf_spine(2, 2, 2, B)
    cut = [link_to(topology, "leaf0", "spine0"), link_to(topology, "spine0", "leaf0")]
    sends = [(c, h, 2, 1e6) for c in range(3) for h in (0, 1)]
    chosen = policies([1, 2], own={1: {"weight": 2}, 2: {"strict": True}}, transport={"kind": "selective_repeat"})
    model = started(topology, chosen, sends, [LinkChange(20e-6, i, 0.0) for i in cut])
    assert [c.outcome for c in drain(model)] == ["done"] * 12
    settle(model)
    assert not model.tables.ports.ingress_bytes.any()
    assert not model.tables.ports.data_bytes.any()
    assert model.tables.world[0].free_packets == len(model.tables.packets)
