"""Servers whose GPUs meet in NVSwitches: DGX A100, HGX H100, DGX B200."""

from pydantic import Field, NonNegativeInt

from simnet.hardware import LINKS, NICS
from simnet.topology.builders.server import GpuModel, HostModel, PcieKind, ServerParams, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate

MERGED = "All NVSwitches of a server are one device: a GPU stripes every transfer over all of them."


class NvswitchServer(ServerParams):
    """A server with NVSwitches."""

    nvlink_rate: Rate = Field(18 * LINKS["nvlink4"].rate, description="of all NVLinks of one GPU, each way")

    def _build(self, name: str, *assumptions: str) -> Topology:
        topology = server_topology(name, self)
        switch = topology.add_device("nvswitch0", "nvswitch", "server")
        for gpu in topology.gpus:
            topology.connect(gpu, switch, self.nvlink_rate, LINKS["nvlink4"].latency, "nvlink")
        topology.assumptions += [MERGED, *assumptions]
        return topology


class DgxA100(NvswitchServer):
    """DGX A100: 8 A100 at 300 GB/s into NVSwitches, 4 PCIe 4 switches with 2 GPUs and 2 HDR NICs each."""

    gpu: GpuModel = "a100_sxm_80"
    nvlink_rate: Rate = 12 * LINKS["nvlink3"].rate
    host: HostModel = "epyc_rome"
    nics: NonNegativeInt = 8

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx_a100", "The two NICs for storage are left out.")


class HgxH100(NvswitchServer):
    """HGX H100: 8 H100 at 450 GB/s into NVSwitches, each with its own NDR NIC below one PCIe 5 switch."""

    gpus_per_switch: NonNegativeInt = 1
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"
    nics: NonNegativeInt = 8
    nic_rate: Rate = NICS["ndr"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("hgx_h100")


class DgxB200(NvswitchServer):
    """DGX B200: 8 B200 at 900 GB/s into NVSwitches, each with its own 400 Gb/s NIC below one PCIe 5 switch."""

    gpu: GpuModel = "b200_sxm"
    nvlink_rate: Rate = 18 * LINKS["nvlink5"].rate
    gpus_per_switch: NonNegativeInt = 1
    host: HostModel = "sapphire_rapids"
    pcie: PcieKind = "pcie5_x16"
    nics: NonNegativeInt = 8
    nic_rate: Rate = NICS["ndr"].rate

    def build(self) -> Topology:
        """The server as a topology."""
        return self._build("dgx_b200")
