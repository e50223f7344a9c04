"""The topologies that come with simnet."""

from pathlib import Path

import networkx as nx
import pytest

from simnet.hardware import GPUS
from simnet.topology import TopologyFile, native
from simnet.topology.describe import bisection_bandwidth, devices_by_kind
from simnet.topology.importers import nccl_xml

ROOT = Path(__file__).resolve().parents[2]
READY = sorted((ROOT / "topologies").glob("*.yaml"))
DUMP = ROOT / ".." / "shared" / "data" / "topo" / "nccl_xml" / "oci_bm_gpu_h100.8_full_dump.xml"

GPU_COUNTS = {
    "dgx1_v100_x4": 32, "dgx_a100_x4_rail": 32, "dragonfly_72": 72, "fat_tree_k8": 128, "hgx_h100_pair": 16,
    "leaf_spine_256": 256, "leaf_spine_h100_2to1": 128, "nvl72": 72, "nvl72_x2": 144, "oci_h100": 8,
    "parm_32gpu_2080ti": 32, "parm_32gpu_measured_copy": 32, "parm_32gpu_measured_link": 32, "parm_8gpu_pcie": 8,
    "torus_4x4x4": 64,
}  # fmt: skip


def ready(name: str):
    return TopologyFile(file=ROOT / "topologies" / f"{name}.yaml").build()


def test_the_list_above_is_complete():
    assert [path.stem for path in READY] == sorted(GPU_COUNTS)


@pytest.mark.parametrize("path", READY, ids=[path.stem for path in READY])
def test_each_builds_is_connected_and_opens_with_what_it_is(path):
    topology = TopologyFile(file=path).build()
    assert len(topology.gpus) == GPU_COUNTS[path.stem]
    assert nx.is_strongly_connected(topology.graph)
    assert all(topology.devices[gpu].model in GPUS for gpu in topology.gpus)
    assert path.read_text().startswith("# ")


def test_oversubscription_of_two_halves_what_crosses():
    # 64 of 128 NICs of 50 GB/s send to the other half through uplinks of half the rate
    assert bisection_bandwidth(ready("leaf_spine_h100_2to1")) == pytest.approx(64 * 50e9 / 2)


def test_parm_cluster_stages_everything_through_the_host_and_one_nic():
    topology = ready("parm_32gpu_2080ti")
    assert devices_by_kind(topology) == {"switch": 1, "gpu": 32, "cpu": 16, "memory": 16, "nic": 8}
    assert all(not (server.p2p or server.gpudirect) for server in topology.servers.values())
    assert {link.rate for link in topology.links if link.kind == "ib"} == {12.5e9}
    assert {topology.devices[gpu].model for gpu in topology.gpus} == {"rtx_2080_ti"}


def test_parm_server_has_no_network():
    topology = ready("parm_8gpu_pcie")
    assert topology.find("nic") == []
    assert [server.p2p for server in topology.servers.values()] == [False]


@pytest.mark.skipif(not DUMP.is_file(), reason="the real dump is not here")
def test_the_oci_server_is_what_the_importer_makes_of_the_dump():
    imported = nccl_xml.read(DUMP)
    imported.name = "oci_h100"
    text = (ROOT / "topologies" / "oci_h100.yaml").read_text()
    assert "".join(line for line in text.splitlines(True) if line[0] != "#") == native.to_yaml(imported)


def test_the_oci_server_has_nvlink_everywhere_and_a_45_gbyte_nic_a_gpu():
    topology = ready("oci_h100")
    assert devices_by_kind(topology) == {
        "gpu": 8, "cpu": 2, "memory": 2, "pcie_switch": 8, "nic": 8, "nvswitch": 1
    }  # fmt: skip
    assert [link.rate for link in topology.links if link.kind == "nvlink"] == [450e9] * 16
    assert {topology.devices[nic].port_rate for nic in topology.find("nic")} == {45e9}
