"""Priorities: classes of traffic with queues of their own at ports, and pauses, marks and shares of those alone."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import ValidationError

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network.model import STUCK, LinkChange
from simnet.network.packet_level import settings
from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.connection_state import CONNECTION
from simnet.network.packet_level.lanes import book, next_priority
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.state import HAS_LANES, PACKET, PORT, WORLD
from simnet.network.policies import Policies
from simnet.network.records import table
from simnet.network.scenario import Scenario
from simnet.topology.builders import BUILDERS
from simnet.topology.topology import Topology
from tests.network.packet_level.measuring import link_to, run_to, settle
from tests.network.packet_level.test_failures import ring_of_switches
from tests.network.systems import drain, leaf_spine, star

B = 12.5e9  # [bytes/s], 100 Gb/s
PACKET_TIME = 4160 / B
WIRE = 4160 / 4096  # bytes on the wire per byte of payload
LOSSLESS = {"pfc": {"xoff": "40kB", "xon": "30kB"}}
LOSSY = {"lossless": False}
NONE = {"kind": "none"}


def policies(priorities=(1,), ports=LOSSLESS, own=None, control=NONE, classes=None, **more) -> Policies:
    """The network's own class has priority 0, class i the i-th of `priorities`. own: ports.priorities."""
    chosen = classes or [{}] * len(priorities)
    return Policies(
        congestion_control=control,
        ports={**ports, "priorities": own or {}},
        classes={f"class{i}": {"priority": n, **c} for i, (n, c) in enumerate(zip(priorities, chosen), 1)},
        **more,
    )


def started(topology: Topology, chosen: Policies, sends, changes=(), **more) -> PacketModel:
    """sends: (class, from host, to host, bytes), each a graph of one flow."""
    model = PacketModel(Scenario(topology, 1, chosen, changes, **more))
    for number, (traffic_class, source, destination, size) in enumerate(sends):
        graph = flow_graph(2, [0], [1], [0], size, traffic_class=traffic_class)
        model.start(graph, np.array([topology.id_of(f"h{i}") for i in (source, destination)]), number, 0.0)
    return model


def ends(topology: Topology, chosen: Policies, sends, changes=(), **more) -> list[float]:
    """When each of `sends` has arrived [s]."""
    model = started(topology, chosen, sends, changes, **more)
    done = {c.graph: c.time for c in drain(model) if c.rank == 1}
    check_that_nothing_is_left(model)
    return [done[number] for number in range(len(sends))]


def check_that_nothing_is_left(model: PacketModel) -> None:
    """Every byte sent has come over its wire, and no queue, pause or account holds any."""
    settle(model)
    ports = model.tables.ports
    assert np.array_equal(ports.bytes_in, ports.bytes_out)
    for name in ("data_bytes", "control_bytes", "ingress_bytes", "pausing", "paused"):
        assert not ports[name].any(), name
    for name in ("data_head", "control_head", "wire_head"):
        assert (ports[name] == -1).all(), name
    assert model.tables.world[0].free_packets == len(model.tables.packets)


def slowed(topology: Topology, a: str, b: str, rate: float) -> list[LinkChange]:
    return [LinkChange(0.0, link_to(topology, a, b), rate)]


def of_lanes(model: PacketModel, name: str) -> np.ndarray:
    """A column of PORT, lane by lane and link by link."""
    return model.tables.ports[name].reshape(-1, len(model._topology.links))[1:]


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


# -- shares ----------------------------------------------------------------------------------------------------


def received(model: PacketModel) -> np.ndarray:
    """Bytes on the wire that have arrived, per connection."""
    return np.array(model.tables.connections.expected[: model.tables.connected]) * 4160.0


@hypothesis_settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=2, max_size=4), st.booleans(), st.integers(60, 300))
def test_backlogged_priorities_share_a_link_by_their_weights(weights, at_the_sender, microseconds):
    """To within a quantum, which is a packet for the least weight, and the packets that a moment cuts in two."""
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
    assert turns.max() - turns.min() <= 1 + 2 * min(weights) / min(weights)


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


def test_thresholds_come_with_the_controls_of_a_priority():
    chosen = policies(control={"kind": "dcqcn"}, ports={}, classes=[{"congestion_control": {"kind": "dctcp"}}])
    model = started(star(5, B), chosen, BUSY)
    assert of_lanes(model, "kmin")[:, 0].tolist() == [400 * 1000, 300e3] or of_lanes(model, "kmin")[1, 0] == 300e3
    told = model.report().settings
    assert told["priority 1.marking"] == "above 300000B at 12.5GB/s"
    assert told["class1.priority"] == "1"
    assert told["priority 0.share"] == told["priority 1.share"] == "weight 1"


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
    code = (
        "from tests.network.packet_level.test_priorities import *\n"
        f"for a, b in {some}: print(paired(a, b), paired(b, a, packets={{'ack_priority': False}}))"
    )
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    ).stdout.splitlines()  # fmt: skip
    assert found == [f"{paired(a, b)} {paired(b, a, packets={'ack_priority': False})}" for a, b in some]


@pytest.mark.parametrize("ports", [{}, {"credits": "40kB"}], ids=["pauses", "credits"])
def test_servers_keep_priorities_apart_from_gpu_to_gpu(ports):
    """From GPU to GPU over PCIe and NICs: the slow receiver of one class does not hold the other class back."""
    node = {"kind": "dgx_a100"}
    topology = BUILDERS["leaf_spine"](leaves=1, spines=1, ports_per_leaf=24, node=node, link_rate="100Gbps").build()
    times = []
    for priority in (0, 1):
        chosen = policies([priority], ports)
        model = PacketModel(Scenario(topology, 1, chosen))
        devices = np.array([topology.gpus[0], topology.gpus[8], topology.gpus[16]])
        model.start(flow_graph(2, [0], [1], [0], 4e6), devices[[0, 1]], 0, 0.0)
        model.start(flow_graph(2, [0], [1], [0], 4e6), devices[[2, 1]], 1, 0.0)
        model.start(flow_graph(2, [0], [1], [0], 4e6, traffic_class=1), devices[[0, 2]], 2, 0.0)
        times.append({c.graph: c.time for c in drain(model) if c.rank == 1}[2])
        check_that_nothing_is_left(model)
    assert times[1] <= times[0] * 1.01


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


# -- what cannot hold ----------------------------------------------------------------------------------------


def problems(**chosen) -> list[str]:
    return [f"{'.'.join(keys)}: {text}" for keys, text in policies(**chosen).problems()]


def test_a_priority_of_its_own_settles_what_controls_contradict():
    def beside(priority):
        classes = [{"congestion_control": {"kind": "nscc"}}]
        return problems(priorities=[priority], control={"kind": "dcqcn"}, ports={}, classes=classes)

    assert len(beside(0)) == 2
    assert "or another `priority` for one of them" in beside(0)[0]
    assert beside(1) == []


def test_contradictions_within_a_priority_name_its_keys():
    classes = [{"congestion_control": {"kind": kind}} for kind in ("dctcp", "dcqcn")]
    found = problems(priorities=[4, 4], ports={}, classes=classes)
    assert found[0].startswith("classes.class2.congestion_control.kind: 'dcqcn' brings marking")
    assert "set network.ports.priorities.4.ecn" in found[0]


@pytest.mark.parametrize(
    ("ports", "own", "sentence"),
    [
        ({"virtual_lanes": 2}, {}, "ports.virtual_lanes: a port has virtual lanes or priorities, not both"),
        ({"credits": "1MB"}, {1: LOSSY}, "ports.credits: .* 'lossless: false' of 'network.ports.priorities.1'"),
        ({"credits": "1MB"}, {1: {"pfc": {}}}, "ports.credits: .* 'pfc' of 'network.ports.priorities.1'"),
        ({}, {1: {"queue": "1kB"}}, "ports.priorities.1.queue: holds 1000 B, less than a packet"),
    ],
)
def test_sentences_about_priorities(ports, own, sentence):
    chosen = policies(ports=ports, own=own)
    with pytest.raises(InputError, match=f"network.{sentence}"):
        settings.check(settings.settings_of(chosen))


def test_a_class_is_told_what_its_priority_denies():
    found = problems(control={"kind": "eqds"}, ports={}, own={1: {"trimming": False}})
    assert found == ["classes.class1.priority: 'eqds' needs trimming, which ports.priorities.1.trimming denies"]


@pytest.mark.parametrize("number", ["x", 8, -1])
def test_priorities_have_numbers_from_0_to_7(number):
    with pytest.raises(ValidationError, match="priorities are numbered from 0 to 7"):
        policies(own={number: {}})


def test_a_priority_may_be_lossless_where_no_control_asks_for_it():
    chosen = policies(control={"kind": "swift"}, ports={}, own={1: {"lossless": True}})
    told = settings.describe(settings.settings_of(chosen))
    assert told["flow_control"] == "none"
    assert told["priority 1.flow_control"] == "pfc"
