"""Topologies from files of htsim and of the ns-3 simulators: what they say, and what is wrong with them."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.topology import TopologyFile
from simnet.topology.routing import Router

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "cclb"

LEAF_SPINE = """\
# four hosts
Nodes 4
Tiers 2
Podsize 4

Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 1
oversubscribed 2
Downlink_Latency_ns 1000
Switch_Latency_ns 200
Queue_Up 5000

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 2000
Switch_Latency_ns 500
"""
THREE_TIERS = """\
Nodes 8
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2
"""
NS3 = """\
4 2 4
0 3
1 0 100Gbps 1000ns 0
2 0 100Gbps 0.001ms 0.0
0 3 400000000000.0 2us 0
3 1 10Gbps 1us 0
links end here; anything may follow
"""


def build(tmp_path, text: str, name: str):
    path = tmp_path / name
    path.write_text(text)
    return TopologyFile(file=path).build()


def link(topology, a: str, b: str):
    ends = (topology.id_of(a), topology.id_of(b))
    return [k for k in topology.links if (k.source, k.destination) == ends]


def test_two_tiers(tmp_path):
    topology = build(tmp_path, LEAF_SPINE, "small.topo")
    assert topology.name == "small"
    assert [len(topology.find(kind)) for kind in ("gpu", "switch")] == [4, 3]
    (up,), (down,) = link(topology, "host3", "leaf1"), link(topology, "leaf1", "host3")
    assert up.rate == 12.5e9
    assert (up.latency, down.latency) == pytest.approx((1.2e-6, 1e-6))
    (up,), (down,) = link(topology, "leaf1", "spine0"), link(topology, "spine0", "leaf1")
    assert (up.latency, down.latency) == pytest.approx((2.5e-6, 2.2e-6))
    assert (up.buffer, down.buffer) == (5000, 0)


def test_three_tiers_with_bundles(tmp_path):
    topology = build(tmp_path, THREE_TIERS, "bundles.topo")
    assert [len(topology.find(kind)) for kind in ("gpu", "switch")] == [8, 4 + 4 + 4]
    # aggregation switch 0 of a pod joins cores 0 and 2, each by two cables of half the rate
    for core, cables in (("core0", 2), ("core1", 0), ("core2", 2), ("core3", 0)):
        assert [k.rate for k in link(topology, "aggregation2", core)] == [12.5e9] * cables
    path = Router(topology).path(topology.id_of("host0"), topology.id_of("host7"))
    assert len(path) == 6


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("Nodes 4\n", ""), 18, "the file has no Nodes"),
        (("Tiers 2", "Tiers 4"), 3, "Tiers must be 2 or 3, got 4"),
        (("Tiers 2", "Tiers 3"), 3, "says 3 tiers, but there is no tier 2"),
        (("Podsize 4", "Podsize 2"), 6, "with two tiers there is one pod, so Podsize must be 4, got 2"),
        (("Podsize 4", "Podsize 3"), 6, "Podsize 3 does not divide the 4 nodes"),
        (("Tier 1", "Tier 0"), 15, "tier 0 is there twice, first in line 6"),
        (("Radix_Up 1", "Radix_Up one"), 9, "Radix_Up should be a whole number, got 'one'"),
        (("Radix_Up 1", "Radix_Up 2"), 10, "200 Gb/s down and 200 Gb/s up, which is not oversubscribed by 2"),
        (("Radix_Up 1\n", ""), 6, "the tier has no Radix_Up"),
        (("Radix_Up 1", "Radix_Down 1"), 9, "Radix_Down is there twice, first in line 8"),
        (("Radix_Up 1", "Radix_Upp 1"), 9, "unknown word 'Radix_Upp' here; .*did you mean 'Radix_Up'"),
        (("Radix_Down 2\nDownlink_Latency_ns 2000", "Radix_Down 4\nDownlink_Latency_ns 2000"), 17,
         "the 2 uplinks of a pod's leaves do not fill switches of 4"),
        (("Downlink_Latency_ns 2000\n", ""), 15, "the tier has no Downlink_Latency_ns"),
        (("Nodes 4", "Nodes 4 5"), 2, "expected a word and a number, got 3 words"),
        (("Nodes 4", "Nodes 0"), 2, "Nodes must be at least 1"),
        (("Nodes 4", "Nodes 4\nRadix_Up 1"), 3, "unknown word 'Radix_Up' here; allowed: Nodes, Tiers, Podsize, Tier"),
        (("Queue_Up 5000", "Bundle 2"), 13, "Bundle of tier 0 must be 1"),
    ],
)  # fmt: skip
def test_a_wrong_topo_is_refused_where_it_is_wrong(tmp_path, change, where, sentence):
    text = LEAF_SPINE.replace(*change, 1)
    assert text != LEAF_SPINE
    with pytest.raises(InputError, match=rf"small\.topo:{where}: .*{sentence}"):
        build(tmp_path, text, "small.topo")


def test_bundles_that_do_not_fit_the_radix_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"Radix_Up 4 is not 2 cores x Bundle 1"):
        build(tmp_path, THREE_TIERS.replace("Bundle 2", "Bundle 1"), "x.topo")


def test_a_topology_of_ns3(tmp_path):
    topology = build(tmp_path, NS3, "topology.txt")
    assert [topology.devices[g].name for g in topology.gpus] == ["host1", "host2"]
    assert [topology.devices[s].name for s in topology.find("switch")] == ["switch0", "switch3"]
    (fast,), (near,) = link(topology, "switch3", "switch0"), link(topology, "switch0", "host2")
    assert (fast.rate, fast.latency) == pytest.approx((50e9, 2e-6))
    assert (near.rate, near.latency) == pytest.approx((12.5e9, 1e-6))


@pytest.mark.parametrize("header", ["4 2 1 4", "4 2 1 4 100 100"])
def test_longer_headers_of_ns3(tmp_path, header):
    topology = build(tmp_path, NS3.replace("4 2 4", header), "topology.txt")
    assert len(topology.links) == 8


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("4 2 4", "4 2"), 1, "no topology in a known format"),
        (("4 2 4", "four 2 4"), 1, "no topology in a known format"),
        (("4 2 4", "4 2 4 1 1"), 1, "no topology of an ns-3 simulator"),
        (("4 2 4", "4 3 4"), 2, "lists 2 switches, but the header says 3"),
        (("0 3\n1", "0 0\n1"), 2, "lists a switch twice"),
        (("0 3\n1", "0 4\n1"), 2, "there is no node 4; nodes are 0 to 3"),
        (("4 2 4", "4 2 5"), 7, "got 6 words"),
        (("1 0 100Gbps", "1 1 100Gbps"), 3, "joins node 1 to itself"),
        (("1 0 100Gbps", "1 0 0"), 3, "a rate must be finite and above 0"),
        (("1 0 100Gbps", "1 0 100Gbit"), 3, "is no unit of a rate"),
        (("1000ns", "1000"), 3, "has no unit"),
        (("1000ns 0", "1000ns 2"), 3, "the loss is a probability"),
    ],
)
def test_a_wrong_topology_of_ns3_is_refused_where_it_is_wrong(tmp_path, change, where, sentence):
    text = NS3.replace(*change, 1)
    assert text != NS3
    with pytest.raises(InputError, match=rf"topology\.txt:{where}: .*{sentence}"):
        build(tmp_path, text, "topology.txt")


def test_a_truncated_topology_of_ns3_is_refused(tmp_path):
    with pytest.raises(InputError, match="ends after 2 of 4 links"):
        build(tmp_path, "".join(NS3.splitlines(True)[:4]), "topology.txt")
    with pytest.raises(InputError, match="ends before the list of 2 switches"):
        build(tmp_path, "4 2 4\n", "topology.txt")


def test_losses_of_ns3_are_put_on_record(tmp_path):
    assert "1 links lose packets" in build(tmp_path, NS3.replace("0.0\n", "0.01\n"), "topology.txt").assumptions[0]


public = pytest.mark.skipif(not SHARED.is_dir(), reason="the public files are not here")
PUBLIC = {  # hosts, switches, links
    "uet-htsim/fat_tree_1024.topo": (1024, 320, 6144),
    "uet-htsim/fat_tree_128_1os.topo": (128, 80, 768),
    "uet-htsim/fat_tree_128_4os.topo": (128, 68, 576),
    "uet-htsim/leaf_spine_1024_oversub.topo": (1024, 40, 2560),
    "uet-htsim/leaf_spine_1024_oversub_8-1.topo": (1024, 36, 2304),
    "uet-htsim/leaf_spine_8192_400g.topo": (8192, 192, 32768),
    "uet-htsim/leaf_spine_8192_400g_8_to_1.topo": (8192, 136, 18432),
    "uet-htsim/leaf_spine_tiny.topo": (32, 6, 80),
    "uet-htsim/test.topo": (8, 12, 64),
    "csg-htsim/leaf_spine_tiny.topo": (32, 6, 80),
    "hpcc/fat.txt": (320, 56, 960),
    "hpcc/topology.txt": (65, 1, 130),
    "ns3-datacenter/PowerTCP_topology.txt": (128, 10, 288),
    "ns3-datacenter/Reverie_leaf-spine.txt": (256, 20, 640),
    "conweave/fat_k4_100G_OS2.txt": (32, 20, 128),
    "conweave/leaf_spine_128_100G_OS2.txt": (128, 16, 384),
}


@public
@pytest.mark.parametrize("name", PUBLIC)
def test_public_topologies(name):
    topology = TopologyFile(file=SHARED / name).build()
    assert (len(topology.gpus), len(topology.find("switch")), len(topology.links)) == PUBLIC[name]


@public
def test_every_other_public_text_is_refused_in_a_sentence():
    for path in sorted(p for p in SHARED.rglob("*.txt") if str(p.relative_to(SHARED)) not in PUBLIC):
        with pytest.raises(InputError, match=r"\.txt:1: no topology (in a known format|of an ns-3 simulator)"):
            TopologyFile(file=path).build()
