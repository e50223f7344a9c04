"""Servers whose GPUs meet in NVSwitches: DGX-2, DGX A100, HGX H100 and its kin, DGX B200 and B300."""

from typing import ClassVar

from pydantic import NonNegativeInt, PositiveInt

from simnet.hardware import NICS
from simnet.topology.builders.nvlink_server import NvlinkServer
from simnet.topology.builders.server import GpuModel, HostModel, PcieKind, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate

MERGED = "All NVSwitches of a server are one device: a GPU stripes every transfer over all of them."


class NvswitchServer(NvlinkServer):
    """A server with NVSwitches."""

    def _build(self, name: str, *assumptions: str) -> Topology:
        topology = server_topology(name, self)
        switch = topology.add_device("nvswitch0", "nvswitch", "server")
        for gpu in topology.gpus:
            topology.connect(gpu, switch, self.nvlinks_rate, self.nvlink_latency, "nvlink")
        topology.assumptions += [MERGED, *assumptions]
        return topology


class Dgx2(NvswitchServer):
    """DGX-2: 16 V100 at 150 GB/s into NVSwitches, 8 PCIe 3 switches with 2 GPUs and an EDR NIC each."""

    source: ClassVar[str] = "[HWLOC]; rate of the NICs [recall]"

    gpus: PositiveInt = 16
    gpu: GpuModel = "v100_sxm2"
    pcie: PcieKind = "pcie3_x16"
    nics: NonNegativeInt = 8
    nic_rate: Rate = NICS["edr"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx2")


class DgxA100(NvswitchServer):
    """DGX A100: 8 A100 at 300 GB/s into NVSwitches, 4 PCIe 4 switches with 2 GPUs and 2 HDR NICs each."""

    source: ClassVar[str] = "[DGXA100NOTE][MLE-NET]"

    gpu: GpuModel = "a100_sxm_80"
    host: HostModel = "epyc_rome"
    nics: NonNegativeInt = 8

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx_a100", "The two NICs for storage are left out.")


class HgxH100(NvswitchServer):
    """HGX H100: 8 H100 at 450 GB/s into NVSwitches, each with its own NDR NIC below one PCIe 5 switch."""

    source: ClassVar[str] = "[OCI-XML][MLE-NET]"

    gpus_per_switch: NonNegativeInt = 1
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"
    nics: NonNegativeInt = 8
    nic_rate: Rate = NICS["ndr"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("hgx_h100")


class HgxH200(HgxH100):
    """HGX H200: as HGX H100, with 8 H200."""

    gpu: GpuModel = "h200_sxm"

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("hgx_h200")


class HgxH20(HgxH100):
    """HGX H20: as HGX H100, with 8 H20, each with a 400 Gb/s RoCE NIC."""

    source: ClassVar[str] = "[NT321]; processors and PCIe [recall]"

    gpu: GpuModel = "h20"
    nic_rate: Rate = NICS["400gbe"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("hgx_h20")


class DgxB200(HgxH100):
    """DGX B200: 8 B200 at 900 GB/s into NVSwitches, each with its own 400 Gb/s NIC below one PCIe 5 switch."""

    source: ClassVar[str] = "[MLE-NET][AIC]; processors [assumed]"

    gpu: GpuModel = "b200_sxm"

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx_b200")


class DgxB300(HgxH100):
    """DGX B300: 8 B300 at 900 GB/s into NVSwitches, each with its own 800 Gb/s NIC below one PCIe 6 switch."""

    source: ClassVar[str] = "[MLE-NET]; PCIe [recall]; processors [assumed]"

    gpu: GpuModel = "b300_sxm"
    pcie: PcieKind = "pcie6_x16"
    nic_rate: Rate = NICS["800gbe"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx_b300")
