"""SAA: its flows by hand, their order, and that overlapping never costs anything."""

import itertools

import numpy as np
import pytest

from simnet.network import Scenario, network_model
from simnet.topology.builders import BUILDERS
from simnet.topology.routing import Router
from simnet.workload.collectives import Group, lower
from simnet.workload.moe.saa import EXCHANGE, GATHER, saa
from simnet.workload.task_graph import Operation
from simnet.workload.traffic import Traffic, traffic

NODE = {"kind": "pcie_server", "gpus": 4, "gpus_per_switch": 0, "sockets": 2, "nics": 1, "nic_rate": "100Gbps"}
CLUSTERS = {
    "one bus": ("pcie_server", {"gpus": 8, "gpus_per_switch": 8, "sockets": 1}),
    "two sockets": ("pcie_server", {"gpus": 8, "p2p": False, "gpus_per_switch": 2}),
    "two servers": ("single_switch", {"nodes": 2, "node": NODE}),
    "slow network": ("single_switch", {"nodes": 2, "node": NODE, "link_rate": "1GB/s"}),
    "slow copies": ("single_switch", {"nodes": 2, "node": NODE | {"p2p": False, "copy_rate": "1GB/s"}}),
}


def duration(cluster: str, flows: Traffic, ranks: int) -> float:
    """How long the flows take [s] in the flow model."""
    kind, params = CLUSTERS[cluster]
    topology = BUILDERS[kind](**params).build()
    devices = topology.gpus[:ranks]
    operation = Operation("traffic", 0.0, tuple(range(ranks)), "scheduled", traffic=flows)
    graph = lower(operation, Group(tuple(devices), topology, Router(topology)))
    network = network_model("flow")(Scenario(topology, 1))
    network.start(graph, np.array(devices), 0, 0.0)
    last = 0.0
    while completions := network.advance(float("inf")):
        last = max(last, *(completion.time for completion in completions))
    return last


def serial(flows: Traffic, ranks: int, members: int) -> Traffic:
    """The same steps, but no rank gathers before its last exchange is over."""
    exchange = np.flatnonzero(flows.channel == EXCHANGE).reshape(ranks - 1, ranks)
    first = np.flatnonzero(flows.channel == GATHER).reshape(ranks, ranks, members - 1)[0]
    rank = np.arange(ranks)
    last = np.stack([exchange[-1], exchange[-1, (rank + 1) % ranks]])  # what r sends, and what arrives from r + 1
    before, after = np.broadcast_arrays(last[:, :, None], first[None])
    return traffic(
        flows.source, flows.destination, flows.size, flows.start, channel=flows.channel,
        before=np.concatenate([flows.before, before.ravel()]), after=np.concatenate([flows.after, after.ravel()]),
    )  # fmt: skip


def test_two_pairs_by_hand():
    """P = 4, N_MP = 2, N_ESP = 1: 3 steps of 4 exchanges, 4 chunks gathered by 4 ranks from their one peer."""
    matrix = np.arange(16.0).reshape(4, 4) + 1
    flows = saa(matrix, 2, 1, 1e-6)
    sent = list(zip(flows.source.tolist(), flows.destination.tolist(), flows.size.tolist(), flows.channel.tolist()))
    assert sent[:4] == [(0, 1, 2, 0), (1, 2, 7, 0), (2, 3, 12, 0), (3, 0, 13, 0)]
    assert sent[4:8] == [(0, 2, 3, 0), (1, 3, 8, 0), (2, 0, 9, 0), (3, 1, 14, 0)]
    assert sent[12:16] == [(0, 1, 1, 1), (1, 0, 6, 1), (2, 3, 11, 1), (3, 2, 16, 1)]  # what ranks keep of their own
    assert sent[16:20] == [(0, 1, 13, 1), (1, 0, 2, 1), (2, 3, 7, 1), (3, 2, 12, 1)]  # what step 1 has brought
    waits = {flow: sorted(flows.before[flows.after == flow].tolist()) for flow in range(len(flows))}
    assert all(waits[flow] == [] for flow in (0, 1, 2, 3, 12, 13, 14, 15))
    assert waits[4] == [0, 3]  # rank 0 begins step 2 when it has sent to 1 and received from 3
    assert waits[16] == [0, 3, 12, 13]  # it passes chunk 1 on after step 1, and after chunk 0 on either side
    assert flows.start.tolist() == [1e-6] * 28


@pytest.mark.parametrize("members", [2, 4, 8])
@pytest.mark.parametrize("shards", [1, 2, 4])
def test_bytes(members, shards):
    """Every rank sends (P - 1) / P y in the exchange, and each other member of its group y / N_ESP."""
    flows = saa(np.full((8, 8), 16.0), members, shards, 0.0)
    for channel, size in ((EXCHANGE, 7 * 16.0), (GATHER, (members - 1) * 8 * 16.0 / shards)):
        mine = flows.channel == channel
        assert np.bincount(flows.source[mine], flows.size[mine]).tolist() == [size] * 8
        assert np.bincount(flows.destination[mine], flows.size[mine]).tolist() == [size] * 8
    gather = flows.channel == GATHER
    assert np.all(flows.source[gather] // members == flows.destination[gather] // members)


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("members", [2, 4])
def test_never_slower_than_one_after_the_other(cluster, members):
    for size, shards, launch in itertools.product((1e2, 1e4, 1e6, 1e8), (1, 4), (0.0, 20e-6)):
        flows = saa(np.full((8, 8), size / 8), members, shards, launch)
        together, apart = duration(cluster, flows, 8), duration(cluster, serial(flows, 8, members), 8)
        assert together <= apart * (1 + 1e-9), (size, shards, launch)


def test_overlap_hides_the_gathering_behind_a_slow_network():
    """The network takes 4 / 8 of 1e8 B x 4 GPUs at 1 GB/s; what the servers gather meanwhile adds one chunk at most."""
    size = 1e8
    flows = saa(np.full((8, 8), size / 8), 4, 1, 0.0)
    crossing = 4 * size / 2 / 1e9
    assert crossing < duration("slow network", flows, 8) < 1.3 * crossing
