"""The importer of hwloc's XML: every deviation on a small file of our own, and all real files where they are."""

import re
from pathlib import Path

import networkx as nx
import pytest

from simnet.errors import InputError
from simnet.hardware import HOSTS, LINKS
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.describe import devices_by_kind
from simnet.topology.routing import Router

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "topo" / "hwloc"
GEN3, GEN4 = LINKS["pcie3_x16"].rate, LINKS["pcie4_x16"].rate
A100, H100, MELLANOX, NVSWITCH = "0302 [10de:20b2]", "0302 [10de:2330]", "0207 [15b3:101b]", "0680 [10de:1af1]"
SKYLAKE = (("CPUVendor", "GenuineIntel"), ("CPUFamilyNumber", "6"), ("CPUModelNumber", "85"))


def package(*inside: str, index: int = 1, info=SKYLAKE) -> str:
    infos = "".join(f'<info name="{name}" value="{value}"/>' for name, value in info)
    return f'<object type="Package" gp_index="{index}">{infos}{"".join(inside)}</object>\n'


def host_bridge(*inside: str) -> str:
    return f'<object type="Bridge" bridge_type="0-1">{"".join(inside)}</object>'


def bridge(bus: str, *inside: str, speed: str = "31.507692") -> str:
    return (
        f'<object type="Bridge" bridge_type="1-1" pci_busid="{bus}" pci_type="0604 [1000:c010] [0000:0000] 00 00" '
        f'pci_link_speed="{speed}">{"".join(inside)}</object>'
    )


def device(bus: str, what: str, index: int = 0, *names: str, speed: str = "31.507692", subtype: str = "") -> str:
    inside = "".join(f'<object type="OSDev" name="{name}" gp_index="{index + 1000}"/>' for name in names)
    return (
        f'<object type="PCIDev" gp_index="{index}" subtype="{subtype}" pci_busid="{bus}" '
        f'pci_type="{what} [0000:0000] a1 00" pci_link_speed="{speed}">{inside}</object>\n'
    )


def matrix(ends: str, values: str, name: str = "NVLinkBandwidth") -> str:
    n = len(ends.split())
    return (
        f'<distances2hetero nbobjs="{n}" kind="25" name="{name}"><indexes>{ends}</indexes>\n'
        f"<u64values>{values}</u64values></distances2hetero>\n"
    )


def machine(*packages: str, more: str = "", arch: str = "x86_64") -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n'
        f'<object type="Machine" gp_index="900">\n{"".join(packages)}</object>\n{more}'
        f'<info name="Architecture" value="{arch}"/></topology>\n'
    )


A, B, C, D = "0000:07:00.0", "0000:0f:00.0", "0000:47:00.0", "0000:4e:00.0"
PAIR = host_bridge(bridge("0000:01:00.0", device(A, A100, 11, "nvml0"), device(B, A100, 12, "nvml1")))


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options) -> Topology:
        (tmp_path / "box.xml").write_text(text)
        return TopologyFile(file=tmp_path / "box.xml", **options).build()

    return read


@pytest.fixture
def problem(tmp_path, read):
    def problem(text: str) -> str:
        with pytest.raises(InputError) as error:
            read(text)
        return str(error.value).replace(f"{tmp_path}/", "")

    return problem


def rates(topology: Topology, a: str, b: str) -> list[float]:
    ids = topology.id_of(a), topology.id_of(b)
    return [link.rate for link in topology.links if (link.source, link.destination) == ids]


def told(topology: Topology, words: str) -> bool:
    return any(words in sentence for sentence in topology.assumptions)


class TestPcie:
    def test_a_bridge_with_several_devices_is_a_switch(self, read):
        topology = read(machine(package(PAIR)))
        assert devices_by_kind(topology) == {"gpu": 2, "cpu": 1, "memory": 1, "pcie_switch": 1}
        assert rates(topology, "gpu0", "pcie0") == rates(topology, "pcie0", "cpu0") == [pytest.approx(GEN4, rel=1e-4)]

    def test_bridges_with_one_device_are_part_of_its_link_which_is_as_fast_as_the_slowest(self, read):
        chain = host_bridge(bridge("0000:01:00.0", bridge("0000:02:00.0", device(A, A100), speed="15.753846")))
        topology = read(machine(package(chain)))
        assert topology.find("pcie_switch") == []
        assert rates(topology, "gpu0", "cpu0") == [pytest.approx(GEN3, rel=1e-4)]

    def test_other_devices_below_a_bridge_do_not_count(self, read):
        disk = device("0000:09:00.0", "0108 [144d:a808]")
        topology = read(machine(package(host_bridge(bridge("0000:01:00.0", device(A, A100), disk)))))
        assert topology.find("pcie_switch") == []

    def test_switches_below_switches(self, read):
        lower = [
            bridge(f"0000:0{i}:00.0", *(device(bus, A100) for bus in buses)) for i, buses in ((2, (A, B)), (3, (C, D)))
        ]
        topology = read(machine(package(host_bridge(bridge("0000:01:00.0", *lower)))))
        assert rates(topology, "pcie1", "pcie0")
        assert rates(topology, "gpu3", "pcie2")
        assert len(topology.find("pcie_switch")) == 3

    def test_a_speed_that_is_not_stated_is_taken_as_pcie_3_and_told(self, read):
        topology = read(machine(package(host_bridge(device(A, A100, speed="0.000000")))))
        assert rates(topology, "gpu0", "cpu0") == [GEN3]
        assert told(topology, "gpu0: speed of the PCIe link not stated, taken as PCIe 3 and 16 lanes.")

    def test_bridges_outside_of_packages_hang_off_the_nearest_processor(self, read):
        group = f'<object type="Group">{package(index=2)}{host_bridge(device(B, A100))}</object>'
        topology = read(machine(package(index=1), group, host_bridge(device(A, A100))))
        assert rates(topology, "gpu0", "cpu1")
        assert rates(topology, "gpu1", "cpu0")

    def test_sockets_of_old_files(self, read):
        topology = read(
            machine(package(PAIR).replace("Package", "Socket"), package(index=2).replace("Package", "Socket"))
        )
        assert len(topology.find("cpu")) == 2

    def test_everything_on_one_line(self, read):
        text = machine(package(PAIR)).replace('<?xml version="1.0"?>', "").replace("\n", " ").strip()
        assert len(read(text).gpus) == 2


class TestDevices:
    def test_models_by_pci_id_or_from_beside_the_file(self, read):
        unknown = machine(package(host_bridge(device(A, "0302 [10de:ffff]"), device(B, H100))))
        topology = read(unknown)
        assert [topology.devices[gpu].model for gpu in topology.gpus] == ["", "h100_sxm"]
        assert told(topology, "gpu0: model of PCI device 10de:ffff not known")
        given = read(unknown, gpu="l40s")
        assert [given.devices[gpu].model for gpu in given.gpus] == ["l40s", "l40s"]

    @pytest.mark.parametrize(
        ("what", "names", "gpu"),
        [
            ("0300 [102b:0532]", (), False), ("0300 [1002:515e]", ("card0",), False), ("0300 [10de:2684]", (), True),
            ("0300 [1002:6798]", ("opencl0d1",), True), ("0380 [1002:74a1]", (), True), ("1200 [1002:74a1]", (), True),
            ("0108 [10de:1234]", (), False),
        ],
    )  # fmt: skip
    def test_what_is_a_gpu(self, read, what, names, gpu):
        topology = read(machine(package(host_bridge(device(A, A100), device(B, what, 5, *names)))))
        assert len(topology.gpus) == 1 + gpu

    def test_nics_with_rdma_and_their_ports(self, read):
        nics = device("0000:0a:00.0", MELLANOX), device("0000:0a:00.1", MELLANOX), device(B, "0200 [8086:1521]")
        topology = read(machine(package(host_bridge(device(A, A100), *nics))), nic_rate="200Gbps")
        (nic,) = topology.find("nic")
        assert topology.devices[nic].port_rate == 50e9
        assert told(topology, "1 network ports without RDMA are left out")

    def test_ethernet_alone_is_kept_and_its_rate_is_not_known(self, read):
        topology = read(machine(package(host_bridge(device(A, A100), device(B, "0200 [8086:1521]")))))
        assert topology.devices[topology.find("nic")[0]].port_rate == 0
        assert told(topology, "nic0: port speed not stated")

    def test_processors(self, read):
        rome = (("CPUVendor", "AuthenticAMD"), ("CPUFamilyNumber", "23"), ("CPUModelNumber", "49"))
        topology = read(machine(package(PAIR), package(index=2, info=rome)))
        memory = [link.rate for link in topology.links if link.kind == "memory"]
        assert set(memory) == {
            HOSTS["skylake"].memory_rate, HOSTS["epyc_rome"].memory_rate, HOSTS["skylake"].socket_rate
        }  # fmt: skip
        assert told(topology, "cpu1: memory and links between sockets are not in the file, taken as those of epyc_rome")
        assert told(read(machine(package(PAIR)), host="ice_lake"), "taken as those of ice_lake")
        assert told(read(machine(package(PAIR, info=()), arch="ppc64le")), "taken as those of power9")

    def test_no_processor(self, read):
        topology = read(machine(PAIR))
        assert len(topology.find("cpu")) == 1
        assert told(topology, "no processor in the file, taken as one")


class TestNvlinks:
    def test_between_gpus_by_their_nvml_devices_or_their_own(self, read):
        for ends in ("OSDev:1011 OSDev:1012", "PCIDev:11 PCIDev:12", "11 12"):
            topology = read(machine(package(PAIR), more=matrix(ends, "0 100000 100000 1000000")))
            assert rates(topology, "gpu0", "gpu1") == rates(topology, "gpu1", "gpu0") == [100e9]

    def test_to_nvswitches_are_summed_and_these_are_one_device(self, read):
        switches = [device(f"0000:c{i}:00.0", NVSWITCH, 20 + i, subtype="NVSwitch") for i in range(2)]
        values = "0 0 50000 75000  0 0 50000 75000  50000 50000 0 0  75000 75000 0 0"
        topology = read(machine(package(PAIR, *switches), more=matrix("11 12 20 21", values)))
        assert devices_by_kind(topology)["nvswitch"] == 1
        assert rates(topology, "gpu0", "nvswitch0") == rates(topology, "nvswitch0", "gpu1") == [125e9]
        assert told(topology, "All NVSwitches of a server are one device")

    def test_to_the_processor(self, read):
        topology = read(machine(package(PAIR), more=matrix("OSDev:1011 Package:1", "0 40000 40000 0")))
        assert [link.rate for link in topology.links if link.kind == "nvlink"] == [40e9, 40e9]
        assert 40e9 in rates(topology, "gpu0", "cpu0")

    def test_xgmi(self, read):
        topology = read(machine(package(PAIR), more=matrix("11 12", "0 50000 50000 0", "XGMIBandwidth")))
        assert rates(topology, "gpu0", "gpu1") == [50e9]

    def test_ends_that_disagree_are_told(self, read):
        topology = read(machine(package(PAIR), more=matrix("11 12", "0 25000 50000 0")))
        assert rates(topology, "gpu0", "gpu1") == rates(topology, "gpu1", "gpu0") == [50e9]
        assert told(topology, "NVLinks listed differently by their two ends, taken as the larger rate")

    def test_one_sided_entries_and_strangers(self, read):
        topology = read(machine(package(PAIR), more=matrix("11 12 77", "0 25000 9 0 0 9 9 9 0")))
        assert rates(topology, "gpu0", "gpu1") == rates(topology, "gpu1", "gpu0") == [25e9]

    def test_none_is_told(self, read):
        topology = read(machine(package(PAIR), more=matrix("11 12", "0 2 2 0", "XGMIHops")))
        assert not [link for link in topology.links if link.kind == "nvlink"]
        assert told(topology, "the file has no matrix of NVLink rates")


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("<topology/>", "box.xml:1: topology: expected <topology> with <object>s in it"),
            (machine(package()), "box.xml:3: topology: there is no GPU in this file"),
            (machine(package(host_bridge(device(A, A100, speed="fast")))), "pci_link_speed: expected a number of GB/s"),
            (machine(package(PAIR), more=matrix("11 12", "0 1 2")), "3 values for 2 objects, which need 4"),
            (machine(package(PAIR), more=matrix("11 12", "0 -1 2 0")), "expected whole numbers of MB/s, got '-1'"),
            (machine(package(PAIR), more=matrix("11 11", "0 1 2 0")), "names an object twice"),
            (machine(package(PAIR) + package() * 256), "more than 256 processors"),
            (machine(package(PAIR))[:-20], "not valid XML"),
        ],
    )
    def test_with_a_sentence(self, problem, text, sentence):
        assert sentence in problem(text)

    def test_bombs(self, problem):
        laughs = '<!DOCTYPE topology [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        text = machine(package(PAIR)).replace('<!DOCTYPE topology SYSTEM "hwloc2.dtd">', laughs)
        assert "a DTD or entity" in problem(text)
        assert "nested more than 64 deep" in problem(machine('<object type="Bridge">' * 100))


@pytest.mark.skipif(not SHARED.exists(), reason="the real files are not here")
class TestRealFiles:
    def test_dgx2(self, tmp_path):
        topology = TopologyFile(file=SHARED / "nvidiaDGX2.xml").build()
        assert devices_by_kind(topology) == {
            "gpu": 16, "cpu": 2, "memory": 2, "pcie_switch": 4 + 8, "nvswitch": 1
        }  # fmt: skip
        assert {topology.devices[gpu].model for gpu in topology.gpus} == {"v100_sxm2"}
        assert [link.rate for link in topology.links if link.kind == "nvlink"] == [150e9] * 32  # 6 x 25 GB/s
        assert rates(topology, "gpu8", "pcie7")
        router = Router(topology)
        assert len(router.path(topology.gpus[0], topology.gpus[15])) == 2
        (tmp_path / "again.yaml").write_text(native.to_yaml(topology))
        again = TopologyFile(file=tmp_path / "again.yaml").build()
        assert (again.devices, again.links, again.assumptions) == (
            topology.devices,
            topology.links,
            topology.assumptions,
        )

    def test_power8(self):
        topology = TopologyFile(file=SHARED / "power8gpudistances.xml").build()
        assert rates(topology, "gpu0", "gpu1") == rates(topology, "gpu2", "gpu3") == [40e9]  # 2 x 20 GB/s
        assert rates(topology, "gpu0", "gpu2") == []
        assert 40e9 in rates(topology, "gpu0", "cpu0")
        assert 40e9 in rates(topology, "gpu3", "cpu1")

    @pytest.mark.parametrize("path", sorted(SHARED.glob("*.xml")), ids=lambda path: path.name)
    def test_every_other_loads_or_has_no_gpu(self, path):
        has_gpu = re.search(r'pci_type="0302', path.read_text()) is not None
        if has_gpu:
            topology = TopologyFile(file=path).build()
            assert nx.is_strongly_connected(topology.graph)
        else:
            with pytest.raises(InputError, match="there is no GPU in this file"):
                TopologyFile(file=path).build()
