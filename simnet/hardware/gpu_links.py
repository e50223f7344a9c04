"""Which links GPUs have: the generations of their PCIe and of their NVLink or its kin, and how many of the latter."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuLinks:
    """pcie: row of LINKS; fabric: row of LINKS that one NVLink or xGMI link is, '' where there are none; most: how many
    of them the GPU has."""

    pcie: str
    fabric: str = ""
    most: int = 0


_AMPERE, _HOPPER, _BLACKWELL = (
    GpuLinks(f"pcie{g}_x16", f"nvlink{n}", m) for g, n, m in ((4, 3, 12), (5, 4, 18), (5, 5, 18))
)

GPU_LINKS: dict[str, GpuLinks] = {
    "v100_sxm2": GpuLinks("pcie3_x16", "nvlink2", 6),  # [DLPERF][MLI]
    **dict.fromkeys(("a100_sxm_40", "a100_sxm_80", "a100_pcie_80"), _AMPERE),  # [MLE-ACC][AIC]
    **dict.fromkeys(("h100_sxm", "h100_pcie", "h200_sxm", "h20"), _HOPPER),  # [MLE-ACC][AIC]
    **dict.fromkeys(("b200_sxm", "b300_sxm", "gb200"), _BLACKWELL),  # [MLE-ACC][AIC]
    "a30": GpuLinks("pcie4_x16", "nvlink3", 4),  # bridge [recall]
    "rtx_3090": GpuLinks("pcie4_x16", "nvlink3_geforce", 4),  # bridge [recall]
    "rtx_2080_ti": GpuLinks("pcie3_x16", "nvlink2", 2),  # bridge [recall]
    **dict.fromkeys(("l40s", "l4", "a10", "a10g", "rtx_4090"), GpuLinks("pcie4_x16")),  # [AIC][A10]
    "rtx_pro_6000": GpuLinks("pcie5_x16"),  # [AIC]
    **dict.fromkeys(("mi250x", "mi250x_gcd"), GpuLinks("pcie4_x16", "xgmi_mi200", 8)),  # [MLE-ACC]; number [recall]
    **dict.fromkeys(("mi300x", "mi325x", "mi355x"), GpuLinks("pcie5_x16", "xgmi_mi300", 7)),  # [MLE-ACC]
}
"""Links of every row of GPUS."""
