"""Servers whose GPUs have nothing but PCIe."""

from simnet.hardware import NICS
from simnet.topology.builders.server import Preset, ServerParams, rows

_ROOT_PORTS = {"gpus_per_switch": 0}
_STAGED = {"p2p": False, "gpudirect": False}

PCIE_SERVERS = rows(ServerParams, {
    "rtx_4090_server": Preset(
        "8 RTX 4090 on the PCIe 4 root ports of two sockets; without P2P, all is staged in host memory.",
        "[KALAVAI][N814]; processors [N814]; no GPUDirect [recall]",
        {"gpu": "rtx_4090", "host": "epyc_rome", **_ROOT_PORTS, **_STAGED},
    ),
    "rtx_5090_server": Preset(
        "8 RTX 5090 on the PCIe 5 root ports of two sockets; without P2P, all is staged in host memory.",
        "[N1639]; processors, no GPUDirect [recall]",
        {"gpu": "rtx_5090", "host": "epyc_genoa", "pcie": "pcie5_x16", **_ROOT_PORTS, **_STAGED},
    ),
    "rtx_pro_6000_server": Preset(
        "8 RTX PRO 6000 on the PCIe 5 root ports of two sockets, with P2P.",
        "[RTX6K][AIC]; processors [assumed]",
        {"gpu": "rtx_pro_6000", "host": "epyc_genoa", "pcie": "pcie5_x16", **_ROOT_PORTS},
    ),
    "l40s_server": Preset(
        "8 L40S on the PCIe 4 root ports of two sockets, with P2P.",
        "[AIC]; processors and where GPUs are plugged in [assumed]",
        {"gpu": "l40s", "host": "sapphire_rapids", **_ROOT_PORTS},
    ),
    "a10g_server": Preset(
        "8 A10G below two sockets, as AWS g5.48xlarge, with a 100 Gb/s NIC; all is staged in host memory.",
        "[AWS-OFI]; processors, NIC, no P2P, no GPUDirect [recall]",
        {"gpu": "a10g", "host": "epyc_rome", "nic_rate": NICS["100gbe"].rate, **_ROOT_PORTS, **_STAGED},
    ),
    "pcie_server": Preset(
        "A server without NVLink: GPUs below PCIe switches or root ports, "
        "staging through host memory where P2P is off.",
        "no machine in particular: all of it [assumed]",
        {},
    ),
})  # fmt: skip
