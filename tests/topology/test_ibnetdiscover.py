"""The importer of `ibnetdiscover`: a small fabric of our own, what may be wrong with it, and the real dumps."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile
from simnet.topology.describe import devices_by_kind
from simnet.topology.routing import Router

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "ib"

# two leaves joined by two cables; node0 with two adapters, one at each leaf; SHARP in leaf 0; node1 by 2xHDR
FABRIC = """\
#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
Non-Chassis Nodes

vendid=0x2c9
switchguid=0x10(10)
Switch\t41 "S-0000000000000010"\t\t# "MF0;leaf0:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-00000000000000a0"[1](a0)\t\t# "node0 mlx5_0" lid 2 4xHDR
[2]\t"H-00000000000000b0"[1](b0)\t\t# "node1 mlx5_0" lid 3 2xHDR s=4 w=2 v=4 e=4
[3]\t"S-0000000000000020"[3]\t\t# "leaf1" lid 4 4xHDR
[4][ext 9]\t"S-0000000000000020"[4][ext 9]\t\t# "leaf1" lid 4 4xHDR
[41]\t"H-00000000000000c0"[1](c0)\t\t# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

Switch\t41 "S-0000000000000020"\t\t# "leaf1" enhanced port 0 lid 4 lmc 0
[1]\t"H-00000000000000a8"[1](a8)\t\t# "node0 mlx5_1" lid 5 4xNDR
[3]\t"S-0000000000000010"[3]\t\t# "MF0;leaf0:MQM8700/U1" lid 1 4xHDR
[4][ext 9]\t"S-0000000000000010"[4][ext 9]\t\t# "MF0;leaf0:MQM8700/U1" lid 1 4xHDR

Ca\t1 "H-00000000000000a0"\t\t# "node0 mlx5_0"
[1](a0)\t"S-0000000000000010"[1]\t\t# lid 2 lmc 0 "MF0;leaf0:MQM8700/U1" lid 1 4xHDR

Ca\t1 "H-00000000000000a8"\t\t# "node0 mlx5_1"
[1](a8)\t"S-0000000000000020"[1]\t\t# lid 5 lmc 0 "leaf1" lid 4 4xNDR

Ca\t1 "H-00000000000000b0"\t\t# "node1 mlx5_0"
[1](b0)\t"S-0000000000000010"[2]\t\t# lid 3 lmc 0 "MF0;leaf0:MQM8700/U1" lid 1 2xHDR
"""


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options) -> Topology:
        path = tmp_path / "fabric.out"
        path.write_text(text)
        return TopologyFile(file=path, **options).build()

    return read


def links(topology: Topology, a: str, b: str) -> list:
    ids = topology.id_of(a), topology.id_of(b)
    return [link for link in topology.links if (link.source, link.destination) == ids]


def test_a_fabric(read):
    topology = read(FABRIC)
    assert devices_by_kind(topology) == {"gpu": 2, "nic": 3, "switch": 2}
    assert list(topology.servers) == ["node0", "node1"]
    assert [link.rate for link in links(topology, "node0/mlx5_0", "MF0;leaf0:MQM8700/U1")] == [25e9]
    assert [link.rate for link in links(topology, "leaf1", "node0/mlx5_1")] == [50e9]
    assert [link.rate for link in links(topology, "node1/mlx5_0", "MF0;leaf0:MQM8700/U1")] == [12.5e9]
    assert [link.rate for link in links(topology, "MF0;leaf0:MQM8700/U1", "leaf1")] == [25e9, 25e9]
    assert {link.latency for link in topology.links if link.kind == "ib"} == {300e-9}
    path = Router(topology).path(topology.gpus[0], topology.gpus[1])
    assert topology.rates[path].min() == 12.5e9


def test_what_is_assumed_is_on_record(read):
    text = " ".join(read(FABRIC).assumptions)
    for word in ("each is taken as one GPU", "300 ns", "aggregation nodes of SHARP (1)"):
        assert word in text
    assert "300 ns" not in " ".join(read(FABRIC, link_latency="1us").assumptions)


def test_hosts_without_a_block_of_their_own(read):
    topology = read(FABRIC.partition("Ca\t")[0])
    assert devices_by_kind(topology) == {"gpu": 2, "nic": 3, "switch": 2}
    assert "as the file has no block of the other: 3" in " ".join(topology.assumptions)


def test_every_host_is_a_copy_of_a_node(read, tmp_path):
    (tmp_path / "node.yaml").write_text("kind: pcie_server\ngpus: 4\nnics: 2\n")
    (tmp_path / "cluster.yaml").write_text(
        "kind: leaf_spine\nnode: {file: fabric.out, node: node.yaml}\nleaves: 2\nspines: 1\nports_per_leaf: 2\n"
    )
    only_node0 = FABRIC.replace('"node1 mlx5_0"', '"Aggregation Node"')
    topology = read(only_node0, node=tmp_path / "node.yaml")
    assert devices_by_kind(topology)["gpu"] == 4
    assert links(topology, "node0/nic1", "leaf1")[0].rate == 50e9
    with pytest.raises(InputError, match="node: pcie_server has 2 NICs, but node1 has 1 adapters in the fabric"):
        read(FABRIC, node=tmp_path / "node.yaml")
    (tmp_path / "fabric.out").write_text(only_node0)
    with pytest.raises(InputError, match="has switches of its own"):
        TopologyFile(file=tmp_path / "cluster.yaml").build()


def test_a_node_that_leads_back_to_itself(read, tmp_path):
    (tmp_path / "fabric.out").write_text(FABRIC)
    (tmp_path / "loop.yaml").write_text("kind: single_switch\nnode: {file: fabric.out, node: loop.yaml}\n")
    with pytest.raises(InputError, match="leads back to itself"):
        TopologyFile(file=tmp_path / "loop.yaml").build()


def test_descriptions_that_name_no_host_get_the_guid(read):
    topology = read(FABRIC.replace("node0 mlx5_0", "MT23108 InfiniHost").replace("node0 mlx5_1", "MT23108 InfiniHost"))
    assert list(topology.servers) == [f"MT23108 InfiniHost H-00000000000000{end}" for end in ("a0", "a8")] + ["node1"]


def test_switches_of_one_description_are_told_apart(read):
    topology = read(FABRIC.replace("MF0;leaf0:MQM8700/U1", "leaf1"))
    names = [topology.devices[s].name for s in topology.find("switch")]
    assert names == ["leaf1 S-0000000000000010", "leaf1 S-0000000000000020"]


@pytest.mark.parametrize(
    ("speed", "rate"),
    [("4xSDR", 1e9), ("4xDDR", 2e9), ("4xQDR", 4e9), ("4xFDR10", 5e9), ("4xFDR", 54.3e9 / 8), ("1xEDR", 25e9 / 8),
     ("12xEDR", 37.5e9), ("4xXDR", 100e9), ("4xGDR", 200e9)],
)  # fmt: skip
def test_rates(read, speed, rate):
    topology = read(FABRIC.replace("4xNDR", speed))
    assert links(topology, "node0/mlx5_1", "leaf1")[0].rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("lid 1 4xHDR\n\nCa\t1 \"H-00000000000000a8", "lid 1 4xEDR\n\nCa\t1 \"H-00000000000000a8"), 9,
         "the link is 4xHDR here and 4xEDR at its other end, in line 21"),
        (("[2]\t\t# lid 3", "[1]\t\t# lid 3"), 10, "but line 27 has that port joined to port 1 of S-0+10"),
        (("[3]\t\"S-0000000000000010\"[3]", "[5]\t\"S-0000000000000010\"[3]"), 11,
         "a cable to port 3 of leaf1, of which the block in line 15 says nothing; is the file cut off"),
        (("lid 3 2xHDR s", "lid 3 s"), 10, "ends without width and speed"),
        (("2xHDR s", "2xZDR s"), 10, "unknown width or speed 2xZDR; widths are 1, 2, 4, 8, 12, speeds SDR, DDR"),
        (("2xHDR s", "3xHDR s"), 10, "unknown width or speed 3xHDR"),
        (("[41]", "[42]"), 13, "port 42 of MF0;leaf0:MQM8700/U1, which has 41 ports"),
        (("[2]\t\"H", "[1]\t\"H"), 10, "port 1 of MF0;leaf0:MQM8700/U1 is there twice, first in line 9"),
        (("Switch\t41 \"S-0000000000000020\"", "Switch\t41 \"S-0000000000000010\""), 15,
         "S-0000000000000010 is there twice, first in line 8"),
        (("Switch\t41 \"S-0000000000000010\"", "Sw\t41 \"S-0000000000000010\""), 9, "a port before any Switch or Ca"),
        (("[3]\t\"S-0000000000000020\"[3]", "[3]\t\"S-0000000000000010\"[4]"), 11, "is joined to .* itself"),
        (("[1]\t\"H-00000000000000a0\"[1](a0)", "[1]\tH-00000000000000a0"), 9, "expected a port such as"),
    ],
)  # fmt: skip
def test_a_wrong_dump_is_refused_where_it_is_wrong(read, change, where, sentence):
    text = FABRIC.replace(*change, 1)
    assert text != FABRIC
    with pytest.raises(InputError, match=rf"fabric\.out:{where}: .*{sentence}"):
        read(text)


def test_a_port_of_an_unlisted_host_has_one_cable(read):
    text = FABRIC.partition("Ca\t")[0].replace('"H-00000000000000a8"[1]', '"H-00000000000000a0"[1]')
    with pytest.raises(InputError, match=r"fabric\.out:16: port 1 of node0 mlx5_0 has a cable already, in line 9"):
        read(text)


public = pytest.mark.skipif(not SHARED.is_dir(), reason="the public files are not here")


@public
def test_a_fabric_of_three_tiers():
    topology = TopologyFile(file=SHARED / "superbench_ibnetdiscover_hdr_3tier.txt").build()
    assert devices_by_kind(topology) == {"gpu": 10, "nic": 10, "switch": 8}
    assert {link.rate for link in topology.links if link.kind == "ib"} == {25e9}
    router = Router(topology)
    hops = [len(router.path(topology.gpus[0], gpu)) for gpu in topology.gpus[1:]]
    assert sorted(set(hops)) == [4, 6, 8]  # below one leaf, one line card, the spine


@public
def test_an_adapter_without_a_fabric():
    topology = TopologyFile(file=SHARED / "topograph_ibnetdiscover_single_ca.out").build()
    assert devices_by_kind(topology) == {"gpu": 1, "nic": 1}
    assert topology.assumptions[-1] == "Adapters without any cable: node0123 HCA-1."


@public
def test_other_files_of_the_tools_are_refused():
    sentences = {
        "iblinkinfo.8.rst": ":1: no topology in a known format",
        "opensm_current-routing.txt": ":1: no topology in a known format",
        "opensm_torus-2QoS.conf.5": ":1: no topology in a known format",
        "superbench_gpcnet_network_load.log": ":1: no topology in a known format",
        # the example of this page contradicts itself
        "ibnetdiscover_topology_file_format.rst": ":45: the link is 4xSDR here and 1xSDR at its other end, in line 56",
    }
    for name, sentence in sentences.items():
        with pytest.raises(InputError, match=sentence):
            TopologyFile(file=SHARED / name).build()
