"""The importer of NCCL topology XML: every deviation on a small file of our own, and all real files where they are."""

import re
from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.hardware import HOSTS, pcie_rate
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.builders import BUILDERS
from simnet.topology.builders.dgx1_v100 import NVLINKS
from simnet.topology.describe import devices_by_kind
from simnet.topology.importers import nccl_xml

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "nccl_xml"
REAL = sorted(SHARED.glob("*.xml"))
GEN3, GEN4, GEN5 = (pcie_rate(speed, 16) for speed in (8.0, 16.0, 32.0))

CPU = '<cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">'
LINK = 'link_speed="32.0 GT/s PCIe" link_width="16"'


def gpu(bus: str, dev: int = 0, inside: str = "", sm: int = 90, more: str = "", link: str = LINK, gdr: int = 1) -> str:
    return (
        f'<pci busid="{bus}" class="0x030200" {link} {more}>'
        f'<gpu dev="{dev}" sm="{sm}" rank="{dev}" gdr="{gdr}">{inside}</gpu></pci>'
    )


def nic(bus: str, *speeds: int, gdr: int = 1, link: str = LINK) -> str:
    nets = "".join(f'<net name="mlx5_{i}" dev="{i}" speed="{speed}" gdr="{gdr}"/>' for i, speed in enumerate(speeds))
    return f'<pci busid="{bus}" class="0x020000" {link}><nic>{nets}</nic></pci>'


def switch(bus: str, *below: str, link: str = LINK, more: str = "") -> str:
    return f'<pci busid="{bus}" class="0x060400" {link} {more}>{"".join(below)}</pci>'


def nvlink(target: str, count: int = 1, tclass: str = "0x030200") -> str:
    return f'<nvlink target="{target}" count="{count}" tclass="{tclass}"/>'


def system(*cpus: str, version: int = 1) -> str:
    return f'<system version="{version}">\n' + "\n".join(cpus) + "\n</system>\n"


def cpu(*below: str, start: str = CPU) -> str:
    return start + "".join(below) + "</cpu>"


A, B, N, S = "0000:0a:00.0", "0000:0b:00.0", "0000:0c:00.0", "0000:01:00.0"
PAIR = system(
    cpu(switch(S, gpu(A, 0, nvlink(B, 4)), gpu(B, 1, nvlink(A, 4)), nic(N, 400_000)))
)  # two H100 with four NVLinks between them and a NIC below one switch


@pytest.fixture
def read(tmp_path):
    def read(text: str | bytes, name: str = "dump.xml") -> Topology:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return TopologyFile(file=tmp_path / name).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(text: str | bytes) -> str:
        with pytest.raises(InputError) as error:
            read(text)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def links(topology: Topology, a: str, b: str) -> list:
    ids = topology.id_of(a), topology.id_of(b)
    return [link for link in topology.links if (link.source, link.destination) == ids]


def assumes(topology: Topology, text: str) -> bool:
    return any(text in sentence for sentence in topology.assumptions)


class TestDump:
    def test_devices(self, read):
        topology = read(PAIR)
        assert topology.name == "dump"
        assert devices_by_kind(topology) == {"gpu": 2, "cpu": 1, "memory": 1, "pcie_switch": 1, "nic": 1}
        assert [topology.devices[i].name for i in topology.gpus] == ["gpu0", "gpu1"]
        assert {device.server for device in topology.devices} == {"server"}

    def test_links(self, read):
        topology = read(PAIR)
        assert [(k.rate, k.kind) for k in links(topology, "gpu0", "gpu1")] == [(4 * 25e9, "nvlink")]
        assert [(k.rate, k.kind) for k in links(topology, "gpu1", "pcie0")] == [(GEN5, "pcie")]
        assert [(k.rate, k.kind) for k in links(topology, "pcie0", "cpu0")] == [(GEN5, "pcie")]
        assert [(k.rate, k.kind) for k in links(topology, "nic0", "pcie0")] == [(GEN5, "pcie")]
        assert [(k.rate, k.kind) for k in links(topology, "cpu0", "memory0")] == [
            (HOSTS["sapphire_rapids"].memory_rate, "memory")
        ]
        assert len(topology.links) == 2 * 6

    def test_nic_ports_and_what_the_server_may(self, read):
        topology = read(PAIR)
        assert topology.devices[topology.id_of("nic0")].port_rate == 50e9
        assert topology.servers["server"].p2p
        assert topology.servers["server"].gpudirect

    def test_ports_of_one_nic_are_one_device(self, read):
        topology = read(PAIR.replace(nic(N, 400_000), nic(N, 180_000, 180_000)))
        assert len(topology.find("nic")) == 1
        assert topology.devices[topology.id_of("nic0")].port_rate == 45e9

    def test_what_is_not_in_the_file_is_on_record(self, read):
        topology = read(PAIR)
        assert assumes(topology, "model of the GPU taken as h100_sxm, from sm 90 with NVLink")
        assert assumes(topology, "cpu0: memory and links between sockets are not in the file")
        assert assumes(topology, "P2P")

    def test_gpus_are_in_the_order_of_their_numbers(self, read):
        topology = read(system(cpu(gpu(A, 1, more='vendor="0x10de" device="0x2684"')), cpu(gpu(B, 0))))
        assert [topology.devices[i].model for i in topology.gpus] == ["", "rtx_4090"]

    def test_sockets_are_fully_meshed(self, read):
        topology = read(system(cpu(gpu(A)), cpu(), cpu()))
        assert len(topology.find("cpu")) == 3
        for a, b in (("cpu0", "cpu1"), ("cpu2", "cpu0"), ("cpu1", "cpu2")):
            assert links(topology, a, b)[0].rate == HOSTS["sapphire_rapids"].socket_rate

    @pytest.mark.parametrize(
        ("vendor", "family", "model", "host"),
        [
            ("GenuineIntel", 6, 79, "broadwell"),
            ("GenuineIntel", 6, 85, "skylake"),
            ("AuthenticAMD", 23, 49, "epyc_rome"),
            ("AuthenticAMD", 143, 49, "epyc_rome"),
            ("AuthenticAMD", 175, 17, "epyc_genoa"),
            ("", -1, -1, "skylake"),
        ],
    )
    def test_memory_by_processor(self, read, vendor, family, model, host):
        start = f'<cpu numaid="0" vendor="{vendor}" familyid="{family}" modelid="{model}">'
        topology = read(system(cpu(gpu(A), start=start)))
        assert links(topology, "cpu0", "memory0")[0].rate == HOSTS[host].memory_rate

    @pytest.mark.parametrize(
        ("vendor", "device", "model"),
        [("0x10de", "0x2330", "h100_sxm"), ("0x10DE", "0x20B0", "a100_sxm_40"), ("0x1002", "0x74a1", "mi300x")],
    )
    def test_models_by_pci_id_are_no_assumption(self, read, vendor, device, model):
        topology = read(system(cpu(gpu(A, more=f'vendor="{vendor}" device="{device}"'))))
        assert topology.devices[0].model == model
        assert not assumes(topology, "model")

    def test_a_gpu_that_cannot_be_known_has_no_model(self, read):
        topology = read(system(cpu(gpu(A, sm=61))))
        assert topology.devices[0].model == ""
        assert assumes(topology, "gpu0: model of the GPU not known")


class TestPcie:
    @pytest.mark.parametrize(
        ("speed", "width", "rate"),
        [("32.0 GT/s PCIe", "16", GEN5), ("16 GT/s", "16", GEN4), ("8 GT/s", "4", pcie_rate(8.0, 4)),
         ("2.5 GT/s PCIe", "1", 0.25e9)],
    )  # fmt: skip
    def test_rate_is_speed_times_width_less_encoding(self, read, speed, width, rate):
        topology = read(system(cpu(gpu(A, link=f'link_speed="{speed}" link_width="{width}"'))))
        assert links(topology, "gpu0", "cpu0")[0].rate == rate
        assert not assumes(topology, "PCIe link")

    @pytest.mark.parametrize(
        ("link", "rate"),
        [
            ('link_speed="" link_width="0"', GEN3),
            ("", GEN3),
            ('link_speed="Unknown" link_width="63"', GEN3),
            ('link_speed="16 GT/s"', GEN4),
            ('link_width="8"', pcie_rate(8.0, 8)),
            ('link_speed="7 GT/s" link_width=""', GEN3),
        ],
    )
    def test_what_is_unknown_is_taken_as_gen_3_with_16_lanes(self, read, link, rate):
        topology = read(system(cpu(gpu(A, link=link))))
        assert links(topology, "gpu0", "cpu0")[0].rate == rate
        assert assumes(topology, "gpu0: speed or width of the PCIe link not stated")

    def test_an_idle_uplink_above_faster_devices_has_their_speed(self, read):
        topology = read(system(cpu(switch(S, gpu(A), nic(N, 1), link='link_speed="5.0 GT/s PCIe" link_width="16"'))))
        assert links(topology, "pcie0", "cpu0")[0].rate == GEN5
        assert assumes(topology, "pcie0: PCIe link reported at 5 GT/s above faster devices")

    def test_an_uplink_of_an_older_generation_is_believed(self, read):
        topology = read(system(cpu(switch(S, gpu(A), link='link_speed="16 GT/s" link_width="16"'))))
        assert links(topology, "pcie0", "cpu0")[0].rate == GEN4

    @pytest.mark.parametrize(
        ("chip", "switches"),
        [('vendor="0x1000" device="0xc030"', 1), ('vendor="0x10b5" device="0x9765"', 1),
         ('vendor="0x15b3" device="0x1979"', 3), ("", 3)],
    )  # fmt: skip
    def test_two_level_switches_of_one_chip_are_flattened(self, read, chip, switches):
        inner = [switch("0000:02:00.0", gpu(A), more=chip), switch("0000:03:00.0", nic(N, 1000), more=chip)]
        topology = read(system(cpu(switch(S, *inner, more=chip))))
        assert len(topology.find("pcie_switch")) == switches
        assert bool(links(topology, "gpu0", "pcie0")) == (switches == 1)

    def test_links_between_sibling_switches(self, read):
        siblings = switch(S, gpu(A, 0), '<pcilink target="0000:02:00.0"/>'), switch("0000:02:00.0", gpu(B, 1))
        topology = read(system(cpu(*siblings)))
        assert [link.rate for link in links(topology, "pcie0", "pcie1")] == [GEN5]
        both = siblings[1].replace("</pci></pci>", f'</pci><pcilink target="{S}"/></pci>')
        assert len(links(read(system(cpu(siblings[0], both))), "pcie1", "pcie0")) == 1

    def test_c2c_joins_gpu_and_cpu(self, read):
        topology = read(system(cpu(gpu(A, inside='<c2c bw="22500" count="10"/>'))))
        assert sorted(link.rate for link in links(topology, "gpu0", "cpu0")) == [GEN5, 225e9]

    def test_other_pci_devices_are_passed_over(self, read):
        topology = read(system(cpu(gpu(A), f'<pci busid="{B}" class="0x010802" {LINK}/>')))
        assert len(topology.devices) == 3


class TestNvlink:
    def test_all_nvswitches_are_one_device(self, read):
        ports = nvlink("0000:1c:00.0", 5, "0x068000") + nvlink("0000:1b:00.0", 4, "0x068000")
        topology = read(system(cpu(gpu(A, 0, ports), gpu(B, 1, ports))))
        assert len(topology.find("nvswitch")) == 1
        assert [link.rate for link in links(topology, "gpu1", "nvswitch0")] == [9 * 25e9]
        assert assumes(topology, "NVSwitches")

    def test_a_hidden_nvswitch_is_one(self, read):
        topology = read(system(cpu(gpu(A, 0, nvlink("fffffff:ff:ff.0", 18, "")))))
        assert links(topology, "gpu0", "nvswitch0")[0].rate == 450e9

    def test_nvlink_into_the_processor(self, read):
        start = '<cpu numaid="0" arch="ppc64le" familyid="0" modelid="0">'
        topology = read(system(cpu(gpu(A, 0, nvlink("0004:00:00.0", 3, "0x068001"), sm=70), start=start)))
        assert [(k.rate, k.kind) for k in links(topology, "gpu0", "cpu0")] == [(GEN5, "pcie"), (75e9, "nvlink")]

    @pytest.mark.parametrize(
        ("sm", "rate"), [(60, 20e9), (70, 25e9), (80, 25e9), (86, 14.0625e9), (90, 25e9), (100, 50e9)]
    )
    def test_rate_by_generation(self, read, sm, rate):
        topology = read(system(cpu(gpu(A, 0, nvlink(B, 2), sm=sm), gpu(B, 1, nvlink(A, 2), sm=sm))))
        assert [link.rate for link in links(topology, "gpu0", "gpu1")] == [2 * rate]
        assert not assumes(topology, "generation")

    def test_an_unknown_generation_is_assumed(self, read):
        topology = read(system(cpu(gpu(A, 0, nvlink(B), sm=50), gpu(B, 1, nvlink(A), sm=50))))
        assert assumes(topology, "gpu0, gpu1: generation of its NVLinks not known")

    def test_links_to_itself_and_to_gpus_elsewhere_are_ignored(self, read):
        topology = read(system(cpu(gpu(A, 0, nvlink(A, 12) + nvlink("0000:99:00.0", 2)))))
        assert not [link for link in topology.links if link.kind == "nvlink"]
        assert assumes(topology, "gpu0: NVLinks to itself ignored")
        assert assumes(topology, "gpu0: NVLinks to GPUs that are not in the file ignored")

    def test_ends_that_disagree(self, read):
        topology = read(system(cpu(gpu(A, 0, nvlink(B, 2)), gpu(B, 1))))
        assert [link.rate for link in links(topology, "gpu1", "gpu0")] == [50e9]
        assert assumes(topology, "listed differently by their two ends")

    def test_bus_ids_in_another_spelling(self, read):
        topology = read(system(cpu(gpu(A, 0, nvlink("00000000:0B:00.0")), gpu(B, 1, nvlink(A.upper())))))
        assert len(links(topology, "gpu0", "gpu1")) == 1

    @pytest.mark.parametrize(("gcn", "rate"), [("gfx942", 64e9), ("940", 64e9), ("910", 50e9), ("908", 46e9)])
    def test_xgmi_of_rccl(self, read, gcn, rate):
        def amd(bus: str, other: str, dev: int) -> str:
            link = f'<xgmi target="{other}" count="1" tclass="0x120000"/>'
            return (
                f'<pci busid="{bus}" class="0x120000" {LINK}><gpu dev="{dev}" sm="304" gcn="{gcn}">{link}</gpu></pci>'
            )

        topology = read(system(cpu(amd(A, B, 0), amd(B, A, 1)), version=2))
        assert [link.rate for link in links(topology, "gpu0", "gpu1")] == [rate]
        assert topology.devices[0].model == ""


class TestNics:
    @pytest.mark.parametrize(("gpus", "nets", "works"), [(1, 1, True), (0, 1, False), (1, 0, False)])
    def test_gpudirect(self, read, gpus, nets, works):
        topology = read(system(cpu(gpu(A, gdr=gpus), nic(N, 100_000, gdr=nets))))
        assert topology.servers["server"].gpudirect is works

    def test_a_nic_below_the_processor_without_pci_device(self, read):
        topology = read(system(cpu(gpu(A), '<nic><net name="eth0" dev="0" speed="1000"/></nic>')))
        assert links(topology, "nic0", "cpu0")[0].rate == GEN3
        assert topology.devices[topology.id_of("nic0")].port_rate == 125e6
        assert assumes(topology, "nic0: not on a PCI device")
        assert assumes(topology, "GPUDirect")

    def test_a_port_faster_than_its_pcie_link_is_kept_and_noted(self, read):
        topology = read(system(cpu(gpu(A), nic(N, 600_000))))
        assert topology.devices[topology.id_of("nic0")].port_rate == 75e9
        assert assumes(topology, "nic0: ports are faster than its PCIe link")

    def test_a_speed_beyond_any_port_is_in_another_unit(self, read):
        topology = read(system(cpu(gpu(A), nic(N, 200_000_000))))
        assert topology.devices[topology.id_of("nic0")].port_rate == 25e9
        assert assumes(topology, "taken as kb/s")

    @pytest.mark.parametrize("nets", ["", '<net name="x" speed="-1"/>', '<net name="x"/>'])
    def test_ports_without_a_speed(self, read, nets):
        topology = read(system(cpu(gpu(A), f'<pci busid="{N}" class="0x020000" {LINK}><nic>{nets}</nic></pci>')))
        assert topology.devices[topology.id_of("nic0")].port_rate == 0
        assert assumes(topology, "nic0: port speed not stated")


class TestHintFiles:
    HINT = system(
        cpu(
            switch(
                "ffff:ff:01.0",
                f'<pci busid="{A}" class="0x030200" vendor="0x10de" device="0x20b2" {LINK}/>',
                f'<pci busid="{N}" class="0x020700" {LINK}/>',
            )
        )
    )

    def test_bare_pci_devices_become_gpus_and_nics_by_their_class(self, read):
        topology = read(self.HINT)
        assert devices_by_kind(topology) == {"gpu": 1, "cpu": 1, "memory": 1, "pcie_switch": 1, "nic": 1}
        assert topology.devices[0].model == "a100_sxm_80"
        assert assumes(topology, "gpu0: listed without a <gpu> element")

    def test_a_device_without_class_cannot_be_told(self, problem):
        text = system(cpu(f'\n<pci busid="{A}"/>', start='<cpu numaid="0">'))
        assert problem(text).startswith(f"dump.xml:3: pci: {A} has no class, <gpu> or <nic>")


def test_several_hosts_in_one_file_are_several_servers(read):
    """NCCL fuses the dumps of a multi-node NVLink domain and tells the hosts apart by host_hash."""
    port = nvlink("fffffff:ff:ff.0", 18, "0x068000")
    start = '<cpu host_hash="{}" numaid="0" arch="arm64">'
    one, two = (cpu(gpu(A, 0, port), gpu(B, 1, port), start=start.format(hash)) for hash in ("0x1", "0x2"))
    topology = read(system(one, two))
    assert list(topology.servers) == ["server0", "server1"]
    assert [topology.devices[i].name for i in topology.gpus] == [
        "server0/gpu0", "server0/gpu1", "server1/gpu0", "server1/gpu1"
    ]  # fmt: skip
    assert topology.devices[topology.id_of("nvswitch0")].server == ""
    assert links(topology, "server1/gpu1", "nvswitch0")[0].rate == 450e9
    assert not nx.has_path(
        topology.graph.edge_subgraph([e for e in topology.graph.edges if topology.links[e[2]].kind != "nvlink"]),
        topology.id_of("server0/cpu0"),
        topology.id_of("server1/cpu0"),
    )


class TestRefused:
    def test_graph_xml_says_what_it_is(self, problem):
        text = '<graphs version="1"><graph id="0" pattern="4"/></graphs>'
        sentence = "these are rings and trees that NCCL chose, not a topology; NCCL_TOPO_DUMP_FILE writes one"
        assert problem(text) == f"dump.xml:1: graphs: {sentence}"

    def test_other_xml(self, problem, tmp_path):
        assert problem("<html/>").startswith("dump.xml:1: no topology in a known format; known: ")
        with pytest.raises(InputError, match=r"dump\.xml:1: html: expected <system>, with which"):
            nccl_xml.read(tmp_path / "dump.xml")

    @pytest.mark.parametrize("text", [system(), system(cpu()), system(cpu(nic(N, 1000)))])
    def test_no_gpu(self, problem, text):
        assert problem(text) == "dump.xml:1: system: there is no GPU in this file"

    def test_entities_are_not_expanded(self, problem):
        bomb = '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<system>&b;</system>'
        assert problem(bomb) == "dump.xml:2: a DTD or entity; only plain elements are accepted"

    @pytest.mark.parametrize(
        ("doctype", "sentence"),
        [
            ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "only plain elements are accepted"),
            ('<!DOCTYPE system SYSTEM "http://localhost/x.dtd">', "undefined entity"),
            ('<!DOCTYPE a SYSTEM "x.dtd" [<!ATTLIST gpu a CDATA "x">]>', "only plain elements are accepted"),
        ],
    )
    def test_no_external_file_is_read(self, problem, doctype, sentence):
        assert sentence in problem(f"{doctype}\n<system>&x;</system>")

    @pytest.mark.parametrize("length", [1, 20, 60, len(PAIR) - 5])
    def test_truncated(self, problem, length):
        assert problem(PAIR[:length]).startswith("dump.xml:")

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"", "dump.xml:1: the file is empty"),
            (b" \n\n", "dump.xml:1: the file is empty"),
            (b"name: pair\n", "dump.xml:1: not valid XML"),
            (bytes(range(256)), "dump.xml:1: not valid XML"),
            (b'<system version="\xff\xfe"/>', "dump.xml:1: not valid XML"),
            (b'<?xml version="1.0" encoding="klingon"?><system/>', "dump.xml:1: not valid XML: unknown encoding"),
            (b"<system>" + b"<cpu/>" * 300 + b"</system>", "dump.xml:1: cpu: more than 256 processors"),
            (b"<system>" * 100_000, "dump.xml:1: system: elements are nested more than 64 deep"),
            (b" " * (2**22 + 1), "dump.xml:1: is larger than 4 MiB"),
        ],
    )
    def test_what_is_no_xml(self, tmp_path, data, sentence):
        (tmp_path / "dump.xml").write_bytes(data)
        with pytest.raises(InputError, match=f"^{re.escape(f'{tmp_path}/{sentence}')}"):
            nccl_xml.read(tmp_path / "dump.xml")

    def test_an_empty_file(self, problem):
        assert problem(" \n") == "dump.xml:1: the file is empty"

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ('count="4"', 'count="four"', "nvlink: count: expected a whole number, got 'four'"),
            ('count="4"', 'count="0"', "nvlink: count: must be between 1 and 1000, got 0"),
            ('count="4"', 'count="99999999999999999999"', "nvlink: count: must be between 1 and 1000"),
            ('speed="400000"', 'speed="fast"', "net: speed: expected a whole number, got 'fast'"),
            ('link_width="16"', 'link_width="-1"', "pci: link_width: must be between 0 and 255, got -1"),
            ('modelid="143"', 'modelid="x"', "cpu: modelid: expected a whole number, got 'x'"),
            ('sm="90"', 'sm="nan"', "gpu: sm: expected a whole number, got 'nan'"),
            (f'busid="{B}"', f'busid="{A}"', f"pci: busid {A} is there twice, first at dump.xml:2"),
        ],
    )
    def test_nonsense_in_attributes_is_placed(self, problem, old, new, sentence):
        assert problem(PAIR.replace(old, new)).startswith(f"dump.xml:2: {sentence}")

    def test_files_that_cannot_be_read(self, tmp_path):
        with pytest.raises(InputError, match="cannot be read: Is a directory"):
            nccl_xml.read(tmp_path)


class TestBehindAFabric:
    def test_copies_of_an_imported_server(self, tmp_path, read):
        read(PAIR)
        (tmp_path / "cluster.yaml").write_text("kind: single_switch\nnodes: 3\nnode: {file: dump.xml}\n")
        topology = TopologyFile(file=tmp_path / "cluster.yaml").build()
        assert list(topology.servers) == ["node0", "node1", "node2"]
        assert links(topology, "node2/nic0", "switch0")[0].rate == 50e9
        assert links(topology, "node1/gpu0", "node1/gpu1")[0].rate == 100e9
        assert len(topology.assumptions) == len(set(topology.assumptions))

    def test_a_hint_file_needs_a_link_rate(self, tmp_path, read):
        read(TestHintFiles.HINT)
        (tmp_path / "cluster.yaml").write_text("kind: single_switch\nnodes: 3\nnode: {file: dump.xml}\n")
        with pytest.raises(InputError, match=r"cluster\.yaml: link_rate: dump does not say how fast its nic0 is"):
            TopologyFile(file=tmp_path / "cluster.yaml").build()


# -- real files -------------------------------------------------------------------------------------------

REFUSED = {
    "azure_ncv4_graph.xml": "these are rings and trees that NCCL chose, not a topology",
    "aws_g5.48xlarge_8xA10G.xml": "has no class, <gpu> or <nic>, so it cannot be told what it is",
}


@pytest.mark.skipif(not REAL, reason="the real files are not here")
class TestRealFiles:
    @pytest.mark.parametrize("path", REAL, ids=[path.stem for path in REAL])
    def test_loads_or_is_refused_with_a_true_sentence(self, path, tmp_path):
        if path.name in REFUSED:
            with pytest.raises(InputError, match=REFUSED[path.name]):
                nccl_xml.read(path)
            return
        topology = nccl_xml.read(path)
        assert topology.gpus
        assert nx.is_strongly_connected(topology.graph)
        (tmp_path / "t.yaml").write_text(native.to_yaml(topology))
        again = native.read(tmp_path / "t.yaml")
        assert (again.devices, again.links, again.servers) == (topology.devices, topology.links, topology.servers)

    def test_the_dgx1_is_the_cube_mesh(self):
        topology = nccl_xml.read(SHARED / "proteus_dgx1_v100_1ib_n8.xml")
        for a, row in enumerate(NVLINKS):
            for b, count in enumerate(row):
                found = [link for link in links(topology, f"gpu{a}", f"gpu{b}") if link.kind == "nvlink"]
                assert [link.rate for link in found] == ([count * 25e9] if count else [])
        assert {topology.devices[i].model for i in topology.gpus} == {"v100_sxm2"}
        assert len(topology.find("pcie_switch")) == 4

    def test_the_h100_server_equals_the_builder_in_its_links_to_nvswitch_and_pcie(self):
        topology, built = nccl_xml.read(SHARED / "oci_bm_gpu_h100.8_full_dump.xml"), BUILDERS["hgx_h100"]().build()
        assert devices_by_kind(topology) == devices_by_kind(built)
        kinds = [sorted((k.kind, k.rate, k.latency) for k in t.links) for t in (topology, built)]
        assert kinds[0] == kinds[1]
        assert {topology.devices[nic].port_rate for nic in topology.find("nic")} == {45e9}

    def test_mi300x_is_fully_meshed(self):
        topology = nccl_xml.read(SHARED / "rccl_topo_8p_940.xml")
        for a in range(8):
            for b in range(8):
                assert [link.rate for link in links(topology, f"gpu{a}", f"gpu{b}")] == ([64e9] if a != b else [])
        assert {topology.devices[nic].port_rate for nic in topology.find("nic")} == {50e9}
