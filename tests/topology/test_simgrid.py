"""The importer of SimGrid's platform XML: every shape by hand, every refusal, and all real files where they are."""

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.describe import bisection_bandwidth, devices_by_kind
from simnet.topology.routing import Router

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "simgrid"
LOADED = ["backbone", "crossbar", "fat_tree", "torus", "dragonfly"]
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'


def platform(attributes: str = "", hosts: int = 4, more: str = "", version: str = "4.1") -> str:
    """A platform of one cluster of so many hosts, with links of 1 GB/s and 2 us."""
    radical = f"0-{hosts - 1}"
    return f"""<?xml version='1.0'?>
{DOCTYPE}
<platform version="{version}"><zone id="world" routing="Full">
<cluster id="c" prefix="n" suffix=".org" radical="{radical}" speed="1Gf" bw="1GBps" lat="2us" {attributes}/>
{more}</zone></platform>
"""


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options) -> Topology:
        (tmp_path / "cluster.xml").write_text(text)
        return TopologyFile(file=tmp_path / "cluster.xml", **options).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(text: str) -> str:
        with pytest.raises(InputError) as error:
            read(text)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def ends(topology: Topology) -> Counter:
    """Number of links by the names of their ends, without the hosts' domain."""
    names = [device.name.replace(".org", "") for device in topology.devices]
    return Counter((names[link.source], names[link.destination]) for link in topology.links)


def path(topology: Topology, a: str, b: str) -> list:
    return [topology.links[i] for i in Router(topology).path(topology.id_of(a), topology.id_of(b))]


class TestFlat:
    def test_hosts_have_the_names_of_prefix_radical_and_suffix(self, read):
        topology = read(platform().replace('radical="0-3"', 'radical="3, 7-8"'))
        assert [topology.devices[gpu].name for gpu in topology.gpus] == ["n3.org", "n7.org", "n8.org"]

    def test_a_crossbar_has_a_link_each_way_for_every_host(self, read):
        topology = read(platform())
        assert devices_by_kind(topology) == {"gpu": 4, "switch": 1}
        assert {(link.rate, link.latency) for link in topology.links} == {(1e9, 2e-6)}
        assert ends(topology)["n0", "c_router"] == ends(topology)["c_router", "n0"] == 1

    def test_all_traffic_takes_a_shared_backbone_in_the_same_direction(self, read):
        topology = read(platform('bb_bw="3GBps" bb_lat="10us"'))
        for a, b in (("n0.org", "n3.org"), ("n3.org", "n0.org")):
            hops = path(topology, a, b)
            assert [(hop.rate, hop.latency) for hop in hops] == [(1e9, 2e-6), (3e9, 10e-6), (1e9, 2e-6)]
        assert path(topology, "n0.org", "n3.org")[1] == path(topology, "n3.org", "n0.org")[1]
        assert any("backbone is one link" in sentence for sentence in topology.assumptions)

    def test_a_backbone_that_flows_do_not_share_is_latency_alone(self, read):
        topology = read(platform('bb_bw="3GBps" bb_lat="10us" bb_sharing_policy="FATPIPE"'))
        hops = path(topology, "n0.org", "n3.org")
        assert [hop.rate for hop in hops] == [1e9, 1e9]
        assert sum(hop.latency for hop in hops) == pytest.approx(14e-6)

    def test_one_that_is_slower_than_the_links_caps_them(self, read):
        topology = read(platform('bb_bw="500MBps" bb_lat="0" bb_sharing_policy="FATPIPE"'))
        assert {link.rate for link in topology.links} == {500e6}
        assert any("FATPIPE" in sentence for sentence in topology.assumptions)

    @pytest.mark.parametrize("policy", ["SHARED", "FATPIPE"])
    def test_what_policies_of_links_are_taken_for_is_told(self, read, policy):
        told = read(platform(f'sharing_policy="{policy}"')).assumptions
        assert any(f"({policy})" in sentence for sentence in told)
        assert not any(
            f"({policy})" in sentence for sentence in read(platform('sharing_policy="SPLITDUPLEX"')).assumptions
        )

    def test_a_limiter_that_can_bind_is_told_and_caps_each_direction(self, read):
        topology = read(platform('limiter_link="800MBps"'))
        assert {link.rate for link in topology.links} == {800e6}
        assert any("limiter" in sentence for sentence in topology.assumptions)
        free = read(platform('limiter_link="2GBps"'))  # both directions at their rate
        assert {link.rate for link in free.links} == {1e9}
        assert not any("limiter" in sentence for sentence in free.assumptions)

    @pytest.mark.parametrize(("text", "rate"), [("10Gbps", 1.25e9), ("1.25E9Bps", 1.25e9), ("2MiBps", 2 * 2.0**20)])
    def test_units(self, read, text, rate):
        topology = read(platform().replace('bw="1GBps"', f'bw="{text}"'))
        assert {link.rate for link in topology.links} == {rate}

    def test_hosts_take_a_model_from_beside_the_file(self, read):
        assert {d.model for d in read(platform(), gpu="a100_sxm_80").devices if d.kind == "gpu"} == {"a100_sxm_80"}
        assert any("cannot compute" in sentence for sentence in read(platform()).assumptions)


class TestFatTree:
    def test_two_levels_with_two_cables_between_switches(self, read):
        # 4 leaves with 2 hosts each; 2 switches above, with 2 cables to every leaf
        topology = read(platform('topology="FAT_TREE" topo_parameters="2;2,4;1,2;1,2"', 8))
        assert devices_by_kind(topology) == {"gpu": 8, "switch": 6}
        links = ends(topology)
        assert links["n0", "level1/switch0"] == links["n1", "level1/switch0"] == links["n7", "level1/switch3"] == 1
        for leaf in range(4):
            for spine in range(2):
                assert links[f"level1/switch{leaf}", f"level2/switch{spine}"] == 2
        assert bisection_bandwidth(topology) == 4e9

    def test_three_levels(self, read):
        # XGFT(3; 2,2,2; 1,2,2): 4 leaves, 4 switches in two pods, 4 at the top; every top switch has one link to a pod
        topology = read(platform('topology="FAT_TREE" topo_parameters="3;2,2,2;1,2,2;1,1,1"', 8))
        assert devices_by_kind(topology) == {"gpu": 8, "switch": 4 + 4 + 4}
        links = ends(topology)
        assert {b for a, b in links if a == "level1/switch0"} == {"n0", "n1", "level2/switch0", "level2/switch1"}
        assert {b for a, b in links if a == "level1/switch3"} == {"n6", "n7", "level2/switch2", "level2/switch3"}
        up = {b for a, b in links if a == "level2/switch0" and "level3" in b}
        assert (
            up
            == {b for a, b in links if a == "level2/switch2" and "level3" in b}
            == {"level3/switch0", "level3/switch2"}
        )
        assert bisection_bandwidth(topology) == 4e9

    def test_hosts_with_two_uplinks(self, read):
        topology = read(platform('topology="FAT_TREE" topo_parameters="1;4;2;1"', 4))
        assert ends(topology)["n0", "level1/switch0"] == ends(topology)["n0", "level1/switch1"] == 1


class TestTorus:
    def test_neighbours_count_the_first_dimension_fastest(self, read):
        topology = read(platform('topology="TORUS" topo_parameters="3,4"', 12))
        links = ends(topology)
        neighbours = {b for a, b in links if a == "n0.org/router".replace(".org", "")}
        assert neighbours == {"n0", "n1/router", "n2/router", "n3/router", "n9/router"}
        assert nx.diameter(nx.Graph(topology.graph.subgraph(topology.find("switch")))) == 1 + 2

    def test_two_cables_along_a_dimension_of_two_and_none_along_one(self, read):
        links = ends(read(platform('topology="TORUS" topo_parameters="2,1"', 2)))
        assert links["n0/router", "n1/router"] == 2
        assert len(links) == 6

    def test_the_host_is_no_bottleneck(self, read):
        topology = read(platform('topology="TORUS" topo_parameters="3,4"', 12))
        assert path(topology, "n0.org", "n1.org")[0].rate == 4e9
        assert any("router of its own" in sentence for sentence in topology.assumptions)


class TestDragonfly:
    PARAMETERS = 'topology="DRAGONFLY" topo_parameters="3,4;2,3;4,5;2"'

    def test_colours(self, read):
        topology = read(platform(self.PARAMETERS, 3 * 2 * 4 * 2))
        assert devices_by_kind(topology) == {"gpu": 48, "switch": 24}
        rates = Counter(link.rate for link in topology.links)
        green, black, blue = 3 * 2 * 6, 3 * 4 * 1, 3
        assert rates == {1e9: 2 * 48, 5e9: 2 * green, 3e9: 2 * black, 4e9: 2 * blue}
        links = ends(topology)
        assert links["group0/chassis0/router2", "group2/chassis0/router0"] == 1  # router j of group i, i of group j
        assert links["group1/chassis0/router3", "group1/chassis1/router3"] == 1
        assert links["n47", "group2/chassis1/router3"] == 1

    def test_farthest_hosts_are_seven_links_apart(self, read):
        # host, green and black to the router with the blue link, blue, black and green, host
        topology = read(platform(self.PARAMETERS, 48))
        hops = [len(path(topology, "n15.org", f"n{i}.org")) for i in range(48) if i != 15]
        assert max(hops) == 2 + 5
        assert min(hops) == 2

    def test_too_few_routers_for_the_groups(self, problem):
        text = platform('topology="DRAGONFLY" topo_parameters="3,1;1,1;2,1;1"', 6)
        assert "a group has 2 routers, too few for one to each of 3 groups" in problem(text)


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("<platform version='4.1'/>", "cluster.xml:1: platform: there is no <cluster> in this file"),
            (platform(version="3"), "version '3' is not read, only 4 and 4.1"),
            (platform(more='<cluster id="d"/>'), "cluster.xml:5: cluster: the second of this file"),
            (platform(more='<host id="h"/>'), "cluster.xml:5: host: a platform of one <cluster> is read"),
            (platform('topology="FATTREE"'), "topology: unknown 'FATTREE'"),
            (platform('topology="TORUS"'), "topo_parameters: expected the size of every dimension"),
            (platform('topology="TORUS" topo_parameters="2,0"'), "got '2,0'"),
            (platform('topology="TORUS" topo_parameters="2,3"'), "names 4 hosts, but a torus of these dime"),
            (platform('topology="TORUS" topo_parameters="4" bb_bw="1GBps" bb_lat="0"'), "a TORUS has no backbone"),
            (platform('topology="FAT_TREE" topo_parameters="2;4;1,1;1,1"'), "2 levels need as many numbers"),
            (platform('topology="FAT_TREE" topo_parameters="1;3;1;1"'), "has 3"),
            (platform('topology="DRAGONFLY" topo_parameters="1;1;1;4"'), "expected three pairs and one number"),
            (platform('bb_lat="0"'), "bb_lat: there is no bb_bw"),
            (platform('bb_bw="1GBps"'), "bb_lat: is missing"),
            (platform('sharing_policy="HALF"'), "unknown 'HALF'; allowed: SHARED, SPLITDUPLEX, FATPIPE"),
            (platform('bandwidth="1"'), "bandwidth: is not read"),
            (platform().replace('bw="1GBps"', 'bw="1"'), "bw: '1' has no unit"),
            (platform().replace('lat="2us"', 'lat="2 fortnights"'), "lat: '2 fortnights'"),
            (platform().replace('radical="0-3"', 'radical="3-0"'), "'3-0' ends before it begins"),
            (platform().replace('radical="0-3"', 'radical="0-3,2"'), "names a host twice"),
            (platform().replace('radical="0-3"', 'radical="0-999999"'), "more than 100,000 hosts"),
            (platform().replace('radical="0-3"', ""), "radical: expected numbers"),
        ],
    )  # fmt: skip
    def test_with_a_sentence(self, problem, text, sentence):
        assert sentence in problem(text)

    @pytest.mark.parametrize(
        "doctype",
        [
            '<!DOCTYPE platform [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
            '<!DOCTYPE platform SYSTEM "x.dtd" [<!ATTLIST host id CDATA "many">]>',
            '<!DOCTYPE platform [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>',
        ],
    )
    def test_bombs(self, problem, doctype):
        assert re.match(r"cluster\.xml:\d+: a DTD or entity", problem(platform().replace(DOCTYPE, doctype)))

    def test_entities_of_the_outer_dtd_are_not_known(self, problem):
        assert "undefined entity" in problem(platform(more="&ha;"))


@pytest.mark.skipif(not SHARED.exists(), reason="the real files are not here")
class TestRealFiles:
    @pytest.mark.parametrize("name", LOADED)
    def test_clusters_load_and_are_the_same_when_written_and_read(self, name, tmp_path):
        topology = TopologyFile(file=SHARED / f"cluster_{name}.xml").build()
        hosts = {"backbone": 100, "crossbar": 65536, "fat_tree": 16, "torus": 12, "dragonfly": 120}
        assert len(topology.gpus) == hosts[name]
        if name != "crossbar":  # which is large
            assert nx.is_strongly_connected(topology.graph)
            (tmp_path / "again.yaml").write_text(native.to_yaml(topology))
            again = TopologyFile(file=tmp_path / "again.yaml").build()
            assert (again.devices, again.links) == (topology.devices, topology.links)

    @pytest.mark.parametrize("path", sorted(SHARED.glob("*")), ids=lambda path: path.name)
    def test_the_others_are_refused_with_a_sentence_and_a_line(self, path):
        if path.stem.removeprefix("cluster_") in LOADED:
            return
        with pytest.raises(InputError, match=re.escape(path.name) + r":\d+: "):
            TopologyFile(file=path).build()
