"""Collectives that switches reduce, and those made of stages: bytes of ranks and links, closed forms, needs."""

import math

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.network import Scenario, network_model
from simnet.workload.collectives import Operation, lower
from simnet.workload.collectives.bounds import lower_bound
from simnet.workload.collectives.pipeline import Pipeline
from tests.workload.collectives.execution import Execution
from tests.workload.systems import FABRIC, LATENCY, NVLINK, group, servers, star

SIZE = 24e6
HOP = 2 * LATENCY  # over one switch


def flows(there, kind, algorithm, size=SIZE):
    return lower(Operation(kind, size, tuple(range(there.members)), algorithm), there)


def run(there, *graphs):
    """When the last of some graphs ends that start together, and the report of the network."""
    network = network_model("flow")(Scenario(there.topology, seed=1))
    for communicator, graph in enumerate(graphs):
        network.start(graph, np.array(there.devices), communicator, now=0.0)
    last = 0.0
    while done := network.advance(math.inf):
        last = max(last, done[-1].time)
    return last, network.report()


def link(there, a, b):
    """Number of the link from a device to another, by name."""
    topology = there.topology
    ends = topology.id_of(a), topology.id_of(b)
    return next(i for i, k in enumerate(topology.links) if (k.source, k.destination) == ends)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_nvls_sends_and_gets_everything_once(n):
    there = group(servers(n))
    graph = flows(there, "all_reduce", "nvls")
    assert graph.sent().tolist() == graph.received().tolist() == [SIZE] * n
    time, _ = run(there, graph)
    assert time == pytest.approx(SIZE / NVLINK + 2 * HOP, rel=1e-9)


def test_nvls_beats_what_ranks_could_do_and_not_what_switches_can():
    there = group(servers(8))
    time, _ = run(there, flows(there, "all_reduce", "nvls"))
    by_ranks, by_switches = (
        lower_bound(Operation("all_reduce", SIZE, tuple(range(8)), algorithm), there.devices, there.topology)
        for algorithm in ("ring", "nvls")
    )
    assert by_switches == pytest.approx(SIZE / (NVLINK + FABRIC))  # PCIe leads out of a GPU, too
    assert by_switches <= time < by_ranks


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter"])
def test_nvls_of_one_half(kind):
    there = group(servers(4))
    time, _ = run(there, flows(there, kind, "nvls"))
    assert time == pytest.approx(3 / 4 * SIZE / NVLINK + HOP, rel=1e-9)


def test_nvls_needs_nvswitches_and_one_server():
    for there in (group(star(4)), group(servers(2, 2))):
        with pytest.raises(InputError, match="nvls: needs ranks of one server that NVSwitches join"):
            flows(there, "all_reduce", "nvls")
    for there in (group(star(4)), group(servers(4))):
        with pytest.raises(InputError, match="nvls_tree: needs ranks of several servers, joined by NVSwitches"):
            flows(there, "all_reduce", "nvls_tree")


@pytest.mark.parametrize(("algorithm", "inside"), [("nvls_tree", 1 + 1 / 4), ("collnet", 2 * 3 / 4)])
def test_a_nic_carries_its_share_once_between_two_servers(algorithm, inside):
    there = group(servers(4, 4))
    graph = flows(there, "all_reduce", algorithm)
    assert len(Execution(graph).order) == graph.flows
    _, report = run(there, graph)
    assert report.bytes[link(there, "server0/nic1", "rail1")] == pytest.approx(SIZE / 4)
    assert report.bytes[link(there, "server0/gpu1", "server0/nvswitch")] == pytest.approx(inside * SIZE)


def test_collnet_on_one_switch_takes_the_data_once():
    there = group(star(6))
    time, report = run(there, flows(there, "all_reduce", "collnet", size=2.0**19))
    assert time == pytest.approx(2.0**19 / FABRIC + HOP, rel=1e-9)
    assert report.bytes[link(there, "gpu0", "switch")] == pytest.approx(2.0**19)


def test_four_servers_of_a_tree_have_no_nic_that_sends_more_than_twice_its_share():
    there = group(servers(2, 2, 2, 2))
    _, report = run(there, flows(there, "all_reduce", "tree"))
    sent = [report.bytes[link(there, f"server{s}/nic{i}", f"rail{i}")] for s in range(4) for i in range(2)]
    assert max(sent) <= 2 * SIZE / 2 * (1 + 1e-12)
    # each of two trees has 3 edges for half of the data, which goes up and comes down
    assert sum(sent) == pytest.approx(2 * 3 * 2 * SIZE / 2)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter"])
def test_parallel_aggregated_trees(n, kind):
    there = group(star(n))
    time, _ = run(there, flows(there, kind, "pat"))
    assert time == pytest.approx(math.ceil(math.log2(n)) * HOP + (n - 1) / n * SIZE / FABRIC, rel=1e-9)


@pytest.mark.parametrize("pieces", [1, 2, 3, 7])
def test_three_flows_stand_for_all_pieces(pieces):
    # a chain of 4 edges: (stages + pieces - 1) times that of a piece, and a latency for each stage
    pipeline = Pipeline(5)
    edges = pipeline.edges(np.arange(4), np.arange(1, 5), SIZE)
    pipeline.wait(edges[1:], edges[:-1])
    time, _ = run(group(star(5)), pipeline.build(pieces))
    assert time == pytest.approx((4 + pieces - 1) * SIZE / pieces / FABRIC + 4 * HOP, rel=1e-9)


def test_two_all_reduces_at_once_take_the_sum_of_their_bandwidth_terms():
    n, small = 4, SIZE / 3
    there = group(star(n))
    time, _ = run(there, flows(there, "all_reduce", "ring"), flows(there, "all_reduce", "ring", small))
    together = 2 * (n - 1) / n * (SIZE + small) / FABRIC
    assert together < time < together + 2 * (2 * (n - 1)) * HOP


def test_a_hierarchical_all_to_all_of_two_servers_of_four():
    # every rank has S / 8 for each: a local member gets its own part and that of the remote one on its rail, 2 S / 8,
    # and there are 3 of them; over a NIC goes what 4 members have for one, 4 S / 8
    there = group(servers(4, 4))
    _, report = run(there, flows(there, "all_to_all", "hierarchical"))
    for server in range(2):
        for i in range(4):
            gpu, nvswitch = f"server{server}/gpu{i}", f"server{server}/nvswitch"
            assert report.bytes[link(there, gpu, nvswitch)] == pytest.approx(3 * 2 * SIZE / 8)
            assert report.bytes[link(there, nvswitch, gpu)] == pytest.approx(3 * 2 * SIZE / 8)
            assert report.bytes[link(there, f"server{server}/nic{i}", f"rail{i}")] == pytest.approx(4 * SIZE / 8)
