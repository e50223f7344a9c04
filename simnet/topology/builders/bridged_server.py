"""Servers whose GPUs are joined by NVLink in groups, each with each: pairs, fours, full meshes."""

from itertools import combinations
from typing import Annotated

from pydantic import Field

from simnet.hardware import NICS
from simnet.topology.builders.nvlink_server import NvlinkServer
from simnet.topology.builders.server import Preset, rows
from simnet.topology.topology import Topology

GroupSize = Annotated[int, Field(ge=2, le=64)]


class BridgedServer(NvlinkServer):
    """A server with NVLink between the GPUs of a group, and PCIe between groups."""

    bridged: GroupSize = Field(
        2, description="GPUs of a group; each shares out its NVLinks evenly to the others of a full group"
    )

    def add_nvlinks(self, topology: Topology) -> None:
        """Join any two GPUs of a group."""
        for a, b in combinations(range(self.gpus), 2):
            if a // self.bridged == b // self.bridged:
                rate = self.nvlinks_rate / (self.bridged - 1)
                topology.connect(topology.gpus[a], topology.gpus[b], rate, self.nvlink_latency, "nvlink")


BRIDGED_SERVERS = rows(BridgedServer, {
    "mi300x_server": Preset(
        "8 MI300X, each joined to each by xGMI of 64 GB/s, and with its own 400 Gb/s NIC below one PCIe 5 switch.",
        "[RCCL][MLE-NET]",
        {
            "gpu": "mi300x", "gpus_per_switch": 1, "host": "sapphire_rapids", "pcie": "pcie5_x16", "nics": 8,
            "nic_rate": NICS["ndr"].rate, "bridged": 8,
        },
    ),
    "a100_pcie_server": Preset(
        "8 A100 PCIe in pairs with a bridge of 12 NVLinks, on the PCIe 4 root ports of two sockets.",
        "[NT178]; processors [assumed]",
        {"gpu": "a100_pcie_80", "gpus_per_switch": 0, "host": "epyc_rome"},
    ),
    "h100_pcie_server": Preset(
        "8 H100 PCIe in pairs with a bridge of 12 NVLinks, on the PCIe 5 root ports of two sockets.",
        "[N1161]; processors [assumed]",
        {"gpu": "h100_pcie", "gpus_per_switch": 0, "host": "sapphire_rapids", "pcie": "pcie5_x16"},
    ),
    "h200_nvl_server": Preset(
        "8 H200 NVL in two groups of 4 with a bridge (6 NVLinks a pair), on the PCIe 5 root ports of two sockets.",
        "[H200NVL]; NVLinks of a pair [recall]; processors [assumed]",
        {"gpu": "h200_nvl", "gpus_per_switch": 0, "host": "sapphire_rapids", "pcie": "pcie5_x16", "bridged": 4},
    ),
    "a40_server": Preset(
        "8 A40 in pairs with a bridge of 4 NVLinks, on the PCIe 4 root ports of two sockets; without P2P across pairs.",
        "[A40DOC]; processors [assumed]",
        {"gpu": "a40", "gpus_per_switch": 0, "host": "epyc_rome", "p2p": False},
    ),
    "rtx_2080_ti_server": Preset(
        "8 RTX 2080 Ti in pairs with a bridge of 2 NVLinks, each below a PCIe 3 switch; without P2P across pairs.",
        "[NT117][PROTEUS]; bridge, no GPUDirect [recall]",
        {"gpu": "rtx_2080_ti", "pcie": "pcie3_x16", "nic_rate": NICS["edr"].rate, "p2p": False, "gpudirect": False},
    ),
})  # fmt: skip
