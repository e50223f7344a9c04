"""The importer of Slurm's topology.conf: small files of our own, what may be wrong with them, and Slurm's own."""

from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile
from simnet.topology.describe import bisection_bandwidth, devices_by_kind

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "slurm"

TREE = """\
# two leaves
SwitchName=spine Switches=leaf[0-1]

SwitchName=leaf0 Nodes=n[00-02],login  # the first
SwitchName=leaf1 Nodes=r[1-2]n[1-2] LinkSpeed=100
"""
BLOCKS = "BlockName=b0 Nodes=n[1-4]\nBlockName=b1 Nodes=n[5-8]\nBlockSizes=4,8\n"


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options) -> Topology:
        path = tmp_path / "topology.conf"
        path.write_text(text)
        return TopologyFile(file=path, **options).build()

    return read


def links(topology: Topology, a: str, b: str) -> list:
    ids = topology.id_of(a), topology.id_of(b)
    return [link for link in topology.links if (link.source, link.destination) == ids]


def test_a_tree(read):
    topology = read(TREE, link_rate="100Gbps", link_latency="1us", gpu="a100_sxm_80")
    names = [topology.devices[g].name for g in topology.gpus]
    assert names == ["n00", "n01", "n02", "login", "r1n1", "r1n2", "r2n1", "r2n2"]
    assert {topology.devices[g].model for g in topology.gpus} == {"a100_sxm_80"}
    assert [link.rate for link in links(topology, "login", "leaf0")] == [12.5e9]
    assert [link.rate for link in links(topology, "leaf1", "spine")] == [4 * 12.5e9]
    assert {link.latency for link in topology.links} == {1e-6}
    assert bisection_bandwidth(topology) == 4 * 12.5e9
    assert topology.assumptions[-1] == "LinkSpeed is not read, as Slurm does not read it either."


def test_what_is_assumed_is_on_record(read):
    text = " ".join(read(TREE).assumptions)
    for word in ("50 GB/s", "300 ns", "one GPU straight on its switch", "as fast upwards", "without a `gpu`"):
        assert word in text


def test_blocks_hang_below_one_switch(read):
    topology = read(BLOCKS, link_rate="400Gbps")
    assert devices_by_kind(topology) == {"gpu": 8, "switch": 3}
    assert [link.rate for link in links(topology, "b1", "core")] == [200e9]
    text = " ".join(topology.assumptions)
    assert "taken as one switch 'core' above all" in text
    assert "BlockSizes" in text


def test_trees_without_a_common_root_are_apart(read):
    topology = read("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n")
    assert nx.number_weakly_connected_components(topology.graph) == 2
    assert "2 switches have none above them" in topology.assumptions[-1]


def test_every_node_is_a_copy_of_a_server(read, tmp_path):
    server = tmp_path / "server.yaml"
    server.write_text("kind: dgx_a100\n")
    topology = read(TREE, node=server)
    assert devices_by_kind(topology)["gpu"] == 64
    assert links(topology, "login/nic7", "leaf0")[0].rate == 25e9
    assert links(topology, "leaf0", "spine")[0].rate == 4 * 8 * 25e9
    assert links(read(TREE, node=server, link_rate="1GB/s"), "login/nic0", "leaf0")[0].rate == 1e9
    with pytest.raises(InputError, match="the model of the GPUs is that of the node"):
        read(TREE, node=server, gpu="h100_sxm")


def test_continued_lines_and_any_case(read):
    topology = read("switchname=a \\\n nodes=n[1-2],n4\n")
    assert [topology.devices[g].name for g in topology.gpus] == ["n1", "n2", "n4"]


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("login", "n01"), 4, "node 'n01' is there twice, first in line 4"),
        (("r[1-2]n[1-2]", "login"), 5, "node 'login' is there twice, first in line 4"),
        (("SwitchName=leaf1", "SwitchName=leaf0"), 5, "'leaf0' is there twice, first in line 4"),
        (("leaf[0-1]", "leaf[0-2]"), 2, "there is no switch 'leaf2'; did you mean 'leaf"),
        (("leaf[0-1]", "leaf[0-1"), 2, "switches: .*a bracket is not closed"),
        (("n[00-02]", "n[02-00]"), 4, "nodes: .*runs backwards"),
        (("Nodes=r", "Node=r"), 5, "unknown word 'Node=.*did you mean 'Nodes'"),
        (("LinkSpeed=100", "nodes=x"), 5, "nodes is there twice"),
        (("Nodes=r[1-2]n[1-2] ", ""), 5, "nothing hangs below 'leaf1': it needs nodes or switches"),
        (("SwitchName=leaf1 ", ""), 5, "the line names no switch or block"),
        (("Nodes=r[1-2]n[1-2] ", "Switches=spine "), 2, "switch 'spine' is below itself"),
        (("Nodes=r[1-2]n[1-2] ", "Switches=leaf0 "), 5, "switch 'leaf0' is below 'spine' already, in line 2"),
        (("login", "leaf1"), 5, "'leaf1' is a node, too, in line 4"),
        (("SwitchName=leaf1", "BlockName=leaf1"), 5, "switches and blocks in one file"),
    ],
)  # fmt: skip
def test_a_wrong_tree_is_refused_where_it_is_wrong(read, change, where, sentence):
    text = TREE.replace(*change, 1)
    assert text != TREE
    with pytest.raises(InputError, match=rf"topology\.conf:{where}: .*{sentence}"):
        read(text)


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("4,8", "4,12"), 3, "a block size is the one before times a power of two, which 12 after 4 is not"),
        (("4,8", "4,4"), 3, "a block size is the one before times a power of two, which 4 after 4 is not"),
        (("4,8", "8"), 1, "block 'b0' has 4 nodes, fewer than the block size 8 of line 3"),
        (("4,8", "4,x"), 3, "BlockSizes should be whole numbers such as 4,8,16, got '4,x'"),
        (("4,8", "4,8 Nodes=n9"), 3, "BlockSizes stand in a line of their own"),
        (("Nodes=n[5-8]", "Switches=b0"), 2, "a block has Nodes, no Switches"),
        (("n[5-8]", "n[4-8]"), 2, "node 'n4' is there twice, first in line 1"),
    ],
)
def test_wrong_blocks_are_refused_where_they_are_wrong(read, change, where, sentence):
    with pytest.raises(InputError, match=rf"topology\.conf:{where}: .*{sentence}"):
        read(BLOCKS.replace(*change, 1))


YAML = """\
---
- topology: one
  flat: true
- topology: two
  cluster_default: True
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - switch: s1
        nodes: n[1-2]
      - switch: s2
        nodes: n3
- topology: three
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: "n[1-2]"}
      - {block: b2, nodes: "n[3-4]"}
"""


@pytest.fixture
def read_yaml(tmp_path):
    def read(text: str, **options) -> Topology:
        path = tmp_path / "topology.yaml"
        path.write_text(text)
        return TopologyFile(file=path, **options).build()

    return read


def test_the_default_of_a_topology_yaml(read_yaml):
    topology = read_yaml(YAML, link_rate="1GB/s")
    assert [topology.devices[g].name for g in topology.gpus] == ["n1", "n2", "n3"]
    assert links(topology, "s1", "root")[0].rate == 2e9
    assert "Of 3 topologies in the file, 'two' is read." in topology.assumptions


def test_blocks_of_a_topology_yaml(read_yaml):
    topology = read_yaml(
        YAML.replace("flat: true", "block: {blocks: [{block: b, nodes: 'n[1-4]'}]}").replace("True", "no")
    )
    assert devices_by_kind(topology) == {"gpu": 4, "switch": 1}
    moved = YAML.replace("  cluster_default: True\n", "").replace("three\n", "three\n  cluster_default: true\n")
    assert devices_by_kind(read_yaml(moved)) == {"gpu": 4, "switch": 3}


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (("n3", "n2"), 12, "node 'n2' is there twice, first in line 10"),
        (("s[1-2]", "s[1-3]"), 8, "there is no switch 's3'"),
        (("cluster_default: True", "cluster_default: false"), 2, "topology 'one' is flat, which says nothing"),
        (("flat: true", "ring: true"), 3, "unknown key; allowed"),
        (("flat: true", "flat: true\n  tree: {switches: [{switch: a, nodes: b}]}"), 2, "one of tree, block and flat"),
        (("children: s[1-2]", "childs: s[1-2]"), 9, "unknown key; .*did you mean 'children'"),
    ],
)  # fmt: skip
def test_a_wrong_topology_yaml_is_refused_where_it_is_wrong(read_yaml, change, where, sentence):
    text = YAML.replace(*change, 1)
    assert text != YAML
    with pytest.raises(InputError, match=rf"topology\.yaml:{where}: .*{sentence}"):
        read_yaml(text)


def test_sizes_without_blocks(read):
    with pytest.raises(InputError, match=r"topology\.conf:1: there is no SwitchName or BlockName"):
        read("BlockSizes=4\n")


PUBLIC = {  # nodes, switches, parts that nothing joins
    "slurm_block_topology.conf": (32, 9, 1),
    "slurm_check_topology.conf": (32, 9, 1),
    "slurm_test133_case1_topology.conf": (10_000, 529, 1),
    "slurm_test133_case2_topology.conf": (10_000, 528, 1),
    "slurm_test133_case3_topology.conf": (400, 23, 1),
    "slurm_test133_case4_topology.conf": (400, 22, 2),
    "slurm_test133_case5_topology.conf": (400, 22, 2),
    "slurm_test133_case6_topology.conf": (40, 7, 3),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public files are not here")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_files(name):
    topology = TopologyFile(file=SHARED / name).build()
    parts = int(topology.islands.max()) + 1
    assert (len(topology.gpus), len(topology.find("switch")), parts) == PUBLIC[name]
