"""Every row of the table on a small network: all bytes arrive once, runs repeat, and plain Python agrees."""

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.builders.dragonfly import Dragonfly
from tests.network.packet_level.measuring import printed_without_jit
from tests.network.systems import drain, leaf_spine

PACKETS = 6


def run(kind: str, seed: int = 1) -> tuple[PacketModel, list[float]]:
    """Eight hosts send six packets each, twice, to hosts elsewhere."""
    if kind in ("minimal", "valiant", "ugal"):
        topology = Dragonfly(routers_per_group=2, ports_per_router=2, global_links=1, link_rate="100Gbps").build()
    else:
        topology = leaf_spine(4, 3, 2, 12.5e9)
    policies = Policies(
        load_balancing={"kind": kind}, congestion_control={"kind": "dctcp"}, transport={"kind": "selective_repeat"}
    )
    model = PacketModel(Scenario(topology, seed, policies, record=True))
    hosts = np.arange(8)
    flows = np.arange(16)
    size = PACKETS * 4096.0
    graph = flow_graph(8, hosts, (hosts + 3) % 8, flows % 8, size, flows[:8], flows[8:])
    model.start(graph, np.array(topology.gpus[:8]), 0, 0.0)
    return model, [c.time for c in drain(model)]


def on_wire(model: PacketModel, port: int) -> int:
    slot, total = int(model.tables.ports[port].wire_head), 0
    while slot >= 0:
        total += int(model.tables.packets[slot].bytes)
        slot = int(model.tables.packets[slot].next)
    return total


@pytest.mark.parametrize("kind", LOAD_BALANCERS)
def test_all_bytes_arrive_once_and_ports_balance(kind):
    model, times = run(kind)
    assert len(times) == 8
    report = model.report()
    assert report.flows["size"].tolist() == [PACKETS * 4096.0] * 16
    assert report.counts["progress"] >= 16 * PACKETS  # more where messages are split
    assert report.transport["retransmitted_packets"] == report.transport["duplicates"] == 0
    ports = model.tables.ports
    assert not ports.data_bytes.any()
    # the last acknowledgements are still under way
    assert np.array_equal(ports.bytes_in + [on_wire(model, port) for port in range(len(ports))], ports.bytes_out)
    for device in (d for d, x in enumerate(model._topology.devices) if x.kind == "switch"):
        leaving = ports[ports.node == device]
        assert ports.bytes_in[ports.far == device].sum() == (leaving.bytes_out + leaving.control_bytes).sum()


@pytest.mark.parametrize("kind", LOAD_BALANCERS)
def test_runs_repeat(kind):
    assert run(kind)[1] == run(kind)[1]


def test_plain_python_agrees():
    code = "for kind in LOAD_BALANCERS: print(kind, *map(repr, run(kind)[1]))"
    agreed = [" ".join([kind, *map(repr, run(kind)[1])]) for kind in LOAD_BALANCERS]
    assert printed_without_jit(__name__, code) == agreed
