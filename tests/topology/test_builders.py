"""Builders: what every one of them keeps to, and the counts and bandwidths of the literature for each."""

import re
from itertools import permutations
from math import prod

import networkx as nx
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from simnet.errors import InputError
from simnet.hardware import GPUS, HOSTS, LINKS
from simnet.params import tagged
from simnet.topology import Topology
from simnet.topology import topology as limits
from simnet.topology.builders import BUILDERS, FABRICS, NODES, SERVERS
from simnet.topology.builders.dgx1_v100 import NVLINKS
from simnet.topology.describe import bisection_bandwidth, cut_bandwidth, devices_by_kind
from simnet.topology.routing import Router

PORT = 50e9  # [bytes/s] of a bare GPU, 400 Gb/s
TOPOLOGY = TypeAdapter(tagged(BUILDERS))


def build(kind: str, **params) -> Topology:
    return TOPOLOGY.validate_python({"kind": kind, **params}).build()


def links_between(topology: Topology, a: str, b: str) -> list:
    ids = topology.id_of(a), topology.id_of(b)
    return [link for link in topology.links if (link.source, link.destination) == ids]


def switches(topology: Topology, start: str) -> list[int]:
    return [i for i in topology.find("switch") if topology.devices[i].name.split("/")[-1].startswith(start)]


def parts(topology: Topology) -> tuple:
    return topology.name, topology.devices, topology.links, topology.servers, topology.assumptions


@pytest.fixture(params=BUILDERS)
def topology(request) -> Topology:
    return build(request.param)


class TestEveryBuilder:
    def test_has_a_first_sentence_for_the_list(self):
        for builder in BUILDERS.values():
            assert builder.__doc__.split("\n\n")[0].strip().endswith(".")

    def test_every_device_reaches_every_other(self, topology):
        assert len(topology.gpus) > 1
        assert nx.is_strongly_connected(topology.graph)

    def test_every_link_has_its_reverse(self, topology):
        there = sorted((k.source, k.destination, k.rate, k.latency, k.kind) for k in topology.links)
        back = sorted((k.destination, k.source, k.rate, k.latency, k.kind) for k in topology.links)
        assert there == back

    def test_names_are_unique(self, topology):
        names = [device.name for device in topology.devices]
        assert len(set(names)) == len(names)

    def test_gpus_have_a_model_and_nics_a_rate(self, topology):
        assert all(topology.devices[gpu].model for gpu in topology.gpus)
        assert all(topology.devices[nic].port_rate > 0 for nic in topology.find("nic"))

    def test_building_twice_gives_the_same(self, topology):
        assert parts(build(topology.name)) == parts(topology)

    def test_parameters_survive_being_written(self):
        for kind in BUILDERS:
            params = TOPOLOGY.validate_python({"kind": kind})
            written = params.model_dump(mode="json", exclude_none=True)
            assert TOPOLOGY.validate_python(written) == params


class TestServers:
    def test_dgx1_has_the_cube_mesh(self):
        topology = build("dgx1_v100")
        for a, row in enumerate(NVLINKS):
            for b, count in enumerate(row):
                rates = [link.rate for link in links_between(topology, f"gpu{a}", f"gpu{b}")]
                assert rates == ([count * 25e9] if count else [])
        assert all(sum(row) == 6 for row in NVLINKS)
        assert all(NVLINKS[a][b] == NVLINKS[b][a] for a in range(8) for b in range(8))

    def test_dgx1_places_gpus_and_nics_in_pairs_below_four_switches(self):
        topology = build("dgx1_v100")
        assert links_between(topology, "gpu1", "pcie0")
        assert links_between(topology, "gpu2", "pcie1")
        assert links_between(topology, "nic3", "pcie3")
        assert links_between(topology, "pcie1", "cpu0")
        assert links_between(topology, "pcie2", "cpu1")

    def test_part_of_a_dgx1_is_its_first_gpus(self):
        topology = build("dgx1_v100", gpus=4)
        assert links_between(topology, "gpu2", "gpu3")[0].rate == 50e9
        with pytest.raises(ValidationError):
            build("dgx1_v100", gpus=9)

    @pytest.mark.parametrize(
        ("kind", "nvlink", "pcie_switches", "nics", "nic_rate"),
        [
            ("dgx_a100", 300e9, 4, 8, 25e9),
            ("hgx_h100", 450e9, 8, 8, 50e9),
            ("hgx_h200", 450e9, 8, 8, 50e9),
            ("hgx_h20", 450e9, 8, 8, 50e9),
            ("dgx_b200", 900e9, 8, 8, 50e9),
            ("dgx_b300", 900e9, 8, 8, 100e9),
        ],
    )
    def test_nvswitch_servers(self, kind, nvlink, pcie_switches, nics, nic_rate):
        topology = build(kind)
        assert devices_by_kind(topology) == {
            "gpu": 8, "cpu": 2, "memory": 2, "pcie_switch": pcie_switches, "nic": nics, "nvswitch": 1
        }  # fmt: skip
        assert {link.rate for link in topology.links if link.kind == "nvlink"} == {nvlink}
        assert {topology.devices[nic].port_rate for nic in topology.find("nic")} == {nic_rate}
        assert any("NVSwitch" in sentence for sentence in topology.assumptions)

    def test_each_h100_shares_its_pcie_switch_with_its_nic_alone(self):
        topology = build("hgx_h100")
        for i in range(8):
            assert links_between(topology, f"gpu{i}", f"pcie{i}")
            assert links_between(topology, f"nic{i}", f"pcie{i}")

    def test_nvl72_is_one_nvlink_domain_of_18_servers(self):
        topology = build("nvl72")
        assert devices_by_kind(topology) == {"nvswitch": 1, "gpu": 72, "cpu": 36, "memory": 36, "nic": 72}
        assert list(topology.servers) == [f"tray{i}" for i in range(18)]
        assert bisection_bandwidth(topology) == 36 * 900e9
        assert len(links_between(topology, "tray3/gpu3", "tray3/cpu1")) == 1

    @pytest.mark.parametrize(
        ("kind", "nics", "rate", "total"),
        [("dgx_a100", 4, "100Gbps", 50e9), ("hgx_h100", 32, "100Gbps", 400e9), ("hgx_h200", 16, "200Gbps", 400e9)],
    )
    def test_machines_of_clouds_are_these_with_other_nics(self, kind, nics, rate, total):
        topology = build(kind, nics=nics, nic_rate=rate)
        assert sum(topology.devices[nic].port_rate for nic in topology.find("nic")) == total
        switches = len(topology.find("pcie_switch"))
        assert all(links_between(topology, f"nic{i}", f"pcie{i * switches // nics}") for i in range(nics))

    def test_dgx2_has_sixteen_gpus_at_six_links_each(self):
        topology = build("dgx2")
        assert len(topology.gpus) == 16
        assert bisection_bandwidth(topology) == 8 * 150e9 + HOSTS["skylake"].socket_rate

    @pytest.mark.parametrize("kind", ["dgx_a100", "hgx_h100", "dgx_b200"])
    def test_nvlink_rate_is_that_of_the_model_unless_given(self, kind):
        assert links_between(build(kind, gpu="a100_sxm_80"), "gpu0", "nvswitch0")[0].rate == 300e9
        assert links_between(build(kind, nvlink_rate="123GB/s"), "gpu0", "nvswitch0")[0].rate == 123e9

    def test_a_model_without_nvlinks_needs_a_rate(self):
        with pytest.raises(ValidationError, match="no NVLinks are known of l40s; give an nvlink_rate"):
            build("hgx_h100", gpu="l40s")
        assert links_between(build("hgx_h100", gpu="l40s", nvlink_rate="10GB/s"), "gpu0", "nvswitch0")[0].rate == 10e9

    # what a pair of GPUs of one group has: its NVLinks over the others of a full group
    @pytest.mark.parametrize(
        ("kind", "group", "rate"),
        [
            ("a100_pcie_server", 2, 300e9), ("h100_pcie_server", 2, 300e9), ("a40_server", 2, 56.25e9),
            ("rtx_2080_ti_server", 2, 50e9), ("h200_nvl_server", 4, 150e9), ("mi300x_server", 8, 64e9),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("gpus", [8, 4, 2, 5])
    def test_bridged_servers_join_all_pairs_of_a_group(self, kind, group, rate, gpus):
        topology = build(kind, gpus=gpus)
        for a in range(gpus):
            for b in range(gpus):
                rates = [link.rate for link in links_between(topology, f"gpu{a}", f"gpu{b}")]
                assert rates == ([rate] if a != b and a // group == b // group else [])

    @pytest.mark.parametrize("kind", [kind for kind in SERVERS if kind != "nvl72"])
    @pytest.mark.parametrize("gpus", [1, 2, 3, 4])
    def test_some_of_the_gpus_reach_each_other(self, kind, gpus):
        topology = build(kind, gpus=gpus)
        router = Router(topology)
        assert len(topology.gpus) == gpus
        for a in topology.gpus:
            assert all(router.path(a, b) for b in topology.gpus if a != b)

    def test_all_gpus_reach_each_other(self):
        for kind in SERVERS:
            topology = build(kind, **({"trays": 2} if kind == "nvl72" else {}))
            pairs = list(permutations(topology.gpus, 2))
            source, destination = np.array(pairs).T
            channel, keys = np.zeros(len(pairs), int), np.zeros(len(pairs), np.uint64)
            assert Router(topology).routes(source, destination, channel, keys).reachable.all()

    @pytest.mark.parametrize("kind", ["rtx_4090_server", "rtx_5090_server", "a10g_server", "a40_server"])
    def test_servers_without_p2p_stage_in_host_memory(self, kind):
        topology = build(kind)
        path = Router(topology).path(topology.gpus[0], topology.gpus[3])
        assert any(topology.devices[topology.links[link].destination].kind == "memory" for link in path)

    def test_bridged_pairs_need_no_staging(self):
        topology = build("rtx_2080_ti_server")
        path = Router(topology).path(topology.gpus[2], topology.gpus[3])
        assert [topology.links[link].kind for link in path] == ["nvlink"]

    def test_pcie_links_are_those_of_the_models(self):
        for kind, server in SERVERS.items():
            if kind not in ("nvl72", "pcie_server"):
                assert server().pcie == GPUS[server().gpu].pcie

    def test_pcie_server_with_switches(self):
        topology = build("pcie_server", gpus=8, gpus_per_switch=4, sockets=2, nics=2, pcie_rate="12GB/s")
        assert links_between(topology, "gpu3", "pcie0")
        assert links_between(topology, "gpu4", "pcie1")
        assert links_between(topology, "nic1", "pcie1")
        assert links_between(topology, "pcie1", "cpu1")
        assert {link.rate for link in topology.links if link.kind == "pcie"} == {12e9}

    def test_pcie_server_without_switches_uses_root_ports(self):
        topology = build("pcie_server", gpus=4, gpus_per_switch=0, sockets=2, nics=1)
        assert topology.find("pcie_switch") == []
        assert links_between(topology, "gpu1", "cpu0")
        assert links_between(topology, "gpu2", "cpu1")
        assert links_between(topology, "nic0", "cpu0")

    def test_pcie_server_with_a_last_switch_that_is_not_full(self):
        topology = build("pcie_server", gpus=5, gpus_per_switch=2, sockets=1)
        assert len(topology.find("pcie_switch")) == 3
        assert links_between(topology, "gpu4", "pcie2")

    @pytest.mark.parametrize("sockets", [1, 2, 4])
    def test_sockets_have_memory_and_are_fully_meshed(self, sockets):
        topology = build("pcie_server", sockets=sockets, gpus=8, memory_rate="100GB/s", socket_rate="20GB/s")
        cpus, memories = topology.find("cpu"), topology.find("memory")
        assert len(cpus) == len(memories) == sockets
        rates = [link.rate for link in topology.links if link.kind == "memory"]
        assert sorted(rates) == [20e9] * (sockets * (sockets - 1)) + [100e9] * (2 * sockets)

    def test_what_gpus_and_nics_may_do_is_said_of_the_server(self):
        (server,) = build("pcie_server", p2p=False, gpudirect=False).servers.values()
        assert (server.p2p, server.gpudirect) == (False, False)
        (server,) = build("hgx_h100").servers.values()
        assert (server.p2p, server.gpudirect) == (True, True)

    def test_links_at_a_cpu_have_the_latency_of_a_root_port(self):
        topology = build("hgx_h100")
        assert links_between(topology, "pcie0", "cpu0")[0].latency == 500e-9
        assert links_between(topology, "gpu0", "pcie0")[0].latency == LINKS["pcie5_x16"].latency


class TestEveryFabric:
    @pytest.mark.parametrize("node", NODES)
    def test_nodes_plug_in_as_many_ports_as_they_say(self, node):
        params = TypeAdapter(tagged(NODES)).validate_python({"kind": node})
        assert params.ports == (1 if node == "gpu" else len(params.build().find("nic")))

    @pytest.mark.parametrize("kind", FABRICS)
    @pytest.mark.parametrize("node", ["gpu", "dgx1_v100", "pcie_server"])
    def test_takes_any_node_and_as_many_as_there_is_room_for(self, kind, node):
        full = build(kind, node={"kind": node})
        nodes = len(full.gpus) if node == "gpu" else len(full.servers)
        single = TypeAdapter(tagged(NODES)).validate_python({"kind": node}).build()
        assert len(full.gpus) == nodes * len(single.gpus)
        assert nx.is_strongly_connected(full.graph)
        if kind != "single_switch":  # which has room for any number
            with pytest.raises(ValidationError, match=rf"there is room for {nodes}\b"):
                build(kind, node={"kind": node}, nodes=nodes + 1)

    @pytest.mark.parametrize("kind", FABRICS)
    def test_few_nodes_leave_the_switches_in_place(self, kind):
        some, full = build(kind, nodes=2), build(kind)
        assert len(some.find("switch")) == len(full.find("switch"))
        assert len(some.gpus) == 2 * (8 if kind == "rail_optimized" else 1)

    @pytest.mark.parametrize("kind", FABRICS)
    def test_link_parameters_reach_all_fabric_links(self, kind):
        topology = build(
            kind, node={"kind": "gpu"}, link_rate="10Gbps", link_latency="1us", link_kind="ethernet", buffer="1MiB"
        )
        for link in topology.links:
            from_switch = topology.devices[link.source].kind == "switch"
            assert (link.kind, link.latency, link.buffer) == ("ethernet", 1e-6, 2**20 if from_switch else 0)
            assert link.rate == 1.25e9

    @pytest.mark.parametrize("kind", FABRICS)
    def test_a_node_without_nic_is_refused(self, kind):
        with pytest.raises(ValidationError, match="has no NIC"):
            build(kind, node={"kind": "pcie_server", "nics": 0})

    def test_servers_behind_a_fabric_keep_their_insides_under_their_own_names(self):
        alone, cluster = build("dgx_a100"), build("single_switch", node={"kind": "dgx_a100"}, nodes=2)
        assert list(cluster.servers) == ["node0", "node1"]
        for link in alone.links:
            a, b = alone.devices[link.source].name, alone.devices[link.destination].name
            (copy,) = links_between(cluster, f"node1/{a}", f"node1/{b}")
            assert (copy.rate, copy.latency, copy.kind) == (link.rate, link.latency, link.kind)
        assert cluster.devices[cluster.id_of("node1/gpu3")].server == "node1"
        assert cluster.assumptions == alone.assumptions

    def test_a_node_of_several_servers_keeps_them_apart(self):
        cluster = build("single_switch", node={"kind": "nvl72", "trays": 2}, nodes=2)
        assert list(cluster.servers) == ["node0/tray0", "node0/tray1", "node1/tray0", "node1/tray1"]
        assert cluster.devices[cluster.id_of("node1/nvswitch0")].server == ""

    def test_nics_are_plugged_in_at_their_own_rate_or_the_one_given(self):
        assert (
            links_between(build("single_switch", node={"kind": "dgx1_v100"}), "node0/nic0", "switch0")[0].rate == 12.5e9
        )
        faster = build("single_switch", node={"kind": "dgx1_v100"}, link_rate="200Gbps")
        assert links_between(faster, "node0/nic0", "switch0")[0].rate == 25e9


class TestSingleSwitch:
    def test_every_port_hangs_on_the_one_switch(self):
        topology = build("single_switch", node={"kind": "hgx_h100"}, nodes=3)
        assert len(topology.leaving(topology.find("switch"))) == 24

    def test_is_non_blocking(self):
        assert bisection_bandwidth(build("single_switch", nodes=10)) == 5 * PORT


class TestLeafSpine:
    def test_counts(self):
        topology = build("leaf_spine", leaves=3, spines=2, ports_per_leaf=4)
        assert (len(topology.gpus), len(switches(topology, "leaf")), len(switches(topology, "spine"))) == (12, 3, 2)
        assert len(links_between(topology, "leaf2", "spine1")) == 1

    def test_nics_of_a_server_share_a_leaf(self):
        topology = build("leaf_spine", leaves=2, ports_per_leaf=16, node={"kind": "hgx_h100"})
        for node, leaf in enumerate((0, 0, 1, 1)):
            for nic in range(8):
                assert links_between(topology, f"node{node}/nic{nic}", f"leaf{leaf}")

    @pytest.mark.parametrize("oversubscription", [0.5, 1, 3])
    @pytest.mark.parametrize("parallel", [1, 2])
    def test_oversubscription_sets_the_rate_of_the_cables_to_the_spines(self, oversubscription, parallel):
        topology = build(
            "leaf_spine",
            leaves=2,
            spines=3,
            ports_per_leaf=6,
            parallel_links=parallel,
            oversubscription=oversubscription,
        )
        cables = links_between(topology, "leaf0", "spine2")
        assert len(cables) == parallel
        assert cables[0].rate == pytest.approx(6 * PORT / (oversubscription * 3 * parallel))
        # the halves are the two leaves: the cut is the slower of host ports and cables
        assert bisection_bandwidth(topology) == pytest.approx(6 * PORT / max(oversubscription, 1))

    def test_a_server_with_more_nics_than_a_leaf_has_ports_does_not_fit(self):
        with pytest.raises(ValidationError, match="has 8 ports, for which this fabric has no room"):
            build("leaf_spine", ports_per_leaf=4, node={"kind": "hgx_h100"})


class TestFatTree:
    @pytest.mark.parametrize("k", [2, 4, 8])
    def test_counts_and_full_bisection(self, k):
        topology = build("fat_tree", k=k)
        assert len(topology.gpus) == k**3 // 4
        assert len(topology.find("switch")) == 5 * k**2 // 4
        assert [len(switches(topology, s)) for s in ("core", "aggregation", "edge")] == [
            k * k // 4,
            k * k // 2,
            k * k // 2,
        ]
        assert bisection_bandwidth(topology) == k**3 // 8 * PORT

    def test_every_switch_has_k_ports(self):
        topology = build("fat_tree", k=6)
        assert {len(topology.leaving([switch])) for switch in topology.find("switch")} == {6}

    def test_any_half_of_the_hosts_can_send_to_the_other_at_full_rate(self):
        topology = build("fat_tree", k=4)
        assert cut_bandwidth(topology, topology.gpus[::2], topology.gpus[1::2]) == 8 * PORT

    def test_servers_take_host_ports_in_order(self):
        topology = build("fat_tree", k=8, node={"kind": "dgx1_v100"})
        assert len(topology.servers) == 32
        assert links_between(topology, "node0/nic3", "pod0/edge0")
        assert links_between(topology, "node1/nic0", "pod0/edge1")

    @pytest.mark.parametrize("k", [0, 3, -2])
    def test_k_must_be_even(self, k):
        with pytest.raises(ValidationError):
            build("fat_tree", k=k)


class TestRailOptimized:
    def test_nic_i_is_on_rail_i(self):
        topology = build("rail_optimized", nodes=4)
        for node in range(4):
            for nic in range(8):
                assert links_between(topology, f"node{node}/nic{nic}", f"group0/rail{nic}")
        assert len(switches(topology, "rail")) == 8

    def test_groups_have_leaves_of_their_own(self):
        topology = build("rail_optimized", groups=2, ports_per_leaf=3)
        assert len(topology.servers) == 6
        assert links_between(topology, "node2/nic5", "group0/rail5")
        assert links_between(topology, "node3/nic5", "group1/rail5")
        assert bisection_bandwidth(topology) == 3 * 8 * PORT

    def test_fewer_rails_than_nics_are_shared(self):
        topology = build("rail_optimized", rails=2, ports_per_leaf=8)
        assert len(topology.servers) == 2  # four NICs of each server on a leaf of eight ports
        assert links_between(topology, "node1/nic7", "group0/rail1")

    def test_oversubscription_halves_what_crosses_groups(self):
        topology = build("rail_optimized", groups=2, ports_per_leaf=2, oversubscription=2)
        assert bisection_bandwidth(topology) == pytest.approx(2 * 8 * PORT / 2)


class TestDragonfly:
    @pytest.mark.parametrize(("a", "p", "h"), [(4, 2, 2), (2, 1, 1), (3, 1, 2)])
    def test_the_largest_one_joins_any_two_groups_once(self, a, p, h):
        topology = build("dragonfly", routers_per_group=a, ports_per_router=p, global_links=h)
        groups = a * h + 1
        assert len(topology.gpus) == groups * a * p
        assert len(topology.find("switch")) == groups * a
        crossing = group_pairs(topology)
        assert len(crossing) == groups * (groups - 1)
        assert len(set(crossing)) == len(crossing)
        assert {len(topology.leaving([router])) for router in topology.find("switch")} == {a - 1 + p + h}

    def test_fewer_groups_share_the_global_links_out_evenly(self):
        topology = build("dragonfly", groups=3)  # 8 global ports a group, 2 other groups: 4 links to each
        crossing = group_pairs(topology)
        assert len(crossing) == 3 * 2 * 4
        assert {crossing.count(pair) for pair in crossing} == {4}
        assert {len(topology.leaving([router])) for router in topology.find("switch")} == {3 + 2 + 2}

    def test_a_remainder_stays_unplugged(self):
        topology = build("dragonfly", groups=4)  # 8 global ports a group, 3 other groups: 2 links to each
        assert len(group_pairs(topology)) == 4 * 3 * 2

    def test_one_group_is_a_full_mesh(self):
        assert len(build("dragonfly", groups=1).find("switch")) == 4

    def test_bisection_of_two_halves_of_an_even_number_of_groups(self):
        # 8 groups: 8 global ports, 7 others, one link to each; 4 x 4 links cross, and every one adds its rate,
        # as 32 hosts could send more
        assert bisection_bandwidth(build("dragonfly", groups=8)) == 16 * PORT

    def test_more_groups_than_can_be_joined_are_refused(self):
        with pytest.raises(ValidationError, match="cannot all be joined"):
            build("dragonfly", groups=10)


def group_pairs(topology: Topology) -> list[tuple[str, str]]:
    """(group, group) of every directed link that leaves a group."""
    names = [device.name for device in topology.devices]
    ends = [(names[link.source].split("/")[0], names[link.destination].split("/")[0]) for link in topology.links]
    return [(a, b) for a, b in ends if a != b and a.startswith("group") and b.startswith("group")]


class TestTorus:
    @pytest.mark.parametrize("dimensions", [(5,), (4, 3), (3, 4, 5), (2, 2, 2), (1, 4), (2, 3)])
    def test_degree_of_every_switch(self, dimensions):
        topology = build("torus", dimensions=dimensions)
        assert len(topology.gpus) == len(topology.find("switch")) == prod(dimensions)
        degree = sum({1: 0, 2: 1}.get(size, 2) for size in dimensions)
        assert {len(topology.leaving([switch])) for switch in topology.find("switch")} == {degree + 1}

    @pytest.mark.parametrize("dimensions", [(8, 4), (4, 4, 4), (8,)])
    def test_bisection_cuts_two_cables_of_every_line_of_the_longest_dimension(self, dimensions):
        topology = build("torus", dimensions=dimensions, ports_per_switch=4)
        lines = prod(dimensions) // dimensions[0]
        assert bisection_bandwidth(topology) == 2 * lines * PORT

    def test_diameter_is_half_of_every_dimension(self):
        topology = build("torus", dimensions=(4, 6))
        switches = topology.graph.subgraph(topology.find("switch"))
        assert nx.diameter(nx.DiGraph(switches)) == 2 + 3

    def test_neighbours(self):
        topology = build("torus", dimensions=(3, 4))
        for there in ("switch1_3", "switch0_2", "switch2_3", "switch0_0"):
            assert len(links_between(topology, "switch0_3", there)) == 1


def test_servers_and_fabrics_make_up_the_table():
    assert {**SERVERS, **FABRICS} == BUILDERS


def numbers_of_any_size() -> list[tuple[str, str]]:
    """Kind and key of every number of things that a builder may be given."""
    return [
        (kind, key)
        for kind, builder in BUILDERS.items()
        for key, field in builder.model_fields.items()
        if re.search(r"\bint\b", str(field.annotation)) and key != "gpus_per_switch"  # the more, the fewer switches
    ]


@pytest.mark.parametrize(("kind", "key"), numbers_of_any_size())
@pytest.mark.parametrize("number", [10**6, 10**23])
def test_huge_numbers_end_at_the_limit_and_not_with_the_memory(kind, key, number, monkeypatch):
    monkeypatch.setattr(limits, "MOST_DEVICES", 1000)
    monkeypatch.setattr(limits, "MOST_LINKS", 2000)
    value = [number, number] if key == "dimensions" else number
    with pytest.raises((InputError, ValidationError)) as error:
        build(kind, **{key: value})
    assert "more than" in str(error.value) or isinstance(error.value, ValidationError)
