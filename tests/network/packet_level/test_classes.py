"""Traffic classes: jobs with policies of their own on shared ports do as each class says, and nothing else changes."""

import math
from itertools import combinations

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network.flow_level.model import FlowModel
from simnet.network.packet_level import settings
from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from tests.network.packet_level.measuring import delivered, link_to, printed_without_jit, run_to
from tests.network.systems import drain, leaf_spine, star

B = 12.5e9  # [bytes/s], 100 Gb/s
PACKETS = 20
SIZE = PACKETS * 4096.0
SPRAYED = {"kind": "spray", "paths": 64}


def beside(control: dict, other: dict, **policies) -> Policies:
    """The network's own control, and that of a class 'other'."""
    return Policies(congestion_control=control, classes={"other": {"congestion_control": other}}, **policies)


def to_host_0(senders, traffic_class: int, size: float = SIZE):
    """Some hosts send to host 0, each one message."""
    n = len(senders)
    return flow_graph(n + 1, range(1, n + 1), [0] * n, range(n), size, traffic_class=traffic_class), [0, *senders]


def two_incasts(policies: Policies, size: float = SIZE, topology=None, **options):
    """Hosts 1 and 2 send to host 0 in the network's own class, hosts 3 and 4 in class 1."""
    topology = topology or star(5, B)
    hosts = np.array([topology.id_of(f"h{i}") for i in range(5)])
    model = PacketModel(Scenario(topology, 1, policies, **options))
    model.graphs = [to_host_0((1, 2), 0, size), to_host_0((3, 4), min(1, len(policies.classes)), size)]
    for communicator, (graph, ranks) in enumerate(model.graphs):
        model.start(graph, hosts[ranks], communicator, 0.0)
    return model


def outcome(policies: Policies) -> str:
    """All that a run tells, or that its policies contradict each other."""
    try:
        model = two_incasts(policies)
    except InputError:
        return "contradiction"
    done = drain(model)
    report = model.report()
    assert len(done) == 6
    assert report.counts["progress"] == 4 * PACKETS
    return repr([done, report.bytes.tolist(), {name: c.tolist() for name, c in report.ports.items()}, report.transport])


# -- nothing changes where nothing differs ----------------------------------------------------------------


@pytest.mark.parametrize("kind", CONGESTION_CONTROLS)
def test_a_class_like_the_network_changes_nothing(kind):
    control = {"kind": kind}
    alone = outcome(Policies(congestion_control=control))
    assert outcome(Policies(congestion_control=control, classes={"other": {}})) == alone
    assert outcome(beside(control, control)) == alone


# -- every control beside every other ---------------------------------------------------------------------

PAIRS = list(combinations(CONGESTION_CONTROLS, 2))
LOSSY = {"lossless": False, "trimming": True, "ecn": {"kmin": "50kB", "kmax": "100kB"}}  # what any pair can live with


def paired(a: str, b: str, ports: dict | None = None) -> str:
    return outcome(beside({"kind": a}, {"kind": b}, ports=ports or {}))


@pytest.mark.parametrize("a", CONGESTION_CONTROLS)
def test_all_packets_arrive_once_whatever_controls_meet(a):
    for b in CONGESTION_CONTROLS:
        assert paired(a, b, LOSSY) == paired(a, b, LOSSY) != "contradiction"


def test_plain_python_agrees():
    some = [("dcqcn", "swift"), ("hpcc", "swift"), ("eqds", "nscc"), ("dctcp", "fixed_window")]
    code = f"for a, b in {some}: print(paired(a, b), paired(b, a, LOSSY))"
    agreed = [f"{paired(a, b)} {paired(b, a, LOSSY)}" for a, b in some]
    assert printed_without_jit(__name__, code) == agreed


# -- each as it does --------------------------------------------------------------------------------------


def test_a_fixed_window_beside_dcqcn_stays_and_takes_what_the_other_gives_up():
    policies = beside({"kind": "fixed_window", "bdps": 8}, {"kind": "dcqcn"})
    model = two_incasts(policies, size=1e9)
    run_to(model, 3e-3)
    before = delivered(model)
    fixed, cut = model.tables.connections[:2], model.tables.connections[2:4]
    windows, timeouts = fixed.window.tolist(), model.tables.connections.timeouts.sum()
    run_to(model, 6e-3)
    assert fixed.window.tolist() == windows
    assert np.isinf(fixed.rate).all()
    assert (cut.rate < B / 8).all()
    shares = delivered(model) - before
    # a standing queue between Kmin and Kmax marks for ever, which only DCQCN minds
    assert shares[:2].sum() > 4 * shares[2:].sum()
    assert shares.sum() * 4160 == pytest.approx(3e-3 * B, rel=0.01)
    assert timeouts == 0


def test_each_class_has_its_own_transport_window_and_headers():
    policies = Policies(
        congestion_control={"kind": "hpcc"},
        classes={
            "small": {"congestion_control": {"kind": "none"}, "transport": {"kind": "selective_repeat", "window": 64}}
        },
    )
    model = two_incasts(policies, size=4e6)
    run_to(model, 100e-6)
    own, small = model.tables.connections[:2], model.tables.connections[2:4]
    assert set(own.header - small.header) == set(own.ack_size - small.ack_size) == {42}  # INT, both ways
    assert (small.next_sequence - small.unacknowledged == 64).all()
    assert own.transport.tolist() != small.transport.tolist()
    told = model.report().settings
    assert told["congestion_control"] == "hpcc"
    assert told["small.congestion_control"] == "none"
    assert told["small.transport"] == "selective_repeat"
    assert told["small.load_balancing"] == told["load_balancing"] == "ecmp"


def test_a_class_balances_its_own_load():
    topology = leaf_spine(2, 4, 8, B)
    policies = Policies(congestion_control={"kind": "dctcp"}, classes={"other": {"load_balancing": SPRAYED}})
    hosts = np.array([topology.id_of(f"h{i}") for i in (0, 8)])
    for number, used in ((0, 1), (1, 4)):
        for kind in (PacketModel, FlowModel):
            model = kind(Scenario(topology, 1, policies))
            model.start(flow_graph(2, [0], [1], [0], 1e6, traffic_class=number), hosts, 0, 0.0)
            drain(model)
            uplinks = [link_to(topology, "leaf0", f"spine{i}") for i in range(4)]
            assert np.count_nonzero(model.report().bytes[uplinks]) == used


def test_conga_sees_what_other_classes_send():
    """A hashed flow fills one of two uplinks; flowlets of the other class take the free one."""
    topology = leaf_spine(2, 2, 2, B)
    policies = Policies(
        congestion_control={"kind": "none"},
        load_balancing={"kind": "ecmp"},
        classes={"other": {"load_balancing": {"kind": "conga"}}},
    )
    hosts = np.array([topology.id_of(f"h{i}") for i in range(4)])
    model = PacketModel(Scenario(topology, 1, policies))
    full = flow_graph(2, [0], [1], [0], 1e9)
    model.start(full, hosts[[0, 2]], 0, 0.0)
    run_to(model, 1e-3)
    uplinks = [link_to(topology, "leaf0", f"spine{i}") for i in range(2)]
    before = model.report().bytes[uplinks]
    taken = int(np.argmax(before))
    graphs = [flow_graph(2, [0], [1], [0], 100e3, traffic_class=1) for _ in range(8)]
    for i, graph in enumerate(graphs):  # each a connection of its own, so a flowlet of its own
        model.start(graph, hosts[[1, 3]], i + 1, 1e-3)
    run_to(model, 1.2e-3)
    sent = model.report().bytes[uplinks] - before
    assert sent[1 - taken] == pytest.approx(8 * 100e3 * 4160 / 4096, rel=0.05)


def test_several_queue_pairs_in_one_class_only():
    policies = Policies(
        congestion_control={"kind": "dctcp"},
        classes={"other": {"load_balancing": {"kind": "ecmp_qp", "queue_pairs": 4}}},
    )
    model = two_incasts(policies, record=True)
    drain(model)
    assert model.tables.connected == 2 + 2 * 4
    flows = model.report().flows
    assert flows["size"].tolist() == [SIZE] * 4
    assert sorted(flows["graph"].tolist()) == [0, 0, 1, 1]
    assert (flows["end"] > flows["start"]).all()


# -- shared ports -----------------------------------------------------------------------------------------


def test_what_the_networks_control_does_not_bring_comes_with_a_class():
    told = settings.describe(settings.settings_of(beside({"kind": "swift"}, {"kind": "dcqcn"})))
    assert told["flow_control"] == "pfc"
    assert told["marking"].startswith("390")
    assert two_incasts(beside({"kind": "swift"}, {"kind": "hpcc"})).tables.world[0].int_hops == 10


@pytest.mark.parametrize(
    ("own", "other", "sentence"),
    [
        ("dctcp", "dcqcn", "'dcqcn' brings marking .* 'dctcp' marking .* set network.ports.ecn"),
        ("dcqcn", "nscc", "'nscc' brings trimming, 'dcqcn' pauses"),
        ("eqds", "none", "'none' brings pauses, 'eqds' trimming"),
        ("none", "ib_cca", "'ib_cca' brings credits, 'none' pauses"),
    ],
)
def test_contradictions_name_the_class_and_what_to_set(own, other, sentence):
    chosen = settings.settings_of(beside({"kind": own}, {"kind": other}))
    with pytest.raises(InputError, match=f"network.classes.other.congestion_control.kind: {sentence}"):
        settings.check(chosen)


@pytest.mark.parametrize(
    ("own", "other", "ports"),
    [
        ("dctcp", "dcqcn", {"ecn": {"kmin": "100kB", "kmax": "200kB"}}),
        ("dcqcn", "eqds", {"lossless": False}),
        ("dcqcn", "eqds", {"pfc": {}}),
        ("none", "ib_cca", {"credits": "100kB"}),
        ("swift", "timely", {}),
        ("eqds", "swift", {}),
    ],
)
def test_what_the_user_says_settles_it(own, other, ports):
    settings.check(settings.settings_of(beside({"kind": own}, {"kind": other}, ports=ports)))


def test_a_class_that_needs_what_switches_deny_is_told_where_it_stands():
    denied = Policies(
        congestion_control={"kind": "none"},
        ports={"int_stamps": False},
        classes={"a": {"congestion_control": {"kind": "hpcc"}}, "b": {"transport": {"kind": "trim_nack"}}},
    )
    assert [".".join(keys) for keys, _ in denied.problems()] == [
        "classes.a.congestion_control.kind",
        "classes.b.transport.kind",
    ]


def test_what_a_class_inherits_is_told_once():
    policies = Policies(congestion_control={"kind": "hpcc"}, ports={"int_stamps": False}, classes={"a": {}, "b": {}})
    assert [".".join(keys) for keys, _ in policies.problems()] == ["congestion_control.kind"]


def test_links_measure_for_conga_once_for_all_classes():
    def problems(own, **classes):
        named = {name: {"load_balancing": balancer} for name, balancer in classes.items()}
        found = Policies(load_balancing=own, classes=named).problems()
        return [(".".join(keys), sentence.split(":")[0]) for keys, sentence in found]

    conga, ecmp = {"kind": "conga"}, {"kind": "ecmp"}
    assert problems(conga, a=conga | {"interval": "60us", "bits": 4}, b=ecmp, c=conga) == [
        ("classes.a.load_balancing.interval", "must be as in network.load_balancing"),
        ("classes.a.load_balancing.bits", "must be as in network.load_balancing"),
    ]
    assert problems(ecmp, a=conga | {"decay": 0.1}, b=conga) == [
        ("classes.b.load_balancing.decay", "must be as in network.classes.a.load_balancing")
    ]
    # what senders' leaves remember is of each class
    assert problems(conga, a=conga | {"timeout": "9us", "ageing": "9us"}, b=ecmp) == []


def test_nothing_under_way_is_lost_at_the_end():
    model = two_incasts(beside({"kind": "dcqcn"}, {"kind": "swift"}))
    assert not math.isinf(drain(model)[-1].time)
    assert not model.tables.ports.data_bytes.any()
