"""The importer of ASTRA-sim's network files: every shape by hand, every refusal, and all real files where they are."""

import re
from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile
from simnet.topology.describe import bisection_bandwidth, devices_by_kind
from simnet.topology.routing import Router

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "astra"
UNFINISHED = "dgx_v100_8gpu.yml"  # its rates are 'tbd'


def text(topology: str, counts: str, bandwidth: str = "50.0", latency: str = "500") -> str:
    return (
        f"# a comment\ntopology: [ {topology} ]\nnpus_count: [ {counts} ]  # NPUs\n"
        f"bandwidth: [ {bandwidth} ]  # GB/s\nlatency: [ {latency} ]  # ns\n"
    )


@pytest.fixture
def read(tmp_path):
    def read(content: str, name: str = "network.yml", **options) -> Topology:
        (tmp_path / name).write_text(content)
        return TopologyFile(file=tmp_path / name, **options).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(content: str, **options) -> str:
        with pytest.raises(InputError) as error:
            read(content, **options)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def hops(topology: Topology, a: str, b: str) -> list[tuple[float, float]]:
    links = [topology.links[i] for i in Router(topology).path(topology.id_of(a), topology.id_of(b))]
    return [(link.rate, link.latency) for link in links]


def test_a_switch_alone_has_the_latency_on_both_of_its_links(read):
    topology = read(text("Switch", "8", "400", "936.25"))
    assert devices_by_kind(topology) == {"gpu": 8, "switch": 1}
    assert hops(topology, "npu0", "npu7") == [(400e9, pytest.approx(936.25e-9))] * 2


def test_a_full_mesh_alone_has_a_link_for_every_pair(read):
    topology = read(text("FullyConnected", "4"))
    assert devices_by_kind(topology) == {"gpu": 4}
    assert hops(topology, "npu0", "npu3") == [(50e9, pytest.approx(500e-9))]
    assert bisection_bandwidth(topology) == 4 * 50e9


def test_npus_of_a_ring_forward_for_others(read):
    topology = read(text("Ring", "8"))
    assert devices_by_kind(topology) == {"gpu": 8, "switch": 8}
    way = hops(topology, "npu0", "npu3")
    assert way == [(100e9, 0.0), *[(50e9, pytest.approx(500e-9))] * 3, (100e9, 0.0)]
    assert bisection_bandwidth(topology) == 2 * 50e9
    assert any("router of its own" in sentence for sentence in topology.assumptions)


def test_a_ring_of_two_is_one_cable_and_one_of_one_is_none(read):
    assert bisection_bandwidth(read(text("Ring", "2"))) == 50e9
    assert len(read(text("Ring, Ring", "4, 1", "50, 50", "1, 1")).links) == 2 * 4 + 2 * 4


def test_the_innermost_dimension_counts_fastest(read):
    topology = read(text("FullyConnected, Ring, Switch", "2, 3, 2", "300, 200, 100", "1, 10, 100"))
    assert devices_by_kind(topology) == {"gpu": 12, "switch": 12 + 6}
    rates = {"npu1": 300e9, "npu2": 200e9, "npu4": 200e9, "npu6": 100e9}
    for other, rate in rates.items():
        assert min(rate for rate, _ in hops(topology, "npu0", other)) == rate
    assert sum(latency for _, latency in hops(topology, "npu0", "npu11")) == pytest.approx(211e-9)


def test_links_of_a_torus_are_two_per_npu_and_dimension(read):
    topology = read(text("Ring, Ring", "4, 8", "80, 80", "1000, 1000"))
    routers = nx.Graph(topology.graph.subgraph(topology.find("switch")))
    assert routers.number_of_edges() == 32 * 2
    assert nx.diameter(routers) == 2 + 4


def test_rates_that_are_missing_stand_beside_the_file(read, problem):
    unfinished = text("Ring, Ring", "2, 2", "tbd, 50", "1, tbd")
    assert problem(unfinished).startswith(
        "network.yml:4: bandwidth.0: expected a number of GB/s, got 'tbd'; a link_rate"
    )
    topology = read(unfinished, link_rate="25GB/s", link_latency="3us")
    assert {(link.rate, link.latency) for link in topology.links if link.latency} == {(25e9, 1e-9), (50e9, 3e-6)}
    without = "topology: [ Switch ]\nnpus_count: [ 4 ]\nlatency: [ 1 ]\n"
    assert "bandwidth: expected a number of GB/s, it is missing" in problem(without)
    assert read(without, link_rate="25GB/s").links[0].rate == 25e9


def test_what_it_assumed_is_told(read):
    told = " ".join(read(text("Ring", "4")).assumptions)
    assert "cannot compute" in told
    assert "2^30" in told
    assert "cannot compute" not in " ".join(read(text("Ring", "4"), gpu="a100_sxm_80").assumptions)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (text("Torus", "4"), "network.yml:2: topology.0: unknown 'Torus'; allowed: Ring, FullyConnected, Switch"),
        (text("Ring, Ring", "4"), "npus_count: 1 values for 2 dimensions"),
        (text("Ring", "4", "50, 50"), "bandwidth: 2 values for 1 dimensions"),
        (text("Ring", "0"), "npus_count.0"),
        (text("Ring", "4", "0"), "network.yml:4: bandwidth.0: a rate must be finite and above 0"),
        (text("Ring", "4", "50", "-1"), "network.yml:5: latency.0"),
        (text("", ""), "topology"),
        (text("Ring", "3000000"), "more than 1,000,000 devices"),
        ("npus_count: [ 4 ]\n", "topology: missing"),
    ],
)
def test_refused_with_a_sentence(problem, content, sentence):
    assert sentence in problem(content)


def test_simnets_own_yaml_is_not_mistaken_for_one(tmp_path):
    path = tmp_path / "own.yml"
    path.write_text("kind: hgx_h100\n")
    assert len(TopologyFile(file=path).build().gpus) == 8


@pytest.mark.skipif(not SHARED.exists(), reason="the real files are not here")
class TestRealFiles:
    @pytest.mark.parametrize("path", sorted(SHARED.glob("*.yml")), ids=lambda path: path.name)
    def test_load(self, path):
        if path.name == UNFINISHED:
            with pytest.raises(InputError, match=r"dgx_v100_8gpu.yml:\d+: bandwidth.0: .* got 'tbd'; a link_rate"):
                TopologyFile(file=path).build()
        topology = TopologyFile(file=path, link_rate="25GB/s", link_latency="1us").build()
        counts = re.findall(r"^npus_count: \[([\d ,]+)\]", path.read_text(), re.MULTILINE)[-1]
        expected = 1
        for count in counts.split(","):
            expected *= int(count)
        assert len(topology.gpus) == expected
        assert nx.is_strongly_connected(topology.graph)

    def test_other_inputs_of_the_simulator_are_no_topologies(self):
        for path in SHARED.glob("*.json"):
            with pytest.raises(InputError, match="no topology in a known format"):
                TopologyFile(file=path).build()
