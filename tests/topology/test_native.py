"""simnet's own topology files: written and read back without loss, and errors with their place."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet import units
from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.builders import BUILDERS
from simnet.topology.topology import DEVICE_KINDS, LINK_KINDS

PAIR = """\
name: pair
servers:
  box: {p2p: false}
devices:
  gpu0: {kind: gpu, server: box, model: h100_sxm}
  nic0: {kind: nic, server: box, port_rate: 400Gbps}
  switch0: {kind: switch}
links:
  - {between: [gpu0, nic0], rate: 32GB/s, latency: 1us, kind: pcie}
  - {between: [nic0, switch0], rate: 400Gbps, latency: 300ns, kind: ib, buffer: 1MiB}
  - {from: switch0, to: gpu0, rate: 1GB/s, latency: 0, kind: ethernet}
assumptions:
  - "made up"
"""


def parts(topology: Topology) -> tuple:
    return topology.name, topology.devices, topology.links, topology.servers, topology.assumptions


def read(folder: Path, text: str, name: str = "t.yaml") -> Topology:
    (folder / name).write_text(text)
    return TopologyFile(file=folder / name).build()


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as error:
        read(folder, text)
    assert error.value.exit_code == 2
    return str(error.value).replace(f"{folder}/", "").splitlines()


class TestReading:
    def test_devices_links_and_servers(self, tmp_path):
        topology = read(tmp_path, PAIR)
        assert topology.name == "pair"
        assert [device.name for device in topology.devices] == ["gpu0", "nic0", "switch0"]
        assert topology.devices[0].model == "h100_sxm"
        assert topology.devices[1].port_rate == 50e9
        assert (topology.servers["box"].p2p, topology.servers["box"].gpudirect) == (False, True)
        assert [(k.source, k.destination, k.rate, k.latency, k.kind, k.buffer) for k in topology.links] == [
            (0, 1, 32e9, 1e-6, "pcie", 0),
            (1, 0, 32e9, 1e-6, "pcie", 0),
            (1, 2, 50e9, 3e-7, "ib", 2**20),
            (2, 1, 50e9, 3e-7, "ib", 2**20),
            (2, 0, 1e9, 0, "ethernet", 0),
        ]
        assert topology.assumptions == ["made up"]

    def test_the_file_gives_its_name_to_a_topology_without_one(self, tmp_path):
        assert read(tmp_path, PAIR.replace("name: pair\n", ""), "two.yaml").name == "two"

    def test_a_builder_and_its_parameters(self, tmp_path):
        topology = read(tmp_path, "kind: fat_tree\nk: 2\nlink_rate: 100Gbps\n")
        assert parts(topology) == parts(BUILDERS["fat_tree"](k=2, link_rate="100Gbps").build())

    def test_a_builder_around_another_file(self, tmp_path):
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "server.yaml").write_text("kind: hgx_h100\n")
        topology = read(tmp_path, "kind: leaf_spine\nports_per_leaf: 8\nnode: {file: parts/server.yaml}\n")
        assert list(topology.servers) == ["node0", "node1", "node2", "node3"]


class TestWriting:
    @pytest.mark.parametrize("kind", BUILDERS)
    def test_every_builder_is_read_back_equal(self, tmp_path, kind):
        topology = BUILDERS[kind]().build()
        assert parts(read(tmp_path, native.to_yaml(topology))) == parts(topology)

    def test_what_is_read_is_written_the_same(self, tmp_path):
        text = native.to_yaml(read(tmp_path, PAIR))
        assert native.to_yaml(read(tmp_path, text)) == text
        assert "  - {from: switch0, to: gpu0, rate: 1GB/s, " in text
        assert "  - {between: [gpu0, nic0], rate: 32GB/s, latency: 1us, kind: pcie}\n" in text

    @settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_any_topology_is_read_back_equal(self, tmp_path, data):
        positive, latency = st.floats(1e-12, 1e18), st.floats(1e-12, units.TIME.most) | st.just(0)
        # everything that YAML's printable characters allow, so that quotes, colons, numbers and 'null' come up
        text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=8)
        names = data.draw(
            st.lists(text | st.sampled_from(["1e3", "null", "true", "-", "~", "7"]), min_size=2, unique=True)
        )
        topology = Topology(data.draw(text))
        server = topology.add_server(
            data.draw(text), data.draw(st.booleans()), data.draw(st.booleans()), data.draw(st.just(math.inf) | positive)
        )
        for name in names:
            where = data.draw(st.sampled_from(["", server]))
            topology.add_device(
                name, data.draw(st.sampled_from(DEVICE_KINDS)), where, "", data.draw(positive | st.just(0))
            )
        ends = st.lists(st.integers(0, len(names) - 1), min_size=2, max_size=2, unique=True)
        for a, b in data.draw(st.lists(ends, max_size=6)):
            add = data.draw(st.sampled_from([topology.connect, topology.add_link]))
            kind = data.draw(st.sampled_from(LINK_KINDS))
            add(a, b, data.draw(positive), data.draw(latency), kind, data.draw(positive | st.just(0)))
        topology.assumptions += data.draw(st.lists(st.text(max_size=20), max_size=2))
        assert parts(read(tmp_path, native.to_yaml(topology))) == parts(topology)


class TestErrors:
    def test_unknown_builder(self, tmp_path):
        (problem,) = problems(tmp_path, "k: 4\nkind: fat_tre\n")
        assert problem.startswith("t.yaml:2: kind: unknown 'fat_tre'; allowed: dgx1_v100, ")
        assert problem.endswith("did you mean 'fat_tree'?")

    def test_all_problems_of_a_builder_at_once(self, tmp_path):
        found = problems(
            tmp_path, "kind: fat_tree\nk: 5\nlink_rate: '4'\nlink_latencey: 3us\nnode:\n  kind: gpu\n  gpu: h1000\n"
        )
        assert [problem.split(": ")[:2] for problem in found] == [
            ["t.yaml:2", "k"],
            ["t.yaml:3", "link_rate"],
            ["t.yaml:4", "link_latencey"],
            ["t.yaml:7", "node.gpu"],
        ]
        assert "has no unit" in found[1]
        assert "did you mean 'link_latency'?" in found[2]

    def test_more_nodes_than_there_is_room_for(self, tmp_path):
        assert problems(tmp_path, "kind: fat_tree\nk: 4\nnodes: 17\n") == [
            "t.yaml:3: nodes: 17 do not fit; there is room for 16"
        ]

    def test_all_problems_of_devices_at_once(self, tmp_path):
        text = "devices:\n  a: {kind: gup}\n  b: {kind: gpu, server: s}\n  c: {kind: gpu, model: h10}\n"
        assert [problem.split(";")[0] for problem in problems(tmp_path, text)] == [
            "t.yaml:2: devices.a.kind: unknown 'gup'",
            "t.yaml:3: devices.b.server: unknown server 's'",
            "t.yaml:4: devices.c.model: unknown 'h10'",
        ]

    @pytest.mark.parametrize(
        ("link", "sentence"),
        [
            ("between: [a, c], REST", "links.0: unknown device 'c'; there are: a, b"),
            ("between: [a, a], REST", "links.0: joins 'a' to itself, which carries nothing"),
            ("from: a, REST", "links.0: needs either 'between: [a, b]' or both 'from: a' and 'to: b'"),
            ("between: [a, b], to: b, REST", "links.0: needs either 'between: [a, b]' or both"),
            ("between: [a, b], latency: 0, kind: ib", "links.0.rate: missing key"),
            ("between: [a, b], rate: 1, latency: 0, kind: ib", "links.0.rate: '1' has no unit"),
            ("between: [a, b], rate: nanGB/s, latency: 0, kind: ib", "links.0.rate: a rate must be finite"),
            ("between: [a, b], rate: 1GB/s, latency: 0, kind: ibb", "links.0.kind: unknown 'ibb'; allowed: nvlink"),
            ("betwen: [a, b], REST", "links.0.betwen: unknown key; allowed: between, buffer, from, "),
        ],
    )
    def test_links(self, tmp_path, link, sentence):
        link = link.replace("REST", "rate: 1GB/s, latency: 0, kind: ib")
        found = problems(tmp_path, f"devices:\n  a: {{kind: gpu}}\n  b: {{kind: gpu}}\nlinks:\n  - {{{link}}}\n")
        assert any(problem.startswith(f"t.yaml:5: {sentence}") for problem in found), found

    def test_repeated_devices(self, tmp_path):
        found = problems(tmp_path, "devices:\n  a: {kind: gpu}\n  a: {kind: gpu}\n")
        assert found == ["t.yaml:3: devices.a: this key is there twice, first on line 2"]

    @pytest.mark.parametrize("text", ["", "# nothing\n", "[1, 2]", "a: *b", "\x00\x01", "just words"])
    def test_what_is_no_topology(self, tmp_path, text):
        assert all(problem.startswith("t.yaml:") for problem in problems(tmp_path, text))

    def test_a_file_that_contains_itself(self, tmp_path):
        (problem,) = problems(tmp_path, "kind: single_switch\nnode: {file: t.yaml}\n")
        assert "t.yaml leads back to itself" in problem

    def test_files_that_contain_one_another(self, tmp_path):
        (tmp_path / "u.yaml").write_text("kind: single_switch\nnode: {file: t.yaml}\n")
        (problem,) = problems(tmp_path, "kind: single_switch\nnode: {file: u.yaml}\n")
        assert "leads back to itself" in problem

    def test_a_fabric_behind_a_fabric(self, tmp_path):
        (tmp_path / "u.yaml").write_text("kind: single_switch\n")
        assert problems(tmp_path, "kind: single_switch\nnode: {file: u.yaml}\n") == [
            "t.yaml: node: single_switch has switches of its own, so it cannot hang behind a fabric"
        ]

    def test_nics_of_unknown_rate_need_a_link_rate(self, tmp_path):
        (tmp_path / "u.yaml").write_text(
            "servers: {s: {}}\ndevices:\n  g: {kind: gpu, server: s}\n  n: {kind: nic, server: s}\n"
            "links:\n  - {between: [g, n], rate: 1GB/s, latency: 0, kind: pcie}\n"
        )
        (problem,) = problems(tmp_path, "kind: single_switch\nnode: {file: u.yaml}\n")
        assert problem == "t.yaml: link_rate: u does not say how fast its n is; give a link_rate"
        topology = read(tmp_path, "kind: single_switch\nnode: {file: u.yaml}\nlink_rate: 100Gbps\n")
        assert {link.rate for link in topology.links if link.kind == "ib"} == {12.5e9}

    def test_problems_of_a_file_inside_name_that_file(self, tmp_path):
        (tmp_path / "u.yaml").write_text("kind: hgx_h100\nnics: -1\n")
        (problem,) = problems(tmp_path, "kind: single_switch\nnode: {file: u.yaml}\n")
        assert problem == "u.yaml:2: nics: must be at least 0, got -1"

    def test_endings_that_are_not_known(self, tmp_path):
        (tmp_path / "t.json").write_text("{}")
        with pytest.raises(InputError, match=r"t\.json:1: no topology in a known format; .*nccl_xml"):
            TopologyFile(file=tmp_path / "t.json").build()
