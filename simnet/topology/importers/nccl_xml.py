"""Topology XML of NCCL and RCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): one server with its GPUs, NICs and links.

The format is that of NCCL's src/graph/xml.cc: system > cpu > nested pci > gpu | nic > net. What a file does not say is
taken from `nccl_guesses` and put on record in the topology's assumptions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simnet.hardware import LINKS
from simnet.topology.builders.nvswitch_server import MERGED
from simnet.topology.builders.server import add_sockets, connect_pcie
from simnet.topology.importers import nccl_guesses as guesses
from simnet.topology.importers import xml_tree
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology
from simnet.units import RATE

_SWITCH, _GPU, _NIC = "pcie_switch", "gpu", "nic"
_PREFIX = {_SWITCH: "pcie", _GPU: "gpu", _NIC: "nic"}
_CPU_CLASS = "0x068001"  # an NVLink into the processor, as POWER9 has; 0x068000 is an NVSwitch
_HIDDEN_NVSWITCH = guesses.bus_id("fffffff:ff:ff.0")
_NAMED = 4  # devices that an assumption names before it counts


def read(path: Path) -> Topology:
    """NCCL topology XML: a dump of a real server, or a hint file of a cloud provider.

    Raises InputError with 'file:line: what is wrong'.
    """
    root = xml_tree.read(Path(path))
    if root.tag == "graphs":
        raise root.error("these are rings and trees that NCCL chose, not a topology; NCCL_TOPO_DUMP_FILE writes one")
    if root.tag != "system":
        raise root.error("expected <system>, with which the topology XML of NCCL starts")
    return _Import(root, Path(path).stem).topology


@dataclass
class _Place:
    """A device of the file. above: the PCIe switch or CPU it is plugged into; id: in the topology, set when added."""

    element: Element
    kind: str
    server: str
    cpu: "_Place | None" = None
    above: "_Place | None" = None
    id: int = -1


class _Import:
    """Reads one file; `topology` is the result."""

    def __init__(self, root: Element, name: str):
        self.topology = Topology(name)
        self.notes: dict[str, list[str]] = {}
        self.places: dict[tuple[str, str], _Place] = {}
        hosts: dict[str, list[Element]] = {}
        for cpu in root.all("cpu"):
            hosts.setdefault(cpu.get("host_hash"), []).append(cpu)
        gpus = []
        for i, members in enumerate(hosts.values()):
            gpus += self._add_server(members, "server" if len(hosts) == 1 else f"server{i}", len(hosts) > 1)
        if not gpus:
            raise root.error("there is no GPU in this file")
        for gpu in gpus:
            self._add_c2c(gpu)
        self._add_nvlinks(gpus)
        self.topology.assumptions += [self._sentence(text, names) for text, names in self.notes.items()]

    # -- devices ------------------------------------------------------------------------------------------

    def _add_server(self, elements: list[Element], server: str, several: bool) -> list[_Place]:
        cpus = [_Place(element, "cpu", server) for element in elements]
        places = [place for cpu in cpus for place in self._below(cpu.element, cpu, cpu)]
        gpus = sorted((p for p in places if p.kind == _GPU), key=_device_number)
        nics = [p for p in places if p.kind == _NIC]
        prefix = f"{server}/" if several else ""
        self.topology.add_server(server, p2p=True, gpudirect=_gpudirect(gpus, nics))
        self._add_devices(gpus, prefix)
        hosts = [guesses.host(cpu.element) for cpu in cpus]
        for cpu, id, host in zip(cpus, add_sockets(self.topology, server, hosts, prefix=prefix), hosts):
            cpu.id = id
            self._note(cpu, f"memory and links between sockets are not in the file, taken as those of {host}")
        self._add_devices([p for p in places if p.kind == _SWITCH], prefix)
        self._add_devices(nics, prefix)
        for place in places:
            self._plug_in(place)
        for place in places:
            self._add_pcilinks(place)
        if nics and not any(net.get("gdr") for nic in nics for net in _nets(nic)):
            self._note(server, "the file does not say whether NICs reach GPU memory (GPUDirect), taken as yes")
        if len(gpus) > 1:
            self._note(server, "the file does not say whether GPUs reach each other over PCIe (P2P), taken as yes")
        return gpus

    def _below(self, parent: Element, above: _Place, cpu: _Place) -> Iterator[_Place]:
        """Devices below an element, from top to bottom; two-level switches are flattened."""
        for nic in parent.all("nic"):
            if above.kind != _NIC:
                yield _Place(nic, _NIC, cpu.server, cpu, above)
        for pci in parent.all("pci"):
            kind = _kind(pci)
            if kind == _SWITCH and above.kind == _SWITCH and guesses.same_switch(pci, above.element):
                yield from self._below(pci, above, cpu)
            elif kind:
                place = _Place(pci, kind, cpu.server, cpu, above)
                key = (cpu.server, guesses.bus_id(pci.get("busid")))
                if key in self.places:
                    raise pci.error(
                        f"busid {pci.get('busid')} is there twice, first at {self.places[key].element.place}"
                    )
                self.places[key] = place
                yield place
                if kind == _SWITCH:
                    yield from self._below(pci, place, cpu)

    def _add_devices(self, places: list[_Place], prefix: str) -> None:
        for i, place in enumerate(places):
            name, rate = f"{prefix}{_PREFIX[place.kind]}{i}", 0.0
            model = self._model(place, name) if place.kind == _GPU else ""
            if place.kind == _NIC:
                rate = self._port_rate(place, name)
            place.id = self.topology.add_device(name, place.kind, place.server, model, rate)

    def _model(self, place: _Place, name: str) -> str:
        pci, gpu = place.element, next(place.element.all("gpu"), None)
        if gpu is None:
            self._note(name, "listed without a <gpu> element: such a file says nothing of NVLinks, so there are none")
            gpu = Element("gpu", {}, pci.place)
        sm = gpu.number("sm", 0, 0, 10_000)
        model, certain = guesses.gpu_model(pci, sm, bool(gpu.get("gcn")), any(_link_elements(gpu)))
        if not model:
            self._note(name, "model of the GPU not known from the file")
        elif not certain:
            self._note(name, f"model of the GPU taken as {model}, from sm {sm} with NVLink")
        return model

    def _port_rate(self, place: _Place, name: str) -> float:
        """Summed rate [bytes/s] of a NIC's ports, 0 where one is not stated."""
        rates = []
        for net in _nets(place):
            speed = net.number("speed", 0, -1, 10**12)
            unit = "Mbps"
            if speed > guesses.MAX_NET_SPEED:
                self._note(name, f"speed {speed} is beyond any port in Mb/s, taken as kb/s")
                unit = "kbps"
            rates.append(RATE.parse(f"{speed}{unit}") if speed > 0 else 0.0)
        if not rates or not all(rates):
            self._note(name, "port speed not stated: behind a fabric it needs a link_rate")
            return 0.0
        return sum(rates)

    # -- PCIe ---------------------------------------------------------------------------------------------

    def _plug_in(self, place: _Place) -> None:
        below = [pci for pci in _descendants(place.element) if _kind(pci) in (_GPU, _NIC)]
        if place.element.tag == "nic":
            rate, assumed = LINKS["pcie3_x16"].rate, "not on a PCI device, taken as behind PCIe 3 x16"
        else:
            rate, assumed = guesses.upstream_rate(place.element, below)
        if assumed:
            self._note(place, assumed)
        if self.topology.devices[place.id].port_rate > rate:
            self._note(place, "ports are faster than its PCIe link, which limits it")
        connect_pcie(self.topology, place.id, place.above.id, rate)

    def _add_pcilinks(self, place: _Place) -> None:
        """Links between sibling switches, each listed by both of them or by one."""
        for element in place.element.all("pcilink"):
            other = self.places.get((place.server, guesses.bus_id(element.get("target"))))
            if other is None or other.id == place.id:
                self._note(place, f"pcilink to {element.get('target')} ignored, as no other device has that bus id")
            elif not any({link.source, link.destination} == {place.id, other.id} for link in self.topology.links):
                rate = max(guesses.upstream_rate(p.element, [])[0] for p in (place, other))
                self.topology.connect(place.id, other.id, rate, LINKS["pcie4_x16"].latency, "pcie")
                self._note(place, "rate of the link between PCIe switches not stated, taken as that of their uplinks")

    def _add_c2c(self, gpu: _Place) -> None:
        for element in (c2c for inner in gpu.element.all("gpu") for c2c in inner.all("c2c")):
            rate = element.number("bw", 0, 1, 10**7) * element.number("count", 1, 1, 1000)  # [MB/s]
            self.topology.connect(gpu.id, gpu.cpu.id, RATE.parse(f"{rate}MB/s"), LINKS["c2c"].latency, "pcie")

    # -- NVLink -------------------------------------------------------------------------------------------

    def _add_nvlinks(self, gpus: list[_Place]) -> None:
        pairs: dict[tuple[int, int], float] = {}
        for gpu in gpus:
            for element in (link for inner in gpu.element.all("gpu") for link in _link_elements(inner)):
                target = self._nvlink_target(gpu, element)
                if target is not None:
                    pairs[gpu.id, target] = pairs.get((gpu.id, target), 0.0) + self._nvlink_rate(gpu, element)
        gpu_ids = {gpu.id: gpu for gpu in gpus}
        for (a, b), rate in pairs.items():
            back = pairs.get((b, a))
            if b in gpu_ids and back != rate:
                self._note(gpu_ids[a], "NVLinks listed differently by their two ends, taken as the larger number")
            if back is None or a < b:
                self.topology.connect(a, b, max(rate, back or 0.0), LINKS["nvlink4"].latency, "nvlink")

    def _nvlink_target(self, gpu: _Place, link: Element) -> int | None:
        """Device id of the other end; None where that is not in the file."""
        bus, tclass = guesses.bus_id(link.get("target")), link.get("tclass")
        other = self.places.get((gpu.server, bus))
        if other is gpu:
            self._note(gpu, "NVLinks to itself ignored")
        elif other is not None and other.kind == _GPU:
            return other.id
        elif tclass == _CPU_CLASS:
            return gpu.cpu.id
        elif tclass.startswith("0x0680") or bus == _HIDDEN_NVSWITCH:
            return self._nvswitch(gpu)
        else:
            self._note(gpu, "NVLinks to GPUs that are not in the file ignored")
        return None

    def _nvswitch(self, gpu: _Place) -> int:
        """The one NVSwitch device; it belongs to no server where the file has several."""
        found = self.topology.find("nvswitch")
        if found:
            return found[0]
        self.topology.assumptions.append(MERGED)
        return self.topology.add_device("nvswitch0", "nvswitch", gpu.server if len(self.topology.servers) == 1 else "")

    def _nvlink_rate(self, gpu: _Place, link: Element) -> float:
        inner = next(gpu.element.all("gpu"))
        kind, certain = guesses.nvlink(inner.number("sm", 0, 0, 10_000), inner.get("gcn"))
        if not certain:
            self._note(gpu, f"generation of its NVLinks not known, taken as {RATE.format(kind.rate)} each")
        return kind.rate * link.number("count", 1, 1, 1000)

    # -- assumptions --------------------------------------------------------------------------------------

    def _note(self, who: _Place | str, text: str) -> None:
        name = who if isinstance(who, str) else self.topology.devices[who.id].name
        names = self.notes.setdefault(text, [])
        if name not in names:
            names.append(name)

    def _sentence(self, text: str, names: list[str]) -> str:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more}: {text}."


def _kind(pci: Element) -> str | None:
    """Device kind of a pci element; None where it is of no interest. Raises InputError where it cannot be told."""
    pci_class = pci.get("class").lower()
    if any(pci.all("gpu")):
        return _GPU
    if pci_class.startswith("0x0604") or any(pci.all("pci")):
        return _SWITCH
    if any(pci.all("nic")) or pci_class.startswith("0x02"):
        return _NIC
    if pci_class.startswith(("0x03", "0x12")):
        return _GPU
    if not pci_class:
        raise pci.error(
            f"{pci.get('busid')} has no class, <gpu> or <nic>, so it cannot be told what it is; NCCL looks that up on "
            "the machine. Import what NCCL_TOPO_DUMP_FILE writes there"
        )
    return None


def _device_number(place: _Place) -> int:
    gpu = next(place.element.all("gpu"), None)
    return 0 if gpu is None else gpu.number("dev", 0, 0, 10_000)


def _gpudirect(gpus: list[_Place], nics: list[_Place]) -> bool:
    """GPUDirect RDMA works where all GPUs and some NIC have it; files that do not say are taken to."""
    able = [net.get("gdr") != "0" for nic in nics for net in _nets(nic)]
    return all(gpu.get("gdr") != "0" for place in gpus for gpu in place.element.all("gpu")) and (any(able) or not able)


def _nets(nic: _Place) -> list[Element]:
    holders = [nic.element] if nic.element.tag == "nic" else nic.element.all("nic")
    return [net for holder in holders for net in holder.all("net")]


def _link_elements(gpu: Element) -> Iterator[Element]:
    yield from gpu.all("nvlink")
    yield from gpu.all("xgmi")


def _descendants(pci: Element) -> Iterator[Element]:
    for child in pci.all("pci"):
        yield child
        yield from _descendants(child)
