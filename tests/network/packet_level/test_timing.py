"""Exact times of packets on idle paths: store and forward, acknowledgements on the way back."""

from itertools import pairwise

import pytest

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.parameters import Packets
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.topology import Topology
from tests.network.systems import finish_times

UEC = Policies(congestion_control={"kind": "none"}, packets=Packets(payload="4086B", header="64B", ack="64B"))


def line(hops: int = 6, rate: float = 12.5e9, latency: float = 1e-6) -> Topology:
    """Two hosts with hops - 1 switches between them."""
    topology = Topology("line")
    devices = [topology.add_device("a", "gpu")]
    devices += [topology.add_device(f"s{i}", "switch") for i in range(hops - 1)]
    devices.append(topology.add_device("b", "gpu"))
    for a, b in pairwise(devices):
        topology.connect(a, b, rate, latency, "ethernet")
    return topology


@pytest.mark.parametrize(
    ("size", "received"),
    [
        # (n + H - 1) s + s_last + H d, s = 4150 B at 100 Gb/s = 332 ns, H = 6 links of d = 1 us
        (2_000_000, 489 * 0.332 + 5 * 0.332 + 2010 * 80e-6 + 6),
        (10 * 4086, 15 * 0.332 + 6),
        (100 * 4086, 105 * 0.332 + 6),
    ],
)
def test_a_flow_alone_takes_the_time_of_store_and_forward(size, received):
    topology = line()
    ends = [topology.id_of("a"), topology.id_of("b")]
    times = finish_times(PacketModel(Scenario(topology, 1, UEC)), flow_graph(2, [0], [1], [0], size), ends)
    assert times * 1e6 == pytest.approx([received] * 2, abs=2e-6)
