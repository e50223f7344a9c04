"""What descriptions of servers leave out, looked up by what they say: models, rates of NVLinks, hosts, PCIe speeds."""

import re

from simnet.hardware import LINKS, LinkType, pcie_rate
from simnet.hardware.links import PCIE_SPEEDS
from simnet.topology.importers.xml_tree import Element

UNKNOWN_SPEED, UNKNOWN_WIDTH = 8.0, 16  # what NCCL takes where the file has none: PCIe 3 x16
IDLE_SPEEDS = (2.5, 5.0)  # an idle link trains down and reports one of these
MAX_NET_SPEED = 1_600_000  # [Mb/s] the fastest port there is, GDR InfiniBand

# PCI vendor:device of GPUs, from the public PCI id list; an SXM3 V100 counts as SXM2
MODEL_OF_PCI_ID = {
    "10de:1db1": "v100_sxm2_16", "10de:1db5": "v100_sxm2", "10de:1db8": "v100_sxm2", "10de:20f1": "a100_pcie_40",
    "10de:2235": "a40", "10de:233b": "h200_nvl", "10de:2b85": "rtx_5090", "10de:2bb5": "rtx_pro_6000",
    "10de:20b0": "a100_sxm_40", "10de:20b2": "a100_sxm_80", "10de:20b5": "a100_pcie_80",
    "10de:20b7": "a30", "10de:2236": "a10", "10de:2237": "a10g", "10de:2330": "h100_sxm", "10de:2331": "h100_pcie",
    "10de:2335": "h200_sxm", "10de:2329": "h20", "10de:2901": "b200_sxm", "10de:2941": "gb200", "10de:26b9": "l40s",
    "10de:27b8": "l4", "10de:2684": "rtx_4090", "10de:2204": "rtx_3090", "10de:1e04": "rtx_2080_ti",
    "10de:1e07": "rtx_2080_ti", "1002:74a1": "mi300x", "1002:74a5": "mi325x", "1002:7408": "mi250x_gcd",
    "1002:740c": "mi250x_gcd",
}  # fmt: skip
# Compute capability of GPUs with NVLink, where the PCI id says nothing
_MODEL_OF_SM = {70: "v100_sxm2", 80: "a100_sxm_80", 90: "h100_sxm", 100: "b200_sxm", 103: "b300_sxm"}
_NVLINK_OF_SM = {60: "nvlink1", 70: "nvlink2", 75: "nvlink2", 80: "nvlink3", 86: "nvlink3_geforce", 90: "nvlink4"}
_XGMI_OF_GFX = {"gfx94": "xgmi_mi300", "94": "xgmi_mi300", "910": "xgmi_mi200", "gfx90a": "xgmi_mi200"}

# Vendor, family and model as NCCL counts them: it adds the extended family times 16
_HOST_OF_CPU = {
    ("GenuineIntel", 6, 79): "broadwell", ("GenuineIntel", 6, 85): "skylake", ("GenuineIntel", 6, 106): "ice_lake",
    ("GenuineIntel", 6, 143): "sapphire_rapids", ("GenuineIntel", 6, 207): "emerald_rapids",
    ("AuthenticAMD", 175, 17): "epyc_genoa", ("AuthenticAMD", 25, 17): "epyc_genoa",
}  # fmt: skip
_HOST_OF_ARCH = {"ppc64": "power9", "ppc64le": "power9", "arm64": "grace", "aarch64": "grace"}

_TWO_LEVEL_SWITCHES = ("1000:c010", "1000:c030")  # Broadcom
_PLX = "10b5:"


def pci_id(pci: Element) -> str:
    """'vendor:device' in lower case hexadecimal digits, '' where not stated."""
    parts = [pci.get(name).lower().removeprefix("0x") for name in ("vendor", "device")]
    return ":".join(parts) if all(parts) else ""


def bus_id(text: str) -> str:
    """A PCI bus id in one spelling: '00000000:0F:00.0' and '0000:0f:00.0' are the same device."""
    domain, colon, rest = text.strip().lower().partition(":")
    return f"{domain.lstrip('0') or '0'}{colon}{rest}"


def same_switch(inner: Element, outer: Element) -> bool:
    """True where two nested PCI bridges are one chip, as NCCL flattens them."""
    name = pci_id(inner)
    return name == pci_id(outer) and (name in _TWO_LEVEL_SWITCHES or name.startswith(_PLX))


def gpu_model(pci: Element, sm: int, amd: bool, nvlinks: bool) -> tuple[str, bool]:
    """Row of GPUS ('' if unknown) and whether it is certain."""
    by_id = MODEL_OF_PCI_ID.get(pci_id(pci))
    if by_id:
        return by_id, True
    return (_MODEL_OF_SM.get(sm, ""), False) if nvlinks and not amd else ("", True)


def nvlink(sm: int, gfx: str) -> tuple[LinkType, bool]:
    """One NVLink (gfx '') or xGMI link of a GPU, and whether its generation is known."""
    if gfx:
        name = next((link for start, link in _XGMI_OF_GFX.items() if gfx.startswith(start)), None)
        return LINKS[name or "xgmi_mi100"], name is not None
    name = "nvlink5" if sm >= 100 else _NVLINK_OF_SM.get(sm)
    return LINKS[name or "nvlink3"], name is not None


def host(cpu: Element) -> str:
    """Row of HOSTS for a cpu element."""
    family, model = (cpu.number(name, 0, -1, 10**6) for name in ("familyid", "modelid"))
    return host_of(cpu.get("vendor"), family, model, cpu.get("arch"))


def host_of(vendor: str, family: int, model: int, arch: str) -> str:
    """Row of HOSTS for a processor; the most common one where it is not known."""
    known = _HOST_OF_CPU.get((vendor, family, model)) or _HOST_OF_ARCH.get(arch)
    return known or ("epyc_rome" if vendor == "AuthenticAMD" else "skylake")


def pcie_link(pci: Element) -> tuple[float, int, bool]:
    """Speed [GT/s] of a lane, number of lanes, and whether both are stated."""
    match = re.match(r"\d+(\.\d+)?", pci.get("link_speed"))
    speed = float(match.group()) if match else 0.0
    width = pci.number("link_width", 0, 0, 255)
    stated = speed in PCIE_SPEEDS and 1 <= width <= 32
    return (speed if speed in PCIE_SPEEDS else UNKNOWN_SPEED), (width if 1 <= width <= 32 else UNKNOWN_WIDTH), stated


def upstream_rate(pci: Element, below: list[Element]) -> tuple[float, str]:
    """Rate [bytes/s] of the link above a PCI device with devices `below` it, and what was assumed ('': nothing)."""
    speed, width, stated = pcie_link(pci)
    if not stated:
        return pcie_rate(speed, width), "speed or width of the PCIe link not stated, taken as PCIe 3 and 16 lanes"
    fastest = max((pcie_link(child)[:2] for child in below if pcie_link(child)[2]), default=(speed, width))
    if speed in IDLE_SPEEDS and fastest[0] > max(IDLE_SPEEDS):
        return (
            pcie_rate(*fastest),
            f"PCIe link reported at {speed:g} GT/s above faster devices, as an idle link is; taken as theirs",
        )
    return pcie_rate(speed, width), ""
