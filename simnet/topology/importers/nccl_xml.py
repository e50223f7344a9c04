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
from simnet.topology.importers.nccl_elements import (
    GPU,
    NIC,
    SWITCH,
    descendants,
    device_number,
    gpu_of,
    has_gpudirect,
    kind_of,
    links_of,
    nets_of,
)
from simnet.topology.importers.notes import Notes
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology
from simnet.units import RATE

_PREFIX = {SWITCH: "pcie", GPU: "gpu", NIC: "nic"}
_MAX_CPUS = 256  # of one host; any two are joined, so their links grow with the square
_CPU_CLASS = "0x068001"  # an NVLink into the processor, as POWER9 has; 0x068000 is an NVSwitch
_HIDDEN_NVSWITCH = guesses.bus_id("fffffff:ff:ff.0")


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
        self.notes = Notes()
        self.nvswitch: int | None = None
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
        self.topology.assumptions += self.notes.sentences()

    # -- devices ------------------------------------------------------------------------------------------

    def _add_server(self, elements: list[Element], server: str, several: bool) -> list[_Place]:
        if len(elements) > _MAX_CPUS:
            raise elements[_MAX_CPUS].error(f"more than {_MAX_CPUS} processors, which no server has")
        cpus = [_Place(element, "cpu", server) for element in elements]
        places = [place for cpu in cpus for place in self._below(cpu.element, cpu, cpu)]
        gpus = sorted((p for p in places if p.kind == GPU), key=lambda place: device_number(place.element))
        nics = [p for p in places if p.kind == NIC]
        nets = [net for nic in nics for net in nets_of(nic.element)]
        prefix = f"{server}/" if several else ""
        self.topology.add_server(server, p2p=True, gpudirect=has_gpudirect([gpu.element for gpu in gpus], nets))
        self._add_devices(gpus, prefix)
        hosts = [guesses.host(cpu.element) for cpu in cpus]
        for cpu, id, host in zip(cpus, add_sockets(self.topology, server, hosts, prefix=prefix), hosts):
            cpu.id = id
            self._note(cpu, f"memory and links between sockets are not in the file, taken as those of {host}")
        self._add_devices([p for p in places if p.kind == SWITCH], prefix)
        self._add_devices(nics, prefix)
        for place in places:
            self._plug_in(place)
        self._add_pcilinks([p for p in places if p.kind == SWITCH])
        if nics and not any(net.get("gdr") for net in nets):
            self._note(server, "the file does not say whether NICs reach GPU memory (GPUDirect), taken as yes")
        if len(gpus) > 1:
            self._note(server, "the file does not say whether GPUs reach each other over PCIe (P2P), taken as yes")
        return gpus

    def _below(self, parent: Element, above: _Place, cpu: _Place) -> Iterator[_Place]:
        """Devices below an element, from top to bottom; two-level switches are flattened."""
        for nic in parent.all("nic"):
            if above.kind != NIC:
                yield _Place(nic, NIC, cpu.server, cpu, above)
        for pci in parent.all("pci"):
            kind = kind_of(pci)
            if kind == SWITCH and above.kind == SWITCH and guesses.same_switch(pci, above.element):
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
                if kind == SWITCH:
                    yield from self._below(pci, place, cpu)

    def _add_devices(self, places: list[_Place], prefix: str) -> None:
        for i, place in enumerate(places):
            name, rate = f"{prefix}{_PREFIX[place.kind]}{i}", 0.0
            model = self._model(place, name) if place.kind == GPU else ""
            if place.kind == NIC:
                rate = self._port_rate(place, name)
            place.id = self.topology.add_device(name, place.kind, place.server, model, rate)

    def _model(self, place: _Place, name: str) -> str:
        pci, gpu = place.element, gpu_of(place.element)
        if not any(pci.all("gpu")):
            self._note(name, "listed without a <gpu> element: such a file says nothing of NVLinks, so there are none")
        sm = gpu.number("sm", 0, 0, 10_000)
        model, certain = guesses.gpu_model(pci, sm, bool(gpu.get("gcn")), any(links_of(gpu)))
        if not model:
            self._note(name, "model of the GPU not known from the file")
        elif not certain:
            self._note(name, f"model of the GPU taken as {model}, from sm {sm} with NVLink")
        return model

    def _port_rate(self, place: _Place, name: str) -> float:
        """Summed rate [bytes/s] of a NIC's ports, 0 where one is not stated."""
        rates = []
        for net in nets_of(place.element):
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
        below = [pci for pci in descendants(place.element) if kind_of(pci) in (GPU, NIC)]
        if place.element.tag == "nic":
            rate, assumed = LINKS["pcie3_x16"].rate, "not on a PCI device, taken as behind PCIe 3 x16"
        else:
            rate, assumed = guesses.upstream_rate(place.element, below)
        if assumed:
            self._note(place, assumed)
        if self.topology.devices[place.id].port_rate > rate:
            self._note(place, "ports are faster than its PCIe link, which limits it")
        connect_pcie(self.topology, place.id, place.above.id, rate)

    def _add_pcilinks(self, switches: list[_Place]) -> None:
        """Links between sibling switches, each listed by both of them or by one."""
        joined = set()
        for place in switches:
            for element in place.element.all("pcilink"):
                other = self.places.get((place.server, guesses.bus_id(element.get("target"))))
                if other is None or other is place:
                    self._note(place, f"pcilink to {element.get('target')} ignored, as no other device has that bus id")
                elif frozenset((place.id, other.id)) not in joined:
                    joined.add(frozenset((place.id, other.id)))
                    rate = max(guesses.upstream_rate(p.element, [])[0] for p in (place, other))
                    self.topology.connect(place.id, other.id, rate, LINKS["pcie4_x16"].latency, "pcie")
                    self._note(place, "rate of the link between PCIe switches not stated, taken as that of its uplink")

    def _add_c2c(self, gpu: _Place) -> None:
        for element in gpu_of(gpu.element).all("c2c"):
            rate = element.number("bw", 0, 1, 10**7) * element.number("count", 1, 1, 1000)  # [MB/s]
            self.topology.connect(gpu.id, gpu.cpu.id, RATE.parse(f"{rate}MB/s"), LINKS["c2c"].latency, "pcie")

    # -- NVLink -------------------------------------------------------------------------------------------

    def _add_nvlinks(self, gpus: list[_Place]) -> None:
        pairs: dict[tuple[int, int], float] = {}
        for gpu in gpus:
            for element in links_of(gpu_of(gpu.element)):
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
        elif other is not None and other.kind == GPU:
            return other.id
        elif tclass == _CPU_CLASS:
            return gpu.cpu.id
        elif tclass.startswith("0x0680") or bus == _HIDDEN_NVSWITCH:
            return self._nvswitch_of(gpu)
        else:
            self._note(gpu, "NVLinks to GPUs that are not in the file ignored")
        return None

    def _nvswitch_of(self, gpu: _Place) -> int:
        """The one NVSwitch device; it belongs to no server where the file has several."""
        if self.nvswitch is None:
            server = gpu.server if len(self.topology.servers) == 1 else ""
            self.nvswitch = self.topology.add_device("nvswitch0", "nvswitch", server)
            self.topology.assumptions.append(MERGED)
        return self.nvswitch

    def _nvlink_rate(self, gpu: _Place, link: Element) -> float:
        inner = gpu_of(gpu.element)
        kind, certain = guesses.nvlink(inner.number("sm", 0, 0, 10_000), inner.get("gcn"))
        if not certain:
            self._note(gpu, f"generation of its NVLinks not known, taken as {RATE.format(kind.rate)} each")
        return kind.rate * link.number("count", 1, 1, 1000)

    # -- assumptions --------------------------------------------------------------------------------------

    def _note(self, who: _Place | str, text: str) -> None:
        name = who if isinstance(who, str) else self.topology.devices[who.id].name
        self.notes.add(name, text)
