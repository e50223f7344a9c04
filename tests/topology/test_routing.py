"""Routes: NVLink first, the nearest NIC, host memory where peers cannot reach each other, equal-cost fabric hops."""

import numpy as np
import pytest

from simnet import hashing
from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from tests.network.systems import fat_tree, leaf_spine


def server(topology, prefix="", p2p=True, gpudirect=True, nics=2, bridge=False):
    """4 GPUs below two PCIe switches of one CPU, NICs below the first switch and its neighbour in turn."""
    name = topology.add_server(f"{prefix}box", p2p, gpudirect)
    cpu, memory = (
        topology.add_device(f"{prefix}cpu0", "cpu", name),
        topology.add_device(f"{prefix}memory0", "memory", name),
    )
    topology.connect(cpu, memory, 100e9, 1e-7, "memory")
    switches = [topology.add_device(f"{prefix}pcie{i}", "pcie_switch", name) for i in range(2)]
    gpus = [topology.add_device(f"{prefix}gpu{i}", "gpu", name) for i in range(4)]
    for switch in switches:
        topology.connect(switch, cpu, 32e9, 1e-7, "pcie")
    for i, gpu in enumerate(gpus):
        topology.connect(gpu, switches[i // 2], 32e9, 1e-7, "pcie")
    if bridge:
        topology.connect(gpus[0], gpus[2], 50e9, 1e-7, "nvlink")
    for i in range(nics):
        nic = topology.add_device(f"{prefix}nic{i}", "nic", name)
        topology.connect(nic, switches[i % 2], 32e9, 1e-7, "pcie")
    return gpus


def names(topology, a, b, **options):
    path = Router(topology).path(topology.id_of(a), topology.id_of(b), **options)
    return (
        None if path is None else " ".join([a, *(topology.devices[topology.links[i].destination].name for i in path)])
    )


def pair_of_servers(**options):
    topology = Topology("pair")
    server(topology, "a/", **options)
    server(topology, "b/", **options)
    switch = topology.add_device("switch", "switch")
    for nic in topology.find("nic"):
        topology.connect(nic, switch, 25e9, 1e-6, "ib")
    return topology


def test_same_pcie_switch():
    topology = Topology("t")
    server(topology)
    assert names(topology, "gpu0", "gpu1") == "gpu0 pcie0 gpu1"
    assert names(topology, "gpu0", "gpu2") == "gpu0 pcie0 cpu0 pcie1 gpu2"


def test_nvlink_before_pcie():
    topology = Topology("t")
    server(topology, bridge=True)
    assert names(topology, "gpu0", "gpu2") == "gpu0 gpu2"
    # a GPU forwards nothing for others: not gpu1 -> gpu0 -> gpu2
    assert names(topology, "gpu1", "gpu2") == "gpu1 pcie0 cpu0 pcie1 gpu2"


def test_without_peer_to_peer_everything_but_nvlink_passes_through_host_memory():
    topology = Topology("t")
    server(topology, p2p=False, bridge=True)
    assert names(topology, "gpu0", "gpu1") == "gpu0 pcie0 cpu0 memory0 cpu0 pcie0 gpu1"
    assert names(topology, "gpu0", "gpu2") == "gpu0 gpu2"


def test_nearest_nic_on_both_sides():
    topology = pair_of_servers()
    assert names(topology, "a/gpu0", "b/gpu3") == "a/gpu0 a/pcie0 a/nic0 switch b/nic1 b/pcie1 b/gpu3"


def test_without_gpudirect_the_nic_reads_host_memory():
    topology = pair_of_servers(gpudirect=False)
    assert (
        names(topology, "a/gpu0", "b/gpu1") == "a/gpu0 a/pcie0 a/cpu0 a/memory0 a/cpu0 a/pcie0 a/nic0 switch "
        "b/nic0 b/pcie0 b/cpu0 b/memory0 b/cpu0 b/pcie0 b/gpu1"
    )


def test_gpus_share_out_equally_near_nics():
    topology = pair_of_servers(nics=4)  # two NICs below each switch, next to two GPUs
    router = Router(topology)
    own = [[topology.devices[n].name for n in router.nics(topology.id_of(f"a/gpu{i}"))] for i in range(4)]
    assert own == [["a/nic0"], ["a/nic2"], ["a/nic1"], ["a/nic3"]]
    # what a GPU has is the same on every channel
    assert names(topology, "a/gpu0", "b/gpu0", channel=1) == "a/gpu0 a/pcie0 a/nic0 switch b/nic0 b/pcie0 b/gpu0"


def test_channels_take_the_nics_of_a_gpu_in_turn():
    topology = pair_of_servers(nics=8)  # four NICs below each switch, two for each GPU
    used = [names(topology, "a/gpu0", "b/gpu0", channel=c).split()[2] for c in range(4)]
    assert used == ["a/nic0", "a/nic4", "a/nic0", "a/nic4"]


def test_more_gpus_than_nics_share_them_evenly():
    topology = pair_of_servers(nics=1)  # one NIC for all four
    router = Router(topology)
    assert [router.nics(topology.id_of(f"a/gpu{i}")) for i in range(4)] == [[topology.id_of("a/nic0")]] * 4


def test_traffic_inside_a_server_never_leaves_it():
    topology = pair_of_servers()
    assert "switch" not in names(topology, "a/gpu0", "a/gpu3").split()


def test_unreachable():
    topology = Topology("t")
    topology.add_device("a", "gpu")
    topology.add_device("b", "gpu")
    assert names(topology, "a", "b") is None


def test_unusable_links_are_avoided():
    topology = leaf_spine(2, 2, 1)
    a, b = topology.gpus
    usable = np.ones(len(topology.links), bool)
    usable[[i for i, k in enumerate(topology.links) if topology.id_of("spine0") in (k.source, k.destination)]] = False
    router = Router(topology, usable)
    for key in range(20):
        assert all(usable[router.path(a, b, key=key)])


def test_ecmp_spreads_evenly_over_equal_cost_paths():
    topology = leaf_spine(2, 4, 1)
    a, b = topology.gpus
    n = 4000
    keys = hashing.keys(1, np.arange(n))
    routes = Router(topology).routes(np.full(n, a), np.full(n, b), np.zeros(n, int), keys)
    uplinks = routes.links[1::4]
    counts = np.unique(uplinks, return_counts=True)[1]
    assert len(counts) == 4
    # binomial with mean 1000 and standard deviation 27
    assert np.all(np.abs(counts - 1000) < 5 * 27)


def test_spray_splits_over_all_equal_cost_paths_and_conserves_the_flow():
    topology = fat_tree(4)
    a, b = topology.gpus[0], topology.gpus[-1]
    routes = Router(topology).routes(np.array([a]), np.array([b]), np.zeros(1, int), np.zeros(1, np.uint64), spray=True)
    balance = np.zeros(len(topology.devices))
    for link, share in zip(routes.links.tolist(), routes.shares.tolist()):
        balance[topology.links[link].source] -= share
        balance[topology.links[link].destination] += share
    expected = np.zeros(len(topology.devices))
    expected[a], expected[b] = -1, 1
    assert balance == pytest.approx(expected, abs=1e-12)
    # 2 aggregation switches and 4 cores: 1 + 2 + 4 + 4 + 2 + 1 links
    assert len(routes.links) == 14
    assert routes.latency[0] == pytest.approx(6e-6)


def test_many_connections_agree_with_one_at_a_time():
    topology = fat_tree(4)
    hosts = topology.gpus
    rng = np.random.default_rng(0)
    source, destination = rng.choice(hosts, 40), rng.choice(hosts, 40)
    keys = hashing.keys(9, np.arange(40))
    router = Router(topology)
    routes = router.routes(source, destination, np.zeros(40, int), keys)
    for c in range(40):
        alone = router.path(int(source[c]), int(destination[c]), key=int(keys[c]))
        assert routes.links[routes.start[c] : routes.start[c + 1]].tolist() == alone
        ends = [topology.links[i] for i in alone]
        assert all(x.destination == y.source for x, y in zip(ends, ends[1:]))
        if alone:
            assert (ends[0].source, ends[-1].destination) == (source[c], destination[c])
