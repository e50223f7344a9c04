"""What ports and connections count, and samples of them: right numbers, and no effect on the run."""

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network import CONGESTION_CONTROLS, Scenario
from simnet.network.model import MAX_PROBES
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.parameters import Ecn, Packets, Pfc, Ports
from simnet.network.policies import Policies
from tests.network.systems import drain, fat_tree, finish_times, leaf_spine, star

KIB = Packets(payload="960B", header="64B", ack="64B")  # 1024 B on the wire
RATE = 1.024e9  # one packet a microsecond


def incast(policies, senders=3, size=48_000, **options):
    """Reports of a few hosts that send to one, and when it was through."""
    topology = star(senders + 1, RATE, 1e-6)
    model = PacketModel(Scenario(topology, 1, policies, **options))
    hosts = [topology.id_of(f"h{i}") for i in range(senders + 1)]
    graph = flow_graph(senders + 1, range(1, senders + 1), [0] * senders, range(senders), size)
    times = finish_times(model, graph, hosts)
    links = {topology.link_name(i): i for i in range(len(topology.links))}
    return model.report(), times, links


def test_queue_of_an_incast_by_hand():
    # 3 x 50 packets at one a microsecond meet at the switch at 2 us; one leaves a microsecond, for 50 us three come
    report, _, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=Ports(lossless=False)))
    port = links["switch -> h0"]
    ports = report.ports
    assert ports["packets"][port] == 150
    assert ports["peak_queue"][port] == pytest.approx(100 * 1024, rel=0.03)
    # it grows by two packets a microsecond for 50 us and shrinks by one for 100 us: a triangle
    assert ports["queue_area"][port] == pytest.approx(0.5 * 100 * 1024 * 150e-6, rel=0.05)
    assert ports["marked"].sum() == ports["dropped"].sum() == ports["pauses"].sum() == 0
    assert report.transport == {
        "retransmitted_packets": 0, "retransmitted_bytes": 0, "timeouts": 0, "duplicates": 0,
    }  # fmt: skip


def test_marks_are_counted_where_they_are_made():
    ecn = Ecn(kmin="10240B", kmax="10240B")
    ports = Ports(lossless=False, ecn=ecn)
    report, _, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=ports))
    port = links["switch -> h0"]
    # only the first and the last ten or so leave ten packets or fewer behind
    assert report.ports["marked"][port] == pytest.approx(150 - 15, abs=2)
    assert report.ports["marked"].sum() == report.ports["marked"][port]
    assert report.unused == []


@pytest.mark.parametrize(("when", "packets"), [("departure", 7), ("arrival", 21)])
def test_marks_come_with_the_packet_that_finds_the_queue_or_with_the_one_that_leaves_it(when, packets):
    # ten wait after 5 us; in the 7 us that follow 21 packets arrive and 7 leave
    ecn = Ecn(kmin="10240B", kmax="10240B", when=when)
    policies = Policies(congestion_control={"kind": "none"}, packets=KIB, ports=Ports(lossless=False, ecn=ecn))
    topology = star(4, RATE, 1e-6)
    model = PacketModel(Scenario(topology, 1, policies))
    model.start(flow_graph(4, [1, 2, 3], [0] * 3, range(3), 48_000), np.array(topology.gpus), 0, 0.0)
    model.advance(2e-6 + 12.5e-6)
    assert model.report().ports["marked"].sum() == pytest.approx(packets, abs=2)
    assert model.report().settings["marking"].endswith(", on arrival") == (when == "arrival")


def test_pauses_and_their_time():
    ports = Ports(pfc=Pfc(xoff="5120B", xon="3072B"))
    report, times, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=ports))
    for sender in (1, 2, 3):
        link = links[f"h{sender} -> switch"]
        assert report.ports["pauses"][link] > 3
        # until its last packet leaves, when up to 3 x 5 packets wait at the switch, it sends for 50 us and stands still
        assert report.ports["paused"][link] == pytest.approx(times[0] - 50e-6 - 15e-6 - 2e-6, abs=8e-6)
    assert report.ports["paused"][links["switch -> h0"]] == 0
    assert report.unused == []


@pytest.mark.parametrize("xon", ["5120B", "4096B", "3072B"])
@pytest.mark.parametrize("senders", [2, 3, 4])
def test_headroom_is_enough_also_where_pause_and_resume_fall_on_one_instant(xon, senders):
    # a packet leaves and another comes at the same picosecond: XON, then XOFF, which must not overtake it
    ports = Ports(pfc=Pfc(xoff="5120B", xon=xon))
    report, _, _ = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=ports), senders, 144_000)
    assert report.ports["pauses"].sum() > 10
    assert report.ports["dropped"].sum() == 0


def test_drops_and_what_is_sent_again():
    ports = Ports(lossless=False, queue="10240B")
    report, _, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=ports))
    dropped = report.ports["dropped"][links["switch -> h0"]]
    assert dropped > 50
    assert report.ports["dropped_bytes"].sum() == 1024 * dropped
    sent = sum(report.ports["packets"][links[f"h{i} -> switch"]] for i in (1, 2, 3))
    assert report.transport["retransmitted_packets"] == sent - 150 >= dropped
    assert report.transport["retransmitted_bytes"] == 1024 * report.transport["retransmitted_packets"]
    assert report.ports["peak_queue"].max() <= 10240


def test_settings_that_never_act_are_told():
    big = Ports(ecn=Ecn(kmin="1MB", kmax="2MB"), pfc=Pfc(xoff="1MB"))
    report, _, _ = incast(Policies(congestion_control={"kind": "none"}, packets=KIB, ports=big))
    assert [sentence.partition(":")[0] for sentence in report.unused] == [
        "marking never acted", "PFC never paused a link",
    ]  # fmt: skip
    assert report.settings["congestion_control"] == "none"
    assert report.settings["flow_control"] == "pfc"
    assert report.settings["marking"] == "976.5625KiB to 1953.125KiB, up to 100%"


@pytest.mark.parametrize("control", CONGESTION_CONTROLS)
def test_samples_change_nothing(control):
    graph = flow_graph(6, [0, 1, 2, 3, 4, 5], [3, 3, 3, 1, 1, 0], range(6), 40_000)
    policies = Policies(congestion_control={"kind": control}, packets=KIB)
    check_that_samples_change_nothing(policies, leaf_spine(2, 2, 3, RATE, 1e-6), graph)


@pytest.mark.parametrize(
    "ports",
    [Ports(pfc=Pfc(xoff="6kB", xon="4kB")), Ports(credits="6kB"), Ports(lossless=False, queue="12kB")],
    ids=["pauses", "credits", "drops"],
)
def test_samples_change_nothing_where_packets_wait_for_space(ports):
    # pauses end and credits return when a packet leaves, not when somebody next looks at its queue
    policies = Policies(congestion_control={"kind": "none"}, packets=KIB, ports=ports)
    source, destination = np.nonzero(~np.eye(16, dtype=bool))
    graph = flow_graph(16, source, destination, range(240), 40_000)
    check_that_samples_change_nothing(policies, fat_tree(4, RATE, 4e-6), graph)


def check_that_samples_change_nothing(policies, topology, graph):
    hosts = topology.gpus
    ends = []
    for bins, probes in ((0, 0), (4, 1), (64, 6)):
        model = PacketModel(Scenario(topology, 1, policies, bins=bins, probes=probes))
        ends.append(finish_times(model, graph, hosts).tolist())
        report = model.report()
        counted = [report.ports[name].tolist() for name in sorted(report.ports) if name != "queue_area"]
        ends[-1] += [counted, report.bytes.tolist(), report.transport]
        assert report.bins.sum(axis=1) == pytest.approx(report.bytes)
        area = report.queue_bins.sum(axis=1) * report.bin_width
        assert area == pytest.approx(report.ports["queue_area"], rel=1e-6, abs=1e-9)
    assert ends[0] == ends[1] == ends[2]


def test_no_link_carries_more_than_its_rate_in_any_bin():
    report, times, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB), bins=32)
    share = report.bins / (report.bin_width * RATE)
    assert share.max() <= 1 + 1e-9
    assert report.bins.shape[1] <= 32
    assert (report.bins.shape[1] - 1) * report.bin_width < times[0] <= report.bins.shape[1] * report.bin_width + 1e-9
    busy = share[links["switch -> h0"]]
    assert busy[2:-2] == pytest.approx(1.0)


def test_queue_in_bins_rises_and_falls():
    report, _, links = incast(Policies(congestion_control={"kind": "none"}, packets=KIB), bins=32)
    queue = report.queue_bins[links["switch -> h0"]]
    top = int(queue.argmax())
    assert top * report.bin_width == pytest.approx(50e-6, abs=8e-6)
    assert (np.diff(queue[: top + 1]) > 0).all()
    assert (np.diff(queue[top:]) < 0).all()


def test_probes_of_a_fixed_window():
    policies = Policies(congestion_control={"kind": "fixed_window", "bdps": 2.0}, packets=KIB)
    report, _, _ = incast(policies, senders=1, bins=32, probes=1)
    assert report.notes == []
    window = report.probes["window"][:, 0]
    assert (window == window[0]).all()
    assert window[0] > 0
    assert 0 < report.probes["inflight"].max() <= window[0] + 1024
    assert report.probes["rtt"].max() > 4e-6  # two links there, two back


def test_probes_between_chosen_devices():
    # three hosts send to h0; h2 is asked for, and the way back, which nobody goes
    topology = star(4, RATE, 1e-6)
    hosts = np.array([topology.id_of(f"h{i}") for i in range(4)])
    policies = Policies(congestion_control={"kind": "fixed_window"}, packets=KIB)
    wanted = [(int(hosts[2]), int(hosts[0])), (int(hosts[0]), int(hosts[2]))]
    model = PacketModel(Scenario(topology, 1, policies, bins=64, probes=wanted))
    graph = flow_graph(4, [1, 2, 3], [0, 0, 0], range(3), 100 * 1024)
    number = model.start(graph, hosts, 0, 0.0)
    assert [c.graph for c in drain(model)] == [number] * 4
    report = model.report()
    probes = report.probes
    assert (probes["source"].tolist(), probes["destination"].tolist()) == ([hosts[2]], [hosts[0]])
    assert (np.diff(probes["sent"][:, 0]) >= 0).all()
    assert probes["sent"][-1, 0] == model.tables.connections[1].sent_bytes
    assert probes["window"][-1, 0] == model.tables.connections[1].window
    assert report.notes == ["nothing was sent from h0 to h2, which output.probes wants to see"]


def test_more_connections_than_probes_are_told():
    topology = star(2, RATE, 1e-6)
    hosts = np.array([topology.id_of("h0"), topology.id_of("h1")])
    channels = np.arange(MAX_PROBES + 6)
    graph = flow_graph(2, 0 * channels, 0 * channels + 1, channels, 1024, channel=channels)
    for probes, told in (([tuple(hosts.tolist())], 1), (MAX_PROBES, 0)):
        model = PacketModel(
            Scenario(topology, 1, Policies(congestion_control={"kind": "none"}), bins=64, probes=probes)
        )
        model.start(graph, hosts, 0, 0.0)
        drain(model)
        report = model.report()
        assert report.probes["window"].shape[1] == MAX_PROBES
        assert len(report.notes) == told
    assert len(model._sampling.probes) == 64 * MAX_PROBES  # whatever the length of the run


def test_without_probes_nothing_is_kept():
    model = PacketModel(Scenario(star(2, RATE, 1e-6), 1, Policies(), bins=64))
    assert len(model._sampling.probes) == 0
    assert model.report().probes == {}
