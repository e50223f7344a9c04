"""The importer of `nvidia-smi topo -m`: what terminals and posts do to a matrix, on small ones of our own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.hardware import LINKS
from simnet.topology import Topology, TopologyFile
from simnet.topology.describe import devices_by_kind
from simnet.topology.distances import Distances
from simnet.topology.importers import nvidia_smi, nvidia_smi_matrix

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "nvidia_smi_topo"
REAL = sorted(SHARED.glob("*.txt"))

# two sockets: GPU0 and a NIC below one switch, GPU1 on the root port; GPU2 and GPU3 below two switches of one tree
FOUR = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tPHB\tSYS\tSYS\tPIX\t0-31,64-95\t0\t\tN/A
GPU1\tPHB\t X \tSYS\tSYS\tPHB\t0-31,64-95\t0\t\tN/A
GPU2\tSYS\tSYS\t X \tPXB\tSYS\t32-63,96-127\t1\t\tN/A
GPU3\tSYS\tSYS\tPXB\t X \tSYS\t32-63,96-127\t1\t\tN/A
NIC0\tPIX\tPHB\tSYS\tSYS\t X \t\t

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)

NIC Legend:

  NIC0: mlx5_0
"""
PAIR = "     GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X NV4 0-7 0\nGPU1 NV4 X 0-7 0\n"


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options) -> Topology:
        path = tmp_path / "topo.txt"
        path.write_text(text)
        return TopologyFile(file=path, **options).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(text: str, **options) -> str:
        with pytest.raises(InputError) as error:
            read(text, **options)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def matrix_of(topology: Topology) -> list[list[str]]:
    """The words that simnet finds between GPUs and NICs, in order."""
    distances, devices = Distances(topology), topology.gpus + topology.find("nic")
    return [distances.words(a, devices) for a in devices]


def uniform(word: str, gpus: int, affinity: str = "") -> str:
    names = [f"GPU{i}" for i in range(gpus)]
    rows = [" ".join([a, *("X" if a == b else word for b in names), affinity]) for a in names]
    return "\n".join([" ".join(names), *rows]) + "\n"


def links(topology: Topology, a: str, b: str) -> list:
    ids = topology.id_of(a), topology.id_of(b)
    return [link for link in topology.links if (link.source, link.destination) == ids]


WORDS_OF_FOUR = [
    ["X", "PHB", "SYS", "SYS", "PIX"],
    ["PHB", "X", "SYS", "SYS", "PHB"],
    ["SYS", "SYS", "X", "PXB", "SYS"],
    ["SYS", "SYS", "PXB", "X", "SYS"],
    ["PIX", "PHB", "SYS", "SYS", "X"],
]


class TestServers:
    def test_distances_become_switches_and_sockets(self, read):
        topology = read(FOUR)
        kinds = {"gpu": 4, "cpu": 2, "memory": 2, "pcie_switch": 4, "nic": 1}
        assert devices_by_kind(topology) == kinds
        assert matrix_of(topology) == WORDS_OF_FOUR
        assert links(topology, "gpu0", "pcie0")
        assert links(topology, "nic0", "pcie0")
        assert links(topology, "gpu1", "cpu0")
        # GPU2 and GPU3 have a switch each, and one above both
        assert links(topology, "gpu2", "pcie2")
        assert links(topology, "gpu3", "pcie3")
        assert links(topology, "pcie2", "pcie1")
        assert links(topology, "pcie1", "cpu1")

    def test_options_say_what_the_matrix_does_not(self, read):
        topology = read(FOUR, gpu="l40s", host="epyc_rome", pcie="pcie3_x16", nic_rate="200Gbps")
        assert {topology.devices[g].model for g in topology.gpus} == {"l40s"}
        assert topology.devices[topology.id_of("nic0")].port_rate == 25e9
        assert {link.rate for link in topology.links if link.kind == "pcie"} == {LINKS["pcie3_x16"].rate}
        assert len(topology.assumptions) == 1
        assert "P2P" in topology.assumptions[0]

    def test_what_is_assumed_without_them_is_on_record(self, read):
        text = " ".join(read(FOUR).assumptions)
        for word in ("pcie4_x16", "model of the GPUs", "skylake", "NIC ports"):
            assert word in text

    def test_numa_nodes_place_gpus_whose_nvlinks_hide_their_pcie(self, read):
        text = uniform("NV12", 4).splitlines()
        rows = [f"{row} {node * 8}-{node * 8 + 7} {node}" for row, node in zip(text[1:], (0, 0, 1, 1))]
        topology = read("\n".join([f"{text[0]} CPU Affinity NUMA Affinity", *rows]))
        assert links(topology, "gpu1", "cpu0")
        assert links(topology, "gpu2", "cpu1")
        assert any("hides their distance" in sentence for sentence in topology.assumptions)

    def test_a_nic_places_gpus_whose_nvlinks_hide_their_pcie(self, read):
        topology = read("GPU0 GPU1 NIC0\nGPU0 X NV2 PIX\nGPU1 NV2 X SYS\nNIC0 PIX SYS X\n")
        assert links(topology, "gpu0", "pcie0")
        assert links(topology, "gpu1", "cpu1")
        assert not any("hides their distance" in sentence for sentence in topology.assumptions)

    def test_nics_may_stand_first_and_have_their_own_names(self, read):
        text = "mlx5_1 mlx5_0 GPU1 GPU0\nmlx5_1 X SYS PIX SYS\nmlx5_0 SYS X SYS PIX\n"
        text += "GPU1 PIX SYS X SYS\nGPU0 SYS PIX SYS X\n"
        topology = read(text)
        assert matrix_of(topology)[0] == ["X", "SYS", "SYS", "PIX"]

    def test_the_old_word_for_sys(self, read):
        assert matrix_of(read(uniform("SOC", 2)))[0][1] == "SYS"

    def test_node_is_a_cpu_between(self, read):
        assert matrix_of(read(uniform("NODE", 2)))[0][1] == "PHB"

    def test_a_single_gpu(self, read):
        assert len(read("\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n").gpus) == 1


class TestNvlinks:
    def test_a_mesh_where_the_links_of_a_gpu_suffice(self, read):
        topology = read(uniform("NV2", 4), gpu="v100_sxm2")
        assert not topology.find("nvswitch")
        assert [link.rate for link in links(topology, "gpu0", "gpu3")] == [50e9]

    @pytest.mark.parametrize(
        ("word", "gpu", "rate"),
        [("NV18", None, 450e9), ("NV12", None, 300e9), ("NV6", None, 150e9), ("NV18", "b200_sxm", 900e9)],
    )
    def test_an_nvswitch_where_they_do_not(self, read, word, gpu, rate):
        topology = read(uniform(word, 8), gpu=gpu)
        assert [link.rate for link in links(topology, "gpu7", "nvswitch0")] == [rate]
        assert matrix_of(topology)[0] == ["X"] + [word] * 7
        assert any("taken as an NVSwitch" in sentence for sentence in topology.assumptions)

    def test_three_gpus_of_a_dgx2_have_a_switch_if_one_says_that_they_are_v100(self, read):
        assert read(uniform("NV6", 3), gpu="v100_sxm2").find("nvswitch")
        assert not read(uniform("NV6", 3)).find("nvswitch")

    def test_two_groups_have_a_switch_each(self, read):
        names = [f"GPU{i}" for i in range(6)]
        cell = lambda i, j: "X" if i == j else "NV18" if i // 3 == j // 3 else "SYS"  # noqa: E731
        rows = [" ".join([names[i], *(cell(i, j) for j in range(6))]) for i in range(6)]
        topology = read("\n".join([" ".join(names), *rows]))
        assert len(topology.find("nvswitch")) == 2
        assert matrix_of(topology)[5][:4] == ["SYS", "SYS", "SYS", "NV18"]

    def test_bridges_of_a40(self, read):
        topology = read(PAIR)
        assert links(topology, "gpu0", "gpu1")[0].rate == 56.25e9
        assert any("nvlink3_geforce" in sentence for sentence in topology.assumptions)

    def test_more_links_than_a_gpu_has(self, problem):
        text = "GPU0 GPU1 GPU2\nGPU0 X NV12 NV18\nGPU1 NV12 X SYS\nGPU2 NV18 SYS X\n"
        assert problem(text) == "topo.txt:2: GPU0 has 30 NVLinks; a GPU has at most 18"
        assert problem(PAIR, gpu="rtx_2080_ti") == "topo.txt:2: GPU0 has 4 NVLinks; a GPU has at most 2"

    def test_links_of_gpus_without(self, problem):
        assert problem(PAIR, gpu="l40s") == "topo.txt:3: there are NVLinks, which a l40s does not have"

    def test_links_to_a_nic(self, problem):
        text = "GPU0 NIC0\nGPU0 X NV2\nNIC0 NV2 X\n"
        assert problem(text) == "topo.txt:3: GPU0 and NIC0 are joined by NV2: NVLinks join GPUs"


class TestTerminals:
    """One matrix in many shapes."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("\t", "    "),
            lambda text: text.replace("\tGPU0", "\t\x1b[4mGPU0", 1).replace("GPU NUMA ID", "GPU NUMA ID\x1b[0m"),
            lambda text: text.replace("\tGPU0", "\t[4mGPU0", 1).replace("GPU NUMA ID", "GPU NUMA ID[0m"),
            lambda text: text.replace("SYS\tSYS", "SYSSYS"),
            lambda text: text.replace("GPU2\tGPU3", "GPU2GPU3", 1),
            lambda text: text.replace("SYS\tPIX\t0-31", "SYS\nPIX\t0-31"),
            lambda text: text.replace("SYS\tPIX\t0-31", "SY\nS\tPIX\t0-31"),
            lambda text: text.replace("\tNIC0\tCPU", "\nNIC0\tCPU"),
            lambda text: text.replace("Affinity\tNUMA", "Affinity\nNUMA"),
            lambda text: f"$ nvidia-smi topo -m\r\n{text}".replace("\n", "\r\n"),
            lambda text: text.partition("Legend")[0],
        ],
    )
    def test_shapes(self, read, change):
        text = change(FOUR)
        assert text != FOUR
        topology = read(text)
        assert matrix_of(topology) == WORDS_OF_FOUR
        assert not any("lost or moved" in sentence for sentence in topology.assumptions)

    @pytest.mark.parametrize(
        ("change", "lost"),
        [
            (("GPU0\t X \tPHB\tSYS\tSYS\tPIX", "GPU0\t X \tPHB\tSYS\tPIX"), "GPU0: 4 cells"),
            (("GPU2\tSYS\tSYS\t X \tPXB", "GPU2\tSYS\t?\t X \tPXB"), "GPU2: 1 cells"),
            (("NIC0\tPIX\tPHB\tSYS\tSYS\t X \t\t\n", ""), "NIC0: 4 cells"),
            (("NIC0\tPIX\tPHB\tSYS\tSYS\t X ", "NIC0\tPIX"), "NIC0: 4 cells"),
        ],
    )
    def test_the_other_half_repairs(self, read, change, lost):
        text = FOUR.replace(*change)
        assert text != FOUR
        topology = read(text)
        assert matrix_of(topology) == WORDS_OF_FOUR
        assert topology.assumptions[0].startswith(lost)


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "where", "sentence"),
        [
            (("GPU1\tPHB", "GPU1\tPIX"), 3, "GPU1 and GPU0 are joined by PIX, but line 2 has PHB"),
            (("\tPIX\t0-31", "\tPXI\t0-31"), 2, "unknown kind of link 'PXI'; known: X, NV1, NV2, ..., PIX"),
            (("\tPIX\t0-31", "\tC2C\t0-31"), 2, "unknown kind of link 'C2C'"),
            (("GPU2\tGPU3\tNIC0", "GPU3\tNIC0"), 1, "GPU2 is missing"),
            (("GPU3\tNIC0", "GPU3-NIC0"), 1, "'GPU3-NIC0' is no column"),
            (("GPU3\tNIC0\tCPU", "GPU2\tNIC0\tCPU"), 1, "GPU2 is there twice"),
            (("GPU3\tNIC0\tCPU", "GPU3\tCPU"), 2, "more cells than the 4 columns"),
            (("GPU3\tSYS", "GPU2\tSYS"), 5, "two rows of GPU2, the other in line 4"),
            (("GPU3\tSYS", "GPU4\tSYS"), 5, "a row of GPU4, which is in no column"),
            (("\t X \tPHB\tSYS", "\tPHB\t X \tSYS"), 2, "the X is in column 2; that of this device is column 1"),
        ],
    )
    def test_a_wrong_matrix_is_refused_where_it_is_wrong(self, problem, change, where, sentence):
        text = FOUR.replace(*change, 1)
        assert text != FOUR
        with pytest.raises(InputError, match=rf"^topo\.txt:{where}: .*{sentence}"):
            raise InputError(problem(text))

    def test_distances_that_no_tree_has(self, problem):
        text = "GPU0 GPU1 GPU2\nGPU0 X PIX PIX\nGPU1 PIX X SYS\nGPU2 PIX SYS X\n"
        sentence = (
            "no PCIe tree has GPU0, GPU1 and GPU2 at these distances: GPU0-GPU1 PIX, GPU0-GPU2 PIX, GPU1-GPU2 SYS"
        )
        assert problem(text) == f"topo.txt:4: {sentence}"

    def test_a_matrix_that_is_cut_off(self, problem):
        text = "".join(FOUR.splitlines(True)[:4])
        assert problem(text).startswith("topo.txt:4: the matrix is cut off: there is no row of NIC0")
        text = FOUR.splitlines(True)[0]
        assert problem(text).startswith("topo.txt:1: the matrix is cut off: there is no row of GPU1")

    def test_rows_that_are_cut_off(self, problem):
        text = "GPU0 GPU1 GPU2\nGPU0 X PIX\nGPU1 PIX X\nGPU2 SYS\n"
        assert problem(text).startswith("topo.txt:4: 1 cells for 3 columns, and no other row says how GPU0 and GPU2")

    def test_a_matrix_without_its_heading(self, problem):
        text = FOUR.partition("\n")[2]
        assert "the line above it that names the columns is missing" in problem(text)

    def test_too_many_devices(self, problem):
        assert problem(" ".join(f"GPU{i}" for i in range(129))) == "topo.txt:1: more than 128 devices"


@given(st.data())
def test_what_is_read_has_the_distances_that_were_written(tmp_path_factory, data):
    """Any tree of sockets, switches and switches below them, as a matrix, and what simnet makes of it."""
    count = data.draw(st.integers(1, 7))
    places = [data.draw(st.tuples(*[st.integers(0, 1)] * 4), label=f"GPU{i}") for i in range(count)]
    words = ("SYS", "NODE", "PXB", "PIX", "PIX")  # by how many levels of the tree two devices share

    def word(a: tuple, b: tuple) -> str:
        return words[next((i for i in range(4) if a[i] != b[i]), 4)]

    names = [f"GPU{i}" for i in range(count)]
    rows = [[a, *("X" if i == j else word(places[i], places[j]) for j in range(count))] for i, a in enumerate(names)]
    path = tmp_path_factory.mktemp("matrix") / "topo.txt"
    path.write_text("\n".join([" ".join(names), *map(" ".join, rows)]))
    assert matrix_of(nvidia_smi.read(path)) == [[cell.replace("NODE", "PHB") for cell in row[1:]] for row in rows]


@pytest.mark.skipif(not REAL, reason="the real matrices are not here")
@pytest.mark.parametrize("path", REAL, ids=[path.stem for path in REAL])
def test_real_matrices(path):
    topology, matrix = TopologyFile(file=path).build(), nvidia_smi_matrix.read(path)
    order = matrix.gpus + [i for i in range(len(matrix.names)) if i not in matrix.gpus]
    words = [
        ["X" if i == j else matrix.words[min(i, j), max(i, j)].replace("NODE", "PHB") for j in order] for i in order
    ]
    assert matrix_of(topology) == words == [list(column) for column in zip(*words)]
