"""The importer of GraphML: every reading on a small file of our own, and all real files where they are."""

import gzip
import re
from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.describe import devices_by_kind
from simnet.topology.importers import xml_tree

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "zoo"
KEYS = """\
<key attr.name="label" for="node" id="n1"/><key attr.name="Latitude" for="node" id="n2"/>
<key attr.name="Longitude" for="node" id="n3"/><key attr.name="LinkSpeedRaw" for="edge" id="e1"/>
<key attr.name="LinkLabel" for="edge" id="e2"/>
"""
START = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'


def node(name: str, label: str = "", place: tuple[float, float] | None = None, more: str = "") -> str:
    data = f'<data key="n1">{label}</data>' if label else ""
    if place:
        data += f'<data key="n2">{place[0]}</data><data key="n3">{place[1]}</data>'
    return f'<node id="{name}">{data}{more}</node>\n'


def edge(a: str, b: str, label: str = "", raw: str = "") -> str:
    data = f'<data key="e2">{label}</data>' if label else ""
    data += f'<data key="e1">{raw}</data>' if raw else ""
    return f'<edge source="{a}" target="{b}">{data}</edge>\n'


def graph(*parts: str, keys: str = KEYS) -> str:
    return START + keys + '<graph edgedefault="undirected">\n' + "".join(parts) + "</graph>\n</graphml>\n"


def pair(label: str = "", raw: str = "") -> str:
    return graph(node("0", "A"), node("1", "B"), edge("0", "1", label, raw))


@pytest.fixture
def read(tmp_path):
    def read(text: str | bytes, name: str = "net.graphml", **options) -> Topology:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return TopologyFile(file=tmp_path / name, **options).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(text: str | bytes, name: str = "net.graphml") -> str:
        with pytest.raises(InputError) as error:
            read(text, name)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def cables(topology: Topology) -> list:
    return [link for link in topology.links if topology.devices[link.source].kind == "switch" and link.latency]


class TestGraph:
    def test_every_node_is_a_host_on_a_router(self, read):
        text = graph(*(node(str(i)) for i in range(3)), edge("0", "1", "1 Gbps"), edge("1", "2", "10 Gbps"))
        topology = read(text)
        assert devices_by_kind(topology) == {"gpu": 3, "switch": 3}
        own = {topology.devices[link.source].name: link.rate for link in topology.links if not link.latency}
        assert own["1"] == (1e9 + 10e9) / 8
        assert nx.is_strongly_connected(topology.graph)

    def test_names_are_labels_and_ids_where_labels_are_missing_or_shared(self, read):
        text = graph(
            node("0", "New\n York"), node("1", "Rome"), node("2", "Rome"), node("3"), node("4", "A/B"),
            *(edge("0", str(i)) for i in range(1, 5)),
        )  # fmt: skip
        names = [read(text).devices[gpu].name for gpu in range(5)]
        assert names == ["New York", "Rome 1", "Rome 2", "3", "A-B"]

    def test_labels_of_a_drawing(self, read):
        drawn = "<data key='d7'><y:ShapeNode><y:NodeLabel>Oslo<y:Model/></y:NodeLabel></y:ShapeNode></data>"
        text = graph(node("0", more=drawn), node("1"), edge("0", "1")).replace("<graphml", "<graphml xmlns:y='y'")
        assert read(text).devices[0].name == "Oslo"

    def test_parallel_edges_are_kept_loops_and_lonely_nodes_are_not(self, read):
        topology = read(graph(node("0"), node("1"), node("2"), edge("0", "1"), edge("1", "0"), edge("2", "2")))
        assert len(cables(topology)) == 4
        assert devices_by_kind(topology) == {"gpu": 2, "switch": 2}
        assert "1 nodes without edges are left out." in topology.assumptions

    def test_packed_by_gzip(self, read):
        assert len(read(gzip.compress(pair().encode()), "net.graphml.gz").gpus) == 2


class TestRates:
    @pytest.mark.parametrize(
        ("label", "bits"),
        [
            ("10 Gbps", 10e9), ("2.5Gbps", 2.5e9), ("&lt; 155 Mbps", 155e6), ("45 Mbps DS-3", 45e6), ("&lt;45Mb", 45e6),
            ("1 GB/s", 1e9), ("10 GB/s - redundant", 10e9), ("Peering, 5 Gbps", 5e9), ("64 kbit/s", 64e3),
            ("OC-192c", 192 * 51.84e6), ("OC3", 3 * 51.84e6), ("STM-16", 48 * 51.84e6), ("T1", 1.544e6),
            ("DS-3", 44.736e6), ("E3", 34.368e6),
        ],
    )  # fmt: skip
    def test_that_labels_state(self, read, label, bits):
        topology = read(pair(label))
        assert [link.rate for link in cables(topology)] == pytest.approx([bits / 8] * 2)
        assert not any("states no rate" in sentence for sentence in topology.assumptions)

    @pytest.mark.parametrize("label", ["Lit Fibre", "1-10Gbps", "Completion 2007-2008", "Red Link", "T10 Gateway"])
    def test_labels_that_state_none(self, read, label):
        topology = read(pair(label))
        assert {link.rate for link in cables(topology)} == {10e9 / 8}
        assert any("no rate of 1: taken as 1.25 GB/s, assumed" in sentence for sentence in topology.assumptions)

    def test_the_raw_speed_wins(self, read):
        assert cables(read(pair("10 Gbps", "1000000000.0")))[0].rate == 1e9 / 8

    def test_where_none_is_stated_it_is_the_given_one_else_the_lowest_of_the_file(self, read):
        text = graph(
            *(node(str(i)) for i in range(4)), edge("0", "1", "10 Gbps"), edge("1", "2", "1 Gbps"), edge("2", "3")
        )
        assert cables(read(text, link_rate="40Gbps"))[-1].rate == 5e9
        topology = read(text)
        assert cables(topology)[-1].rate == 1e9 / 8
        assert (
            "Of 3 edges the file states no rate of 1: taken as 125 MB/s, the lowest that it states."
            in topology.assumptions
        )

    def test_doubtful_readings_are_told(self, read):
        assert any("'< 10 Gbps'" in sentence for sentence in read(pair("&lt; 10 Gbps")).assumptions)
        assert any("'1 GB/s'" in sentence for sentence in read(pair("1 GB/s")).assumptions)
        assert not any("Labels" in sentence for sentence in read(pair("1 Gbps")).assumptions)


class TestLatencies:
    def test_are_of_light_along_the_great_circle(self, read):
        # a quarter of the equator: 10,007.5 km on a sphere of 6371 km
        text = graph(node("0", place=(0, 0)), node("1", place=(0, 90)), edge("0", "1"))
        assert cables(read(text))[0].latency == pytest.approx(10007.5 * 4.9e-6, rel=1e-4)

    def test_are_given_or_assumed_where_a_place_is_missing(self, read):
        text = graph(node("0", place=(0, 0)), node("1"), edge("0", "1"))
        assert cables(read(text))[0].latency == 1e-3
        assert any("1 ms, assumed: better give a link_latency" in sentence for sentence in read(text).assumptions)
        assert cables(read(text, link_latency="3ms"))[0].latency == 3e-3


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (START + "</graphml>", "net.graphml:1: graphml: expected one <graph>, found 0"),
            (graph(edge("0", "1")), "there is no node in it"),
            (graph(node("0"), node("1")), "no edge joins two of its nodes"),
            (graph(node("0"), node("0")), "net.graphml:7: node: '0' is there twice, first at"),
            (graph(node("0"), edge("0", "9")), "net.graphml:7: edge: there is no node '9'"),
            (graph(node("0"), "<hyperedge/>"), "edges of more than two ends"),
            (graph(node("0", more="<graph/>")), "is a graph of its own"),
            (pair(raw="fast"), "LinkSpeedRaw: expected a number of bits per second, got 'fast'"),
            (pair(raw="-1"), "LinkSpeedRaw"),
            (graph(node("0", place=(100, 0)), node("1"), edge("0", "1")), "there is no place at 100 degrees north"),
            (graph(node("0", place=("x", 0)), node("1"), edge("0", "1")), "expected numbers of degrees"),
            (pair()[:-30], "not valid XML"),
        ],
    )
    def test_with_a_sentence(self, problem, text, sentence):
        assert sentence in problem(text)

    def test_bombs(self, problem):
        laughs = '<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]>\n'
        assert "a DTD or entity" in problem(laughs + pair("&c;"))
        assert "elements are nested more than 64 deep" in problem(graph("<node>" * 100))

    def test_packed_bombs(self, problem, monkeypatch):
        monkeypatch.setattr(xml_tree, "MAX_BYTES", 1 << 20)
        bomb = gzip.compress(START.encode() + b" " * (64 << 20))
        assert len(bomb) < 1 << 20
        assert "is larger than 1 MiB" in problem(bomb, "net.graphml.gz")
        assert "cannot be unpacked" in problem(gzip.compress(pair().encode())[:-20], "net.graphml.gz")


@pytest.mark.skipif(not SHARED.exists(), reason="the real files are not here")
@pytest.mark.parametrize("path", sorted(SHARED.glob("*")), ids=lambda path: path.name)
def test_real_files(path, tmp_path):
    topology = TopologyFile(file=path).build()
    text = (gzip.open if path.suffix == ".gz" else open)(path, "rt").read()
    assert len(topology.gpus) == len(re.findall(r"<node\b", text)) - _lonely(text)
    assert len(cables(topology)) == 2 * len(re.findall(r"<edge\b", text))
    (tmp_path / "again.yaml").write_text(native.to_yaml(topology))
    again = TopologyFile(file=tmp_path / "again.yaml").build()
    assert (again.devices, again.links) == (topology.devices, topology.links)


def _lonely(text: str) -> int:
    nodes = re.findall(r'<node id="([^"]+)"', text)
    return len(set(nodes) - set(re.findall(r'(?:source|target)="(n\d+)"', text)))
