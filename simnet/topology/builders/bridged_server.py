"""Servers whose GPUs are joined by NVLink in groups, each with each: pairs, fours, full meshes."""

from itertools import combinations
from typing import Annotated, ClassVar

from pydantic import Field, NonNegativeInt

from simnet.hardware import NICS
from simnet.topology.builders.nvlink_server import NvlinkServer
from simnet.topology.builders.server import GpuModel, HostModel, PcieKind, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate

GroupSize = Annotated[int, Field(ge=2, le=64)]


class BridgedServer(NvlinkServer):
    """A server with NVLink between the GPUs of a group, and PCIe between groups."""

    bridged: GroupSize = Field(
        2, description="GPUs of a group; each shares out its NVLinks evenly to the others of a full group"
    )

    def _build(self, name: str) -> Topology:
        topology = server_topology(name, self)
        for a, b in combinations(range(self.gpus), 2):
            if a // self.bridged == b // self.bridged:
                rate = self.nvlinks_rate / (self.bridged - 1)
                topology.connect(topology.gpus[a], topology.gpus[b], rate, self.nvlink_latency, "nvlink")
        return topology


class A100PcieServer(BridgedServer):
    """8 A100 PCIe in pairs with a bridge of 12 NVLinks, on the PCIe 4 root ports of two sockets."""

    source: ClassVar[str] = "[NT178]; processors [assumed]"

    gpu: GpuModel = "a100_pcie_80"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "epyc_rome"

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("a100_pcie_server")


class A40Server(BridgedServer):
    """8 A40 in pairs with a bridge of 4 NVLinks, on the PCIe 4 root ports of two sockets; without P2P across pairs."""

    source: ClassVar[str] = "[A40DOC]; processors [assumed]"

    gpu: GpuModel = "a40"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "epyc_rome"
    p2p: bool = False

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("a40_server")


class H100PcieServer(BridgedServer):
    """8 H100 PCIe in pairs with a bridge of 12 NVLinks, on the PCIe 5 root ports of two sockets."""

    source: ClassVar[str] = "[N1161]; processors [assumed]"

    gpu: GpuModel = "h100_pcie"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("h100_pcie_server")


class H200NvlServer(BridgedServer):
    """8 H200 NVL in two groups of 4 with a bridge (6 NVLinks a pair), on the PCIe 5 root ports of two sockets."""

    source: ClassVar[str] = "[H200NVL]; NVLinks of a pair [recall]; processors [assumed]"

    gpu: GpuModel = "h200_nvl"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"
    bridged: GroupSize = 4

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("h200_nvl_server")


class Rtx2080TiServer(BridgedServer):
    """8 RTX 2080 Ti in pairs with a bridge of 2 NVLinks, each below a PCIe 3 switch; without P2P across pairs."""

    source: ClassVar[str] = "[NT117][PROTEUS]; bridge, no GPUDirect [recall]"

    gpu: GpuModel = "rtx_2080_ti"
    pcie: PcieKind = "pcie3_x16"
    nic_rate: Rate = NICS["edr"].rate
    p2p: bool = False
    gpudirect: bool = False

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("rtx_2080_ti_server")


class Mi300xServer(BridgedServer):
    """8 MI300X, each joined to each by xGMI of 64 GB/s, and with its own 400 Gb/s NIC below one PCIe 5 switch."""

    source: ClassVar[str] = "[RCCL][MLE-NET]"

    gpu: GpuModel = "mi300x"
    gpus_per_switch: NonNegativeInt = 1
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"
    nics: NonNegativeInt = 8
    nic_rate: Rate = NICS["ndr"].rate
    bridged: GroupSize = 8

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("mi300x_server")
