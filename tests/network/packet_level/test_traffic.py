"""Closed forms of whole systems on packets: timing, bounds, queues, pauses, losses, and agreement with the fluid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network.flow_level.model import FlowModel
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.parameters import Loss, Ports
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.topology import Topology
from tests.network.packet_level.test_timing import UEC, line
from tests.network.systems import drain, fat_tree, finish_times, star

RATE, LATENCY = 12.5e9, 1e-6  # 100 Gb/s
PACKET, PAYLOAD, ACK = 4150, 4086, 64  # bytes on the wire, as htsim's UEC has them
SENT = PACKET / RATE  # the time of a packet on a link


def hosts(topology: Topology, *numbers: int) -> np.ndarray:
    return np.array([topology.id_of(f"h{i}") for i in numbers])


def flow_times(topology: Topology, policies: Policies, source, destination, size, devices, seed=1) -> np.ndarray:
    """Completion time of every flow at its receiver [s]; all start at 0, each on a connection of its own."""
    flows = len(source)
    graph = flow_graph(len(devices), source, destination, range(flows), size, channel=np.arange(flows))
    model = PacketModel(Scenario(topology, seed, policies, record=True))
    model.start(graph, devices, 0, 0.0)
    drain(model)
    return model.report().flows["end"]


def acknowledged_at(topology: Topology, source, destination, size, ends) -> list[float]:
    """When the sender of every flow has its last acknowledgement [s], to 1 ps."""
    graph = flow_graph(len(ends), source, destination, range(len(source)), size)
    model = PacketModel(Scenario(topology, 1, UEC))
    model.start(graph, np.asarray(ends), 0, 0.0)
    drain(model)
    done = [np.inf] * len(source)
    while not np.isfinite(done).all():
        ticks = int(model.tables.world[0].now) + 1
        for c in range(len(source)):
            row = model.tables.connections[c]
            if not np.isfinite(done[c]) and row.unacknowledged == row.total:
                done[c] = (ticks - 1) * 1e-12
        following = model.tables.heap[: int(model.tables.world[0].heap)].min() >> int(model.tables.world[0].bits)
        model.run_kernel(int(max(ticks, following)))
    return done


# -- exact times ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "sender"),
    [(2_000_000, 176.1995), (10 * PAYLOAD, 17.0107), (100 * PAYLOAD, 46.8907)],
)
def test_a_sender_hears_of_its_flow_an_acknowledgement_later(size, sender):
    """(n + H - 1) s + s_last + H d at the receiver and H (d + a) for the way back; the figures are htsim's."""
    topology = line()
    ends = [topology.id_of("a"), topology.id_of("b")]
    received = finish_times(PacketModel(Scenario(topology, 1, UEC)), flow_graph(2, [0], [1], [0], size), ends)[0]
    (heard,) = acknowledged_at(topology, [0], [1], size, ends)
    assert heard == pytest.approx(received + 6 * (LATENCY + ACK / RATE), abs=5e-12)
    assert heard * 1e6 == pytest.approx(sender, abs=1e-4)


def test_opposite_flows_wait_for_each_others_acknowledgements():
    """490 packets and 490 acknowledgements share every link: one ACK time per packet more than alone.

    htsim's 176.804 us comes with an acknowledgement for every four packets, 124 in all: 0.6 us instead of 2.5.
    """
    topology = line()
    ends = [topology.id_of("a"), topology.id_of("b")]
    heard = acknowledged_at(topology, [0, 1], [1, 0], 2_000_000, ends)
    assert heard[0] == pytest.approx(heard[1], rel=1e-9)
    (alone,) = acknowledged_at(topology, [0], [1], 2_000_000, ends)
    assert 0.9 * 490 * ACK / RATE < heard[0] - alone < 1.1 * 490 * ACK / RATE


# -- bounds -----------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 12),
    st.integers(1, 200_000),
    st.sampled_from(["none", "fixed_window", "dctcp"]),
    st.integers(0, 100),
)
def test_no_incast_beats_the_link_of_its_receiver(senders, size, control, seed):
    topology = star(senders + 1, RATE, LATENCY)
    policies = Policies(congestion_control={"kind": control}, packets=UEC.packets)
    devices = hosts(topology, *range(senders + 1))
    times = flow_times(topology, policies, range(1, senders + 1), [0] * senders, size, devices, seed)
    wire = size + 64 * -(-size // PAYLOAD)
    assert times.max() >= senders * wire / RATE + 2 * LATENCY - 1e-12
    # every link is short of work for as long as the first packets take to come, and no longer
    if control == "none":
        assert times.max() <= senders * wire / RATE + 2 * LATENCY + 2 * SENT


# -- queues -----------------------------------------------------------------------------------------------


def waiting_times(load: float, messages: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Waiting time [s] of single packets that come to a link at random: on packets, and by Lindley's recursion.

    The sender's own link is a thousand times as fast, so that packets reach the switch as they are drawn.
    """
    topology = Topology("queue")
    switch = topology.add_device("switch", "switch")
    ends = [topology.add_device(name, "gpu") for name in ("a", "b")]
    topology.connect(ends[0], switch, 1000 * RATE, LATENCY, "ethernet")
    topology.connect(switch, ends[1], RATE, LATENCY, "ethernet")
    ports = Ports(lossless=False, buffer="1GB")
    model = PacketModel(
        Scenario(topology, 1, Policies(congestion_control={"kind": "none"}, ports=ports, packets=UEC.packets))
    )
    gaps = np.random.default_rng(seed).exponential(SENT / load, messages)
    starts = np.round(np.cumsum(gaps) * 1e12) * 1e-12
    graph = flow_graph(2, [0], [1], [0], PAYLOAD)
    ended = np.zeros(messages)
    first = 0
    for number, start in enumerate(starts.tolist()):
        while model.next_time < start and (done := model.advance(start)):
            for completion in done:
                ended[completion.graph] = completion.time
        model.start(graph, np.array(ends), 0, start)
        first = number
    for completion in drain(model):
        ended[completion.graph] = completion.time
    assert first == messages - 1
    at_switch = starts + SENT / 1000 + LATENCY
    expected = np.zeros(messages)
    for i in range(1, messages):
        expected[i] = max(0.0, expected[i - 1] + SENT - (at_switch[i] - at_switch[i - 1]))
    return ended - at_switch - SENT - LATENCY, expected


@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
def test_packets_wait_as_in_a_queue_with_random_arrivals(load):
    """Every single packet waits as Lindley's recursion says; over many arrivals that is M/D/1: rho s / 2 (1 - rho)."""
    simulated, expected = waiting_times(load, 4000, 7)
    # back to back on the fast link, packets come up to one of its packet times later than drawn
    assert simulated == pytest.approx(expected, abs=2 * SENT / 1000)
    gaps = np.random.default_rng(1).exponential(SENT / load, 4_000_000)
    walk = np.cumsum(SENT - gaps)
    waits = walk - np.minimum.accumulate(np.minimum(walk, 0.0))
    assert waits.mean() == pytest.approx(load * SENT / (2 * (1 - load)), rel=0.03)


# -- pauses -----------------------------------------------------------------------------------------------


# -- losses -----------------------------------------------------------------------------------------------


def lose_one(packet: int, **policies) -> PacketModel:
    """A flow of 490 packets over two links, of which the first loses one packet."""
    topology = star(2, RATE, 10e-6)
    ports = Ports(lossless=False, losses=[Loss(link=("h0", "switch"), packet=packet)])
    model = PacketModel(Scenario(topology, 1, Policies(ports=ports, packets=UEC.packets, **policies)))
    model.start(flow_graph(2, [0], [1], [0], 2_000_000), hosts(topology, 0, 1), 0, 0.0)
    drain(model)
    return model


@pytest.mark.parametrize("packet", [1, 100, 250])
def test_one_lost_packet_costs_go_back_n_a_window(packet):
    model = lose_one(packet, congestion_control={"kind": "fixed_window"}, transport={"kind": "go_back_n"})
    row = model.tables.connections[0]
    window = int(row.window // PACKET)
    assert window == np.ceil((SENT + ACK / RATE + 20e-6 + SENT + ACK / RATE + 20e-6) * RATE / PACKET)
    assert row.resent_packets == window
    assert row.timeouts == 0
    assert model.tables.ports.dropped.sum() == 1
    # on the lossy link and the next one
    assert sorted(model.tables.ports.packets_in)[-2:] == [490 + window - 1, 490 + window]


@pytest.mark.parametrize("packet", [1, 100, 250])
def test_one_lost_packet_costs_selective_repeat_a_packet(packet):
    transport = {"kind": "selective_repeat", "duplicates": 3}
    model = lose_one(packet, congestion_control={"kind": "fixed_window"}, transport=transport)
    row = model.tables.connections[0]
    assert (row.resent_packets, row.timeouts) == (1, 0)
    assert sorted(model.tables.ports.packets_in)[-2:] == [490, 491]


def test_a_link_loses_packets_with_a_probability():
    topology = star(2, RATE, LATENCY)
    ports = Ports(lossless=False, losses=[Loss(link=("switch", "h1"), probability=0.02)])
    transport = {"kind": "selective_repeat", "duplicates": 3}
    policies = Policies(congestion_control={"kind": "fixed_window"}, ports=ports, transport=transport)
    model = PacketModel(Scenario(topology, 1, policies))
    model.start(flow_graph(2, [0], [1], [0], 8e6), hosts(topology, 0, 1), 0, 0.0)
    assert len(drain(model)) == 2
    sent = int(model.tables.ports.packets_in.max())
    assert model.tables.ports.dropped.sum() == pytest.approx(0.02 * sent, abs=4 * (0.02 * sent) ** 0.5)
    assert model.tables.connections[0].resent_packets >= model.tables.ports.dropped.sum()


def test_a_loss_needs_a_link_that_is_there():
    policies = Policies(ports=Ports(losses=[Loss(link=("h0", "h1"), packet=1)]))
    with pytest.raises(InputError, match=r"losses\.0\.link: no link from 'h0' to 'h1'"):
        PacketModel(Scenario(star(2), 1, policies))
    with pytest.raises(ValueError, match="either probability or packet"):
        Loss(link=("h0", "switch"))


# -- the fluid --------------------------------------------------------------------------------------------


def fluid(topology: Topology, graph, devices, spray: bool = True) -> np.ndarray:
    """Completion times [s] of the flow model, with rates of links that payload has."""
    slower = Topology("payload")
    for device in topology.devices:
        slower.add_device(device.name, device.kind)
    for link in topology.links:
        slower.add_link(link.source, link.destination, link.rate * PAYLOAD / PACKET, link.latency, link.kind)
    policies = Policies(load_balancing={"kind": "spray" if spray else "ecmp"})
    model = FlowModel(Scenario(slower, 1, policies=policies, record=True))
    model.start(graph, devices, 0, 0.0)
    drain(model)
    return model.report().flows["end"]


@pytest.mark.parametrize("size", [2e6, 8e6])
@pytest.mark.parametrize("other", [1, 4, 127])
def test_a_flow_alone_is_that_of_the_fluid(size, other):
    topology = fat_tree(8, RATE, LATENCY)
    graph, devices = flow_graph(2, [0], [1], [0], size), hosts(topology, 0, other)
    packets = finish_times(PacketModel(Scenario(topology, 1, UEC)), graph, devices)[1]
    assert packets == pytest.approx(fluid(topology, graph, devices)[0], rel=0.01)


def test_a_sprayed_permutation_is_near_that_of_the_fluid():
    topology = fat_tree(8, RATE, LATENCY)
    destination = (np.arange(128) * 37 + 5) % 128  # no fixed point: 36 i + 5 is odd
    graph = flow_graph(128, np.arange(128), destination, np.arange(128), 2e6)
    devices = hosts(topology, *range(128))
    policies = Policies(congestion_control={"kind": "nscc"}, load_balancing={"kind": "spray"}, packets=UEC.packets)
    model = PacketModel(Scenario(topology, 1, policies, record=True))
    model.start(graph, devices, 0, 0.0)
    drain(model)
    packets, expected = model.report().flows["end"], fluid(topology, graph, devices)
    assert 1.0 <= packets.mean() / expected.mean() <= 1.15
    assert 1.0 <= packets.max() / expected.max() <= 1.25
