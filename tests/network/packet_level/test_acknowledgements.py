"""Several packets to an acknowledgement: how many are sent, what they tell, and when one comes sooner."""

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.bitmaps import ARRIVED, set_bit, window_of
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from tests.network.systems import finish_times, leaf_spine, star

RATE = 12.5e9


def run(topology, policies: dict, pairs, size):
    """(model, times) of flows that start together."""
    source, destination = zip(*pairs)
    graph = flow_graph(len(topology.gpus), source, destination, range(len(pairs)), size)
    model = PacketModel(Scenario(topology, 1, Policies(**policies)))
    return model, finish_times(model, graph, topology.gpus)


def answers(model, topology) -> int:
    """Packets that went back from h1, which sends no data."""
    link = next(i for i in range(len(topology.links)) if topology.link_name(i).startswith("h1 -> "))
    return int(model.report().ports["packets"][link])


@pytest.mark.parametrize(("every", "expected"), [(1, 100), (4, 25), (8, 13), (64, 2)])
def test_packets_for_one_acknowledgement(every, expected):
    topology = star(2, RATE)
    chosen = {"congestion_control": {"kind": "none"}, "packets": {"ack_every": every}}
    model, times = run(topology, chosen, [(0, 1)], 100 * 4096)
    # the last packet of a message is acknowledged at once; it completes the flow, behind which the model stops
    assert answers(model, topology) == expected
    assert times[0] == pytest.approx(101 * 4160 / RATE + 2e-6)


def test_a_sender_that_waits_is_answered_at_once():
    # a window of three packets never lets four arrive without an answer
    topology = star(2, RATE)
    bdp = RATE * (4e-6 + 2 * (4160 + 64) / RATE)
    control = {"kind": "fixed_window", "bdps": 3 * 4160 / bdp}
    chosen = {"congestion_control": control, "transport": {"kind": "selective_repeat"}}
    alone = run(topology, chosen, [(0, 1)], 60 * 4096)[1]
    model, times = run(topology, chosen | {"packets": {"ack_every": 4}}, [(0, 1)], 60 * 4096)
    assert model.report().transport["timeouts"] == 0
    assert times[0] < 1.7 * alone[0]


def test_a_mark_is_answered_at_once():
    topology = star(3, RATE)
    marking = {"ecn": {"kmin": "0B", "kmax": "0B"}, "lossless": False}
    chosen = {"congestion_control": {"kind": "none"}, "packets": {"ack_every": 64}, "ports": marking}
    model, _ = run(topology, chosen, [(0, 1), (2, 1)], 100 * 4096)
    marked = int(model.report().ports["marked"].sum())
    assert marked > 150
    assert answers(model, topology) >= marked


def test_what_a_connection_brings():
    def every(control, balancer, **packets):
        chosen = Policies(
            congestion_control={"kind": control}, load_balancing={"kind": balancer}, packets=packets
        )  # fmt: skip
        model = PacketModel(Scenario(star(2), 1, chosen))
        model.start(flow_graph(2, [0], [1], [0], 1e6), np.array([1, 2]), 0, 0.0)
        return int(model.tables.connections.ack_every[0])

    assert every("nscc", "spray") == 4
    assert every("nscc", "reps") == 1
    assert every("dctcp", "ecmp") == 1
    assert every("nscc", "reps", ack_every=2) == 2
    assert every("dctcp", "ecmp", ack_every=8) == 8


@pytest.mark.parametrize("start", [0, 1, 40, 63, 64, 100, 127, 5000])
@pytest.mark.parametrize("words", [1, 2, 16])
def test_bits_of_an_acknowledgement(start, words):
    bits = np.zeros((1, 3, words), np.uint64)
    arrived = [start, start + 3, start + 30]
    for sequence in arrived:
        set_bit(ARRIVED, 0, sequence, True, bits)
    assert window_of(ARRIVED, 0, start, bits) == 1 | 1 << 3 | 1 << 30


def test_packets_out_of_order_are_not_sent_again_after_a_loss():
    # of a sprayed flow one packet is lost; those that overtook it are acknowledged in groups, bit by bit
    topology = leaf_spine(2, 4, 1, RATE)
    chosen = {
        "congestion_control": {"kind": "fixed_window", "bdps": 4},
        "load_balancing": {"kind": "spray"},
        "transport": {"kind": "selective_repeat", "duplicates": 20},
        "packets": {"ack_every": 4},
        "ports": {"lossless": False, "losses": [{"link": ("h0", "leaf0"), "packet": 50}]},
    }
    model, _ = run(topology, chosen, [(0, 1)], 400 * 4096)
    transport = model.report().transport
    assert (transport["retransmitted_packets"], transport["duplicates"], transport["timeouts"]) == (1, 0, 0)
