"""Servers whose GPUs have nothing but PCIe."""

from typing import ClassVar

from pydantic import NonNegativeInt

from simnet.hardware import NICS
from simnet.topology.builders.server import GpuModel, HostModel, PcieKind, ServerParams, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate


class PcieServer(ServerParams):
    """A server without NVLink: GPUs below PCIe switches or root ports, staging through host memory where P2P is off."""

    source: ClassVar[str] = "no machine in particular: all of it [assumed]"

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("pcie_server", self)


class Rtx4090Server(ServerParams):
    """8 RTX 4090 on the PCIe 4 root ports of two sockets; without P2P, all is staged in host memory."""

    source: ClassVar[str] = "[KALAVAI][N814]; processors [N814]; no GPUDirect [recall]"

    gpu: GpuModel = "rtx_4090"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "epyc_rome"
    p2p: bool = False
    gpudirect: bool = False

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("rtx_4090_server", self)


class Rtx5090Server(Rtx4090Server):
    """8 RTX 5090 on the PCIe 5 root ports of two sockets; without P2P, all is staged in host memory."""

    source: ClassVar[str] = "[N1639]; processors, no GPUDirect [recall]"

    gpu: GpuModel = "rtx_5090"
    host: HostModel = "epyc_genoa"
    pcie: PcieKind = "pcie5_x16"

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("rtx_5090_server", self)


class RtxPro6000Server(ServerParams):
    """8 RTX PRO 6000 on the PCIe 5 root ports of two sockets, with P2P."""

    source: ClassVar[str] = "[RTX6K][AIC]; processors [assumed]"

    gpu: GpuModel = "rtx_pro_6000"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "epyc_genoa"
    pcie: PcieKind = "pcie5_x16"

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("rtx_pro_6000_server", self)


class L40sServer(ServerParams):
    """8 L40S on the PCIe 4 root ports of two sockets, with P2P."""

    source: ClassVar[str] = "[AIC]; processors and where GPUs are plugged in [assumed]"

    gpu: GpuModel = "l40s"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "sapphire_rapids"

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("l40s_server", self)


class A10gServer(ServerParams):
    """8 A10G below two sockets, as AWS g5.48xlarge, with a 100 Gb/s NIC; all is staged in host memory."""

    source: ClassVar[str] = "[AWS-OFI]; processors, NIC, no P2P, no GPUDirect [recall]"

    gpu: GpuModel = "a10g"
    gpus_per_switch: NonNegativeInt = 0
    host: HostModel = "epyc_rome"
    nic_rate: Rate = NICS["100gbe"].rate
    p2p: bool = False
    gpudirect: bool = False

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology("a10g_server", self)
