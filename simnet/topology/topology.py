"""Devices and directed links of a cluster, and the graph questions that others ask of them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from simnet.errors import InputError
from simnet.units import RATE

DEVICE_KINDS = ("gpu", "nvswitch", "pcie_switch", "cpu", "memory", "nic", "switch", "storage")
LINK_KINDS = ("nvlink", "pcie", "ib", "ethernet", "efa", "memory")
MOST_DEVICES, MOST_LINKS = 1_000_000, 4_000_000  # more is a slip of the keyboard, and would fill the memory
MOST_RATE = 1e21  # [bytes/s]; what is above is a slip, too, and sums of it may be beyond any float
FABRIC_KINDS = ("ib", "ethernet", "efa")  # what joins servers; everything else is inside one


@dataclass(frozen=True)
class Device:
    """A node of the topology. `server` names the box it sits in ('' for fabric switches);
    `model` is a row of `simnet.hardware` for GPUs ('' elsewhere). port_rate [bytes/s]: sum of the ports with which
    a NIC can be plugged into a fabric, 0 where not stated."""

    name: str
    kind: str
    server: str = ""
    model: str = ""
    port_rate: float = 0.0


@dataclass(frozen=True)
class Link:
    """One direction of a cable or bus, with the egress queue at its head. Port i belongs to link i.

    source, destination: device ids. rate [bytes/s], latency [s], buffer [bytes, 0: not stated].
    """

    source: int
    destination: int
    rate: float
    latency: float
    kind: str
    buffer: float = 0.0


@dataclass(frozen=True)
class Server:
    """What the devices of one box may do among themselves.

    p2p: GPUs reach each other over PCIe without staging in host memory (NVLink never needs staging).
    gpudirect: a NIC reads and writes GPU memory without staging in host memory. copy_rate [bytes/s]: the most that one
    copy from GPU to GPU over PCIe reaches, however fast the links are.
    """

    name: str
    p2p: bool = True
    gpudirect: bool = True
    copy_rate: float = math.inf


class Topology:
    """Devices (id = position), links (id = position) and servers, filled by a builder or importer.

    `assumptions` are sentences about what the source of the topology did not say and what was taken instead.
    """

    def __init__(self, name: str):
        self.name = name
        self.devices: list[Device] = []
        self.links: list[Link] = []
        self.servers: dict[str, Server] = {}
        self.assumptions: list[str] = []
        self._ids: dict[str, int] = {}

    # -- filling ------------------------------------------------------------------------------------------

    def add_server(self, name: str, p2p: bool = True, gpudirect: bool = True, copy_rate: float = math.inf) -> str:
        """Declare a box before its devices; returns its name. See `Server`; copy_rate [bytes/s]."""
        if name in self.servers:
            raise InputError(f"topology {self.name}: server '{name}' is there twice")
        self.servers[name] = Server(name, p2p, gpudirect, copy_rate)
        return name

    def add_device(self, name: str, kind: str, server: str = "", model: str = "", port_rate: float = 0.0) -> int:
        """Add a device and return its id. port_rate [bytes/s] of a NIC."""
        if kind not in DEVICE_KINDS:
            raise InputError(f"device '{name}': unknown kind '{kind}'; allowed: {', '.join(DEVICE_KINDS)}")
        if name in self._ids:
            raise InputError(f"topology {self.name}: device '{name}' is there twice")
        if server and server not in self.servers:
            raise InputError(f"device '{name}': unknown server '{server}'")
        if len(self.devices) >= MOST_DEVICES:
            raise InputError(f"{self.name}: more than {MOST_DEVICES:,} devices, the most that is simulated")
        self._ids[name] = len(self.devices)
        self.devices.append(Device(name, kind, server, model, float(port_rate)))
        return self._ids[name]

    def add_link(
        self, source: int, destination: int, rate: float, latency: float, kind: str, buffer: float = 0.0
    ) -> int:
        """Add one directed link and return its id. rate [bytes/s], latency [s], buffer [bytes]."""
        if source == destination:
            raise InputError(f"link {self.devices[source].name} -> itself: a self-loop carries nothing")
        if kind not in LINK_KINDS:
            raise InputError(f"{self._label(source, destination)}: unknown kind '{kind}'; allowed: {LINK_KINDS}")
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(f"{self._label(source, destination)}: rate must be finite and above 0, got {rate}")
        if rate > MOST_RATE:
            raise InputError(f"{self._label(source, destination)}: {RATE.format(rate)} is faster than any link")
        if not (math.isfinite(latency) and latency >= 0):
            raise InputError(f"{self._label(source, destination)}: latency must be finite and >= 0, got {latency}")
        if len(self.links) >= MOST_LINKS:
            raise InputError(f"{self.name}: more than {MOST_LINKS:,} links, the most that is simulated")
        self.links.append(Link(source, destination, float(rate), float(latency), kind, float(buffer)))
        return len(self.links) - 1

    def connect(self, a: int, b: int, rate: float, latency: float, kind: str, buffer: float = 0.0) -> None:
        """Add a cable: two directed links of the same rate [bytes/s], latency [s], kind and buffer [bytes]."""
        self.add_link(a, b, rate, latency, kind, buffer)
        self.add_link(b, a, rate, latency, kind, buffer)

    # -- asking -------------------------------------------------------------------------------------------

    def id_of(self, name: str) -> int:
        """Device id of a name; KeyError if there is none."""
        return self._ids[name]

    def names(self, devices: Iterable[int]) -> list[str]:
        """Names of some devices, by their ids."""
        return [self.devices[device].name for device in devices]

    def find(self, kind: str) -> list[int]:
        """Ids of all devices of one kind, in order."""
        return [i for i, d in enumerate(self.devices) if d.kind == kind]

    @cached_property
    def gpus(self) -> list[int]:
        """Ids of all GPUs, in order; rank r of a packed placement is gpus[r]."""
        return self.find("gpu")

    @cached_property
    def graph(self) -> nx.MultiDiGraph:
        """The topology as a networkx graph: nodes are device ids, edge keys are link ids."""
        graph = nx.MultiDiGraph(name=self.name)
        for i, device in enumerate(self.devices):
            graph.add_node(i, name=device.name, kind=device.kind, server=device.server)
        for i, link in enumerate(self.links):
            graph.add_edge(link.source, link.destination, key=i, rate=link.rate, latency=link.latency, kind=link.kind)
        return nx.freeze(graph)

    @cached_property
    def rates(self) -> np.ndarray:
        """Rate of every link [bytes/s, float64[links]]."""
        return np.array([link.rate for link in self.links])

    @cached_property
    def latencies(self) -> np.ndarray:
        """Latency of every link [s, float64[links]]."""
        return np.array([link.latency for link in self.links])

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and destination of every link [both int32[links]]."""
        ends = np.array([(link.source, link.destination) for link in self.links], np.int32).reshape(-1, 2)
        return ends[:, 0].copy(), ends[:, 1].copy()

    @cached_property
    def in_fabric(self) -> np.ndarray:
        """Whether every link joins servers, rather than devices inside one [bool[links]]."""
        return np.array([link.kind in FABRIC_KINDS for link in self.links], bool)

    @cached_property
    def is_switch(self) -> np.ndarray:
        """Whether every device is a switch of the fabric [bool[devices]]."""
        return np.array([device.kind == "switch" for device in self.devices], bool)

    def link_name(self, link: int) -> str:
        """'source -> destination', with '#2' and so on for further links of the same pair."""
        return self._link_names[link]

    @cached_property
    def _link_names(self) -> list[str]:
        seen: dict[tuple[int, int], int] = {}
        names = []
        for link in self.links:
            pair = (link.source, link.destination)
            seen[pair] = seen.get(pair, 0) + 1
            name = f"{self.devices[pair[0]].name} -> {self.devices[pair[1]].name}"
            names.append(name if seen[pair] == 1 else f"{name} #{seen[pair]}")
        return names

    @cached_property
    def islands(self) -> np.ndarray:
        """Number of the connected part that each device is in [int32[devices]]; no link joins two of them."""
        part = np.zeros(len(self.devices), np.int32)
        for number, members in enumerate(nx.weakly_connected_components(self.graph)):
            part[list(members)] = number
        return part

    @cached_property
    def tiers(self) -> list[int]:
        """Tier of every device: 0 inside servers and at bare hosts, 1 for leaf switches, 2 above them, and so on."""
        tier = [0 if d.kind != "switch" else -1 for d in self.devices]
        frontier = [i for i, t in enumerate(tier) if t == 0]
        while frontier:
            reached = {n for i in frontier for n in self.graph.successors(i) if tier[n] < 0}
            for n in reached:
                tier[n] = tier[frontier[0]] + 1
            frontier = sorted(reached)
        return tier

    @cached_property
    def cuts(self) -> list[list[int]]:
        """Nested sets of devices: each GPU, each server, each leaf with what hangs below it, each pod, and so on.

        A set is a connected component of what remains when all switches above some tier are taken away. Every
        byte from inside a set to outside crosses its boundary, which bounds what a collective can do.
        """
        sets = [[g] for g in self.gpus]
        undirected = self.graph.to_undirected(as_view=True)
        for top in range(max(self.tiers, default=0)):
            kept = undirected.subgraph([i for i, t in enumerate(self.tiers) if t <= top])
            sets += [sorted(c) for c in nx.connected_components(kept)]
        distinct = dict.fromkeys(tuple(s) for s in sets if any(self.devices[i].kind == "gpu" for i in s))
        return [list(s) for s in distinct]

    def leaving(self, inside: Iterable[int]) -> list[int]:
        """Link ids that leave a set of device ids."""
        members = set(inside)
        return [i for i, k in enumerate(self.links) if k.source in members and k.destination not in members]

    def _label(self, source: int, destination: int) -> str:
        return f"link {self.devices[source].name} -> {self.devices[destination].name}"
