"""Servers whose GPUs meet in NVSwitches: DGX-2, DGX A100, HGX H100 and its kin, DGX B200 and B300."""

from simnet.hardware import NICS
from simnet.topology.builders.nvlink_server import NvlinkServer
from simnet.topology.builders.server import Preset, rows
from simnet.topology.topology import Topology

MERGED = "All NVSwitches of a server are one device: a GPU stripes every transfer over all of them."


class NvswitchServer(NvlinkServer):
    """A server with NVSwitches."""

    def add_nvlinks(self, topology: Topology) -> None:
        """Join all GPUs to one device for all NVSwitches."""
        switch = topology.add_device("nvswitch0", "nvswitch", "server")
        for gpu in topology.gpus:
            topology.connect(gpu, switch, self.nvlinks_rate, self.nvlink_latency, "nvlink")
        topology.assumptions.append(MERGED)


_HGX_H100 = {
    "gpus_per_switch": 1, "host": "sapphire_rapids", "pcie": "pcie5_x16", "nics": 8, "nic_rate": NICS["ndr"].rate,
}  # fmt: skip

NVSWITCH_SERVERS = rows(NvswitchServer, {
    "dgx2": Preset(
        "DGX-2: 16 V100 at 150 GB/s into NVSwitches, 8 PCIe 3 switches with 2 GPUs and an EDR NIC each.",
        "[HWLOC]; rate of the NICs [recall]",
        {"gpus": 16, "gpu": "v100_sxm2", "pcie": "pcie3_x16", "nics": 8, "nic_rate": NICS["edr"].rate},
    ),
    "dgx_a100": Preset(
        "DGX A100: 8 A100 at 300 GB/s into NVSwitches, 4 PCIe 4 switches with 2 GPUs and 2 HDR NICs each.",
        "[DGXA100NOTE][MLE-NET]",
        {"gpu": "a100_sxm_80", "host": "epyc_rome", "nics": 8},
        "The two NICs for storage are left out.",
    ),
    "hgx_h100": Preset(
        "HGX H100: 8 H100 at 450 GB/s into NVSwitches, each with its own NDR NIC below one PCIe 5 switch.",
        "[OCI-XML][MLE-NET]",
        _HGX_H100,
    ),
    "hgx_h200": Preset(
        "HGX H200: as HGX H100, with 8 H200.",
        "[OCI-XML][MLE-NET]",
        _HGX_H100 | {"gpu": "h200_sxm"},
    ),
    "hgx_h20": Preset(
        "HGX H20: as HGX H100, with 8 H20, each with a 400 Gb/s RoCE NIC.",
        "[NT321]; processors and PCIe [recall]",
        _HGX_H100 | {"gpu": "h20", "nic_rate": NICS["400gbe"].rate},
    ),
    "dgx_b200": Preset(
        "DGX B200: 8 B200 at 900 GB/s into NVSwitches, each with its own 400 Gb/s NIC below one PCIe 5 switch.",
        "[MLE-NET][AIC]; processors [assumed]",
        _HGX_H100 | {"gpu": "b200_sxm"},
    ),
    "dgx_b300": Preset(
        "DGX B300: 8 B300 at 900 GB/s into NVSwitches, each with its own 800 Gb/s NIC below one PCIe 6 switch.",
        "[MLE-NET]; PCIe [recall]; processors [assumed]",
        _HGX_H100 | {"gpu": "b300_sxm", "pcie": "pcie6_x16", "nic_rate": NICS["800gbe"].rate},
    ),
})  # fmt: skip
