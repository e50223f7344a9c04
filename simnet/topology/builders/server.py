"""What all servers share: sockets with memory, a PCIe tree of GPUs and NICs, the parameters of both, and presets."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, get_type_hints

from pydantic import Field, NonNegativeInt, PositiveInt, create_model

from simnet.hardware import GPUS, HOSTS, LINKS, NICS
from simnet.hardware.links import PCIE_ROOT_LATENCY
from simnet.params import Params, row_name
from simnet.topology.topology import Topology
from simnet.units import Rate

GpuModel = row_name(GPUS)
HostModel = row_name(HOSTS)
PcieKind = row_name({name: link for name, link in LINKS.items() if name.startswith("pcie")})


class ServerParams(Params):
    """What can be said of any server."""

    name: ClassVar[str]
    source: ClassVar[str]
    """Where the numbers of the preset come from; tags as in `simnet.hardware.sources`."""
    assumption: ClassVar[str] = ""

    gpus: PositiveInt = Field(8, description="number of GPUs")
    gpu: GpuModel = Field("h100_sxm", description="model of the GPUs")
    gpus_per_switch: NonNegativeInt = Field(
        2, description="GPUs below one PCIe switch; 0: GPUs and NICs sit on the root ports of the sockets"
    )
    sockets: PositiveInt = Field(2, le=64, description="host processors, each with its memory; any two are joined")
    host: HostModel = Field("skylake", description="model of the host processors")
    memory_rate: Rate | None = Field(None, description="of each socket's memory, each way; default that of the host")
    socket_rate: Rate | None = Field(None, description="of the link between two sockets; default that of the host")
    pcie: PcieKind = Field("pcie4_x16", description="of all PCIe links")
    pcie_rate: Rate | None = Field(None, description="of a PCIe link, each way; default that of `pcie`")
    gpu_rate: Rate | None = Field(None, description="of the PCIe link of each GPU, where it achieves less")
    nics: NonNegativeInt = Field(1, description="number of NICs, spread evenly over the PCIe switches")
    nic_rate: Rate = Field(NICS["hdr"].rate, description="of the port of each NIC")
    p2p: bool = Field(True, description="GPUs reach each other over PCIe without staging in host memory")
    gpudirect: bool = Field(True, description="NICs reach the memory of GPUs without staging in host memory")
    copy_rate: Rate | None = Field(
        None, description="the most that one copy from GPU to GPU over PCIe reaches; default no limit"
    )

    @property
    def ports(self) -> int:
        """What the server plugs into a fabric."""
        return self.nics

    def build(self) -> Topology:
        """The server as a topology."""
        topology = _pcie_tree(self.name, self)
        self.add_nvlinks(topology)
        topology.assumptions += [self.assumption] if self.assumption else []
        return topology

    def add_nvlinks(self, topology: Topology) -> None:
        """Join the GPUs, where they have NVLink."""


@dataclass(frozen=True)
class Preset:
    """A machine: a sentence about it, where its numbers come from, and what differs from its kind of server.

    assumption: what a user of this machine should know of how it is built here.
    """

    sentence: str
    source: str
    defaults: dict[str, Any]
    assumption: str = ""

    def row(self, name: str, kind: type[ServerParams]) -> type[ServerParams]:
        """The preset as a class of its own, as tables have them; name: its key there."""
        types = get_type_hints(kind, include_extras=True)
        fields = {key: (types[key], value) for key, value in self.defaults.items()}
        title = "".join(part.capitalize() for part in name.split("_"))
        made = create_model(title, __base__=kind, __module__=kind.__module__, __doc__=self.sentence, **fields)
        made.name, made.source, made.assumption = name, self.source, self.assumption
        return made


def rows(kind: type[ServerParams], presets: dict[str, Preset]) -> dict[str, type[ServerParams]]:
    """Presets of one kind of server as rows of a table."""
    return {name: preset.row(name, kind) for name, preset in presets.items()}


def _pcie_tree(name: str, params: ServerParams) -> Topology:
    """One server with devices gpu0.., cpu0.., memory0.., pcie0.., nic0.., without any NVLink."""
    topology = Topology(name)
    server = topology.add_server("server", params.p2p, params.gpudirect, params.copy_rate or math.inf)
    gpus = [topology.add_device(f"gpu{i}", "gpu", server, params.gpu) for i in range(params.gpus)]
    host = HOSTS[params.host]
    cpus = add_sockets(
        topology, server, [params.host] * params.sockets, params.memory_rate, params.socket_rate or host.socket_rate
    )
    rate = params.pcie_rate or LINKS[params.pcie].rate
    hubs = _pcie_switches(topology, server, cpus, params, rate) or cpus
    for i, gpu in enumerate(gpus):
        above = i // params.gpus_per_switch if params.gpus_per_switch else i * len(hubs) // len(gpus)
        connect_pcie(topology, gpu, hubs[above], params.gpu_rate or rate)
    for i in range(params.nics):
        nic = topology.add_device(f"nic{i}", "nic", server, port_rate=params.nic_rate)
        connect_pcie(topology, nic, hubs[i * len(hubs) // params.nics], rate)
    return topology


def add_sockets(
    topology: Topology,
    server: str,
    hosts: list[str],
    memory_rate: float | None = None,
    socket_rate: float | None = None,
    prefix: str = "",
) -> list[int]:
    """Add cpu0, memory0, cpu1, memory1, ... with a link between any two sockets; returns the ids of the CPUs.

    hosts: a row of HOSTS per socket; memory_rate and socket_rate [bytes/s] replace their rates.
    """
    cpus = []
    for i, name in enumerate(hosts):
        host = HOSTS[name]
        cpu = topology.add_device(f"{prefix}cpu{i}", "cpu", server)
        memory = topology.add_device(f"{prefix}memory{i}", "memory", server)
        topology.connect(cpu, memory, memory_rate or host.memory_rate, host.memory_latency, "memory")
        for j, other in enumerate(cpus):
            slower = min(host.socket_rate, HOSTS[hosts[j]].socket_rate)
            topology.connect(other, cpu, socket_rate or slower, host.socket_latency, "memory")
        cpus.append(cpu)
    return cpus


def connect_pcie(topology: Topology, device: int, above: int, rate: float) -> None:
    """Join a device to the PCIe switch or root port `above` it; rate [bytes/s]."""
    root = topology.devices[above].kind == "cpu"
    topology.connect(device, above, rate, PCIE_ROOT_LATENCY if root else LINKS["pcie4_x16"].latency, "pcie")


def _pcie_switches(topology, server: str, cpus: list[int], params: ServerParams, rate: float) -> list[int]:
    if not params.gpus_per_switch:
        return []
    count = -(-params.gpus // params.gpus_per_switch)
    switches = [topology.add_device(f"pcie{i}", "pcie_switch", server) for i in range(count)]
    for i, switch in enumerate(switches):
        connect_pcie(topology, switch, cpus[i * len(cpus) // count], rate)
    return switches
