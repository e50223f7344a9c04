"""XML of hwloc (`lstopo server.xml`): one server with its processors, PCIe bridges, GPUs, NICs and NVLinks.

The format is that of hwloc's XML export (https://hwloc.readthedocs.io): objects in objects, of which Package, Bridge
and PCIDev count here, and behind them matrices of distances. What a file does not say is on record in the topology's
assumptions.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from simnet.hardware import LINKS
from simnet.topology.builders.nvswitch_server import MERGED
from simnet.topology.builders.server import add_sockets, connect_pcie
from simnet.topology.importers import hwloc_objects as ask
from simnet.topology.importers import nccl_guesses as guesses
from simnet.topology.importers import xml_tree
from simnet.topology.importers.hwloc_objects import GPU, NIC, NVSWITCH
from simnet.topology.importers.notes import Notes
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology

_PACKAGES = ("Package", "Socket")  # hwloc 2 and 1
_MAX_CPUS = 256  # of one host; any two are joined, so their links grow with the square
_SERVER = "server"


def read(path: Path, gpu: str | None = None, host: str | None = None, nic_rate: float | None = None) -> Topology:
    """XML of hwloc, as `lstopo server.xml` writes it: a server with GPUs.

    gpu, host: rows of GPUS and HOSTS, where the file's are not known or not wanted; nic_rate [bytes/s]: of a port.
    Raises InputError with 'file:line: what is wrong'.
    """
    root = xml_tree.read(Path(path))
    if root.tag != "topology" or not any(root.all("object")):
        raise root.error("expected <topology> with <object>s in it, as the XML of hwloc has")
    return _Import(root, Path(path).stem, gpu, host, nic_rate or 0.0).topology


class _Import:
    """Reads one file; `topology` is the result."""

    def __init__(self, root: Element, name: str, gpu: str | None, host: str | None, nic_rate: float):
        self.topology = Topology(name)
        self.notes = Notes()
        self.ids: dict[Element, int] = {}  # of devices
        self.switches = 0
        self.everything = [child for top in root.all("object") for child in ask.objects(top)]
        packages = [element for element in self.everything if element.get("type") in _PACKAGES]
        if len(packages) > _MAX_CPUS:
            raise packages[_MAX_CPUS].error(f"more than {_MAX_CPUS} processors, which no server has")
        self.topology.add_server(_SERVER)
        self._add_gpus(root, gpu)
        self._add_cpus(root, packages, host)
        self._add_nics(nic_rate)
        for element, cpu in self._top_devices(root, self.topology.find("cpu")[0]):
            self._plug_in(element, cpu, math.inf)
        self._add_nvlinks(ask.links(root))
        self.topology.assumptions += self.notes.sentences()

    # -- devices ------------------------------------------------------------------------------------------

    def _add_gpus(self, root: Element, model: str | None) -> None:
        gpus = [element for element in self.everything if ask.kind_of(element) == GPU]
        if not gpus:
            raise root.error("there is no GPU in this file")
        for i, element in enumerate(gpus):
            known = model or guesses.MODEL_OF_PCI_ID.get(ask.pci_id(element), "")
            self.ids[element] = self.topology.add_device(f"gpu{i}", "gpu", _SERVER, known)
            if not known:
                self.notes.add(f"gpu{i}", f"model of PCI device {ask.pci_id(element)} not known: give a `gpu`")
        if len(gpus) > 1:
            self.notes.add(_SERVER, "the file does not say whether GPUs reach each other over PCIe (P2P), taken as yes")

    def _add_cpus(self, root: Element, packages: list[Element], host: str | None) -> None:
        if not packages:
            self.notes.add(_SERVER, "no processor in the file, taken as one")
        hosts = [host or _host(package, ask.info(root, "Architecture")) for package in packages or [root]]
        for i, (id, row) in enumerate(zip(add_sockets(self.topology, _SERVER, hosts), hosts)):
            if packages:
                self.ids[packages[i]] = id
            self.notes.add(f"cpu{i}", f"memory and links between sockets are not in the file, taken as those of {row}")

    def _add_nics(self, rate: float) -> None:
        """NICs with all their ports; where some are for RDMA, the others are for management and left out."""
        nics = [element for element in self.everything if ask.kind_of(element) == NIC]
        kept = [nic for nic in nics if ask.has_rdma(nic)] or nics
        if len(kept) < len(nics):
            self.notes.add(_SERVER, f"{len(nics) - len(kept)} network ports without RDMA are left out")
        cards: dict[str, list[Element]] = {}
        for nic in kept:
            cards.setdefault(ask.card_of(nic), []).append(nic)
        for i, ports in enumerate(cards.values()):
            self.ids[ports[0]] = self.topology.add_device(f"nic{i}", "nic", _SERVER, port_rate=rate * len(ports))
            if not rate:
                self.notes.add(f"nic{i}", "port speed not stated: behind a fabric it needs a `nic_rate` or link_rate")
        if cards:
            self.notes.add(_SERVER, "the file does not say whether NICs reach GPU memory (GPUDirect), taken as yes")

    # -- PCIe ---------------------------------------------------------------------------------------------

    def _top_devices(self, parent: Element, cpu: int) -> Iterator[tuple[Element, int]]:
        """Host bridges and PCI devices outside of bridges, each with the processor that it is nearest to."""
        inside = (self.ids[element] for element in ask.objects(parent) if element.get("type") in _PACKAGES)
        cpu = next(inside, cpu)
        for child in parent.all("object"):
            if child.get("type") in ("Bridge", "PCIDev"):
                yield child, cpu
            else:
                yield from self._top_devices(child, cpu)

    def _plug_in(self, element: Element, above: int, rate: float) -> None:
        """Join what is below an object to `above`, by the slowest link between [bytes/s].

        A bridge with several devices below becomes a PCIe switch; those with one are part of its link.
        """
        slowest = min(ask.link_rate(element) or math.inf, rate)
        if element in self.ids:
            self._connect(self.ids[element], above, slowest)
            return
        below = [child for child in element.all("object") if any(o in self.ids for o in ask.objects(child))]
        if len(below) > 1 and element.get("pci_busid"):
            switch = self.topology.add_device(f"pcie{self.switches}", "pcie_switch", _SERVER)
            self.switches += 1
            self._connect(switch, above, slowest)
            above, slowest = switch, math.inf
        for child in below:
            self._plug_in(child, above, slowest)

    def _connect(self, device: int, above: int, rate: float) -> None:
        if rate == math.inf:
            rate = LINKS["pcie3_x16"].rate
            name = self.topology.devices[device].name
            self.notes.add(name, "speed of the PCIe link not stated, taken as PCIe 3 and 16 lanes")
        connect_pcie(self.topology, device, above, rate)

    # -- NVLink -------------------------------------------------------------------------------------------

    def _add_nvlinks(self, entries: dict[tuple[str, str], float]) -> None:
        if not entries:
            self.notes.add(_SERVER, "the file has no matrix of NVLink rates, so there are no NVLinks")
            return
        owners = {element.get("gp_index"): element for element in self.everything}
        for element in self.everything:  # an nvml device stands for the GPU that it is of
            if ask.kind_of(element) == GPU:
                owners |= {child.get("gp_index"): element for child in element.all("object")}
        nvswitch: int | None = None
        rates: dict[tuple[int, int], float] = {}
        for (a, b), rate in entries.items():
            ends = [owners.get(a), owners.get(b)]
            if None in ends or ask.kind_of(ends[0]) != GPU:
                continue
            if ask.kind_of(ends[1]) == NVSWITCH and nvswitch is None:
                nvswitch = self.topology.add_device("nvswitch0", "nvswitch", _SERVER)
                self.topology.assumptions.append(MERGED)
            other = nvswitch if ask.kind_of(ends[1]) == NVSWITCH else self.ids.get(ends[1])
            if other is not None:
                pair = self.ids[ends[0]], other
                rates[pair] = rates.get(pair, 0.0) + rate
        self._connect_pairs(rates)

    def _connect_pairs(self, rates: dict[tuple[int, int], float]) -> None:
        for (a, b), rate in rates.items():
            back = rates.get((b, a), rate)
            if back != rate:
                name = self.topology.devices[a].name
                self.notes.add(name, "NVLinks listed differently by their two ends, taken as the larger rate")
            if a < b or (b, a) not in rates:
                self.topology.connect(a, b, max(rate, back), LINKS["nvlink4"].latency, "nvlink")


def _host(package: Element, arch: str) -> str:
    """Row of HOSTS of a processor."""
    numbers = (ask.info(package, name) for name in ("CPUFamilyNumber", "CPUModelNumber"))
    family, model = (int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1 for text in numbers)
    return guesses.host_of(ask.info(package, "CPUVendor"), family, model, arch)
