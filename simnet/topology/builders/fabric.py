"""What all fabrics share: N copies of a node, plugged port by port into switches."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from simnet.errors import InputError
from simnet.hardware import NICS
from simnet.hardware.network import FABRIC_LINK_LATENCY
from simnet.params import Params, inside, tagged
from simnet.topology.builders.server import GpuModel
from simnet.topology.builders.servers import SERVERS
from simnet.topology.file import TopologyFile
from simnet.topology.topology import Topology
from simnet.units import Rate, Size, Time

BARE_GPU_RATE = NICS["ndr"].rate
"""Rate [bytes/s] of the link of a GPU that sits straight on the fabric, unless `link_rate` says otherwise."""


class BareGpu(Params):
    """A GPU plugged straight into the fabric, without server and NIC (400 Gb/s unless link_rate says otherwise)."""

    gpu: GpuModel = Field("h100_sxm", description="model of the GPU")

    @property
    def ports(self) -> int:
        """What the GPU plugs into the fabric."""
        return 1

    def build(self) -> Topology:
        """The GPU as a topology of one device."""
        topology = Topology("gpu")
        topology.add_device("gpu", "gpu", model=self.gpu)
        return topology


NODES = {"gpu": BareGpu, **SERVERS}
"""What the `node` of a fabric may be, besides a file."""

Node = tagged(NODES, TopologyFile)


@dataclass(frozen=True)
class NodePorts:
    """A node and what it plugs into the fabric: device ids and rates [bytes/s], in order."""

    topology: Topology
    devices: list[int]
    rates: list[float]

    @property
    def count(self) -> int:
        """Ports of one node."""
        return len(self.devices)

    @property
    def rate(self) -> float:
        """Rate [bytes/s] of the fastest port, which links between switches run at."""
        return max(self.rates)


LeafPorts = Annotated[PositiveInt, Field(description="ports for hosts on every leaf")]
Oversubscription = Annotated[
    float,
    Field(
        gt=0,
        description="rate of a leaf's host ports over that of its cables to the spines, which sets the rate of a cable",
    ),
]


class Fabric(Params):
    """What can be said of any fabric."""

    node: Node = Field({"kind": "gpu"}, validate_default=True, description="what is plugged into the fabric")
    nodes: PositiveInt | None = Field(None, description="how many of them; default as many as fit")
    link_rate: Rate | None = Field(None, description="of a fabric link; default that of the NICs (bare GPUs: 400Gbps)")
    link_latency: Time = Field(FABRIC_LINK_LATENCY, description="of one link, with the switch or NIC it leads to")
    link_kind: Literal["ib", "ethernet", "efa"] = Field("ib", description="technology of the links")
    buffer: Size = Field(0.0, description="behind every port of a switch; 0: not stated")

    def fits(self, ports: int) -> int:
        """How many nodes of that many ports there is room for."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _nodes_fit(self):
        if not isinstance(self.node, TopologyFile) and (problem := self._misfit(self.node.ports)):
            raise inside(*problem)
        return self

    def _misfit(self, ports: int) -> tuple[tuple[str], str] | None:
        """The key that is wrong with nodes of that many ports, and what is wrong."""
        if not ports:
            return ("node",), "has no NIC to plug into the fabric"
        fits = self.fits(ports)
        if fits < 1:
            return ("node",), f"has {ports} ports, for which this fabric has no room"
        if self.nodes is not None and self.nodes > fits:
            each = f" with {ports} ports each" if ports > 1 else ""
            return ("nodes",), f"{self.nodes} do not fit; there is room for {fits}{each}"
        return None

    def node_ports(self) -> NodePorts:
        """One node, with what it plugs in; InputError where it does not fit or no rate is known."""
        node = self.node.build()
        if node.find("switch"):
            raise InputError(f"node: {node.name} has switches of its own, so it cannot hang behind a fabric")
        bare = len(node.devices) == 1 and bool(node.gpus)
        devices = node.gpus if bare else node.find("nic")
        if problem := self._misfit(len(devices)):
            (key,), sentence = problem
            raise InputError(f"{key}: {sentence}")
        known = [BARE_GPU_RATE if bare else node.devices[d].port_rate for d in devices]
        rates = [self.link_rate or rate for rate in known]
        if not all(rates):
            missing = node.devices[devices[rates.index(0)]].name
            raise InputError(f"link_rate: {node.name} does not say how fast its {missing} is; give a link_rate")
        return NodePorts(node, devices, rates)

    def place(self, topology: Topology, node: NodePorts) -> list[list[int]]:
        """Put the copies of the node into the topology; returns the device ids to plug in, node by node."""
        count = self.nodes or self.fits(node.count)
        topology.assumptions += node.topology.assumptions
        if not node.topology.servers and len(node.topology.devices) == 1:
            (gpu,) = node.topology.devices
            return [[topology.add_device(f"gpu{i}", "gpu", model=gpu.model)] for i in range(count)]
        copies = [place_copy(topology, node.topology, f"node{i}") for i in range(count)]
        return [[ids[d] for d in node.devices] for ids in copies]

    def plug_in_order(self, topology: Topology, node: NodePorts, switches: Iterable[int]) -> None:
        """Place the nodes and plug port after port of node after node into `switches` (one entry per host port)."""
        free = iter(switches)
        for devices in self.place(topology, node):
            for device, rate in zip(devices, node.rates):
                self.plug(topology, device, next(free), rate)

    def plug(self, topology: Topology, device: int, switch: int, rate: float) -> None:
        """Join a NIC or bare GPU and a switch by a cable of `rate` [bytes/s]; the buffer is the switch's."""
        topology.add_link(device, switch, rate, self.link_latency, self.link_kind)
        topology.add_link(switch, device, rate, self.link_latency, self.link_kind, self.buffer)

    def wire(self, topology: Topology, a: int, b: int, rate: float) -> None:
        """Join two switches by a cable of `rate` [bytes/s]."""
        topology.connect(a, b, rate, self.link_latency, self.link_kind, self.buffer)


def add_switches(topology: Topology, names: Iterable[str]) -> list[int]:
    """Add switches of these names; returns their ids."""
    return [topology.add_device(name, "switch") for name in names]


def place_copy(topology: Topology, node: Topology, prefix: str) -> list[int]:
    """Copy devices, links and servers of `node` under 'prefix/'; returns the new id of each of its devices.

    A node of one server becomes server `prefix`; of several, 'prefix/server'.
    """
    server_names = {name: prefix if len(node.servers) == 1 else f"{prefix}/{name}" for name in node.servers}
    for name, server in node.servers.items():
        topology.add_server(server_names[name], server.p2p, server.gpudirect, server.copy_rate)
    ids = [
        topology.add_device(f"{prefix}/{d.name}", d.kind, server_names.get(d.server, ""), d.model, d.port_rate)
        for d in node.devices
    ]
    for link in node.links:
        topology.add_link(ids[link.source], ids[link.destination], link.rate, link.latency, link.kind, link.buffer)
    return ids
