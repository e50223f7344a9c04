"""GPUs: peak compute rate per precision, memory, and what fraction of both real kernels achieve."""

from dataclasses import dataclass

from simnet.errors import InputError
from simnet.hardware.links import LINKS

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8")

_T, _G = 1e12, 1e9
_MEMORY_EFFICIENCY = 0.8  # "80 % of mem bw" [AIC]


@dataclass(frozen=True)
class Gpu:
    """One GPU model.

    fp32, tf32, fp16, fp8: dense peak [FLOP/s], 0 where it has none; fp16 holds for bf16 too. memory_size [bytes],
    memory_rate [bytes/s]. efficiency: fraction of the peak that the best matrix shapes reach; memory_efficiency:
    fraction of memory_rate that streaming kernels reach. source: where the numbers come from. nvlink: row of LINKS of
    the links to other GPUs ('' without), of which it has nvlinks; pcie: row of LINKS of the link to its host.
    """

    fp32: float
    tf32: float
    fp16: float
    fp8: float
    memory_size: float
    memory_rate: float
    efficiency: float
    source: str
    memory_efficiency: float = _MEMORY_EFFICIENCY
    nvlink: str = ""
    nvlinks: int = 0
    pcie: str = "pcie4_x16"

    @property
    def nvlink_rate(self) -> float:
        """Nominal rate [bytes/s] of all its NVLinks, one direction; 0 without."""
        return self.nvlinks * LINKS[self.nvlink].rate if self.nvlinks else 0.0

    def peak(self, precision: str) -> float:
        """Dense peak [FLOP/s] of a precision; InputError where the GPU has none."""
        rates = {"fp32": self.fp32, "tf32": self.tf32, "fp16": self.fp16, "bf16": self.fp16, "fp8": self.fp8}
        if not rates.get(precision):
            able = ", ".join(name for name, rate in rates.items() if rate)
            raise InputError(f"precision '{precision}': this GPU computes in {able}")
        return rates[precision]


def _gpu(fp32, tf32, fp16, fp8, size, rate, efficiency, pcie, nvlinks, nvlink, source) -> Gpu:
    """A row in the units of data sheets: TFLOP/s, GB, GB/s."""
    return Gpu(
        fp32 * _T, tf32 * _T, fp16 * _T, fp8 * _T, size * _G, rate * _G, efficiency, source,
        nvlink=nvlink, nvlinks=nvlinks, pcie=f"pcie{pcie}_x16",
    )  # fmt: skip


_ASSUMED = "efficiency [assumed]"
_RECALLED = f"[recall], all of it; {_ASSUMED}"

GPUS: dict[str, Gpu] = {
    #                        fp32  tf32  fp16  fp8  GB  GB/s  efficiency, PCIe, NVLinks
    "v100_sxm2": _gpu(15.7, 0, 125, 0, 32, 900, 0.76, 3, 6, "nvlink2", "[DLPERF][MLI]; 95 of 125 TFLOP/s [MLI]"),
    "v100_sxm2_16": _gpu(15.7, 0, 125, 0, 16, 900, 0.76, 3, 6, "nvlink2", "[DLPERF][MLI]; 95 of 125 TFLOP/s [MLI]"),
    "a100_sxm_40": _gpu(19.5, 156, 312, 0, 40, 1555, 0.869, 4, 12, "nvlink3", "[MLE-ACC][AIC]; memory rate [recall]"),
    "a100_sxm_80": _gpu(19.5, 156, 312, 0, 80, 2039, 0.869, 4, 12, "nvlink3", "[MLE-ACC][AIC]; 271.2 of 312 [MLE-ACC]"),
    "a100_pcie_40": _gpu(19.5, 156, 312, 0, 40, 1555, 0.811, 4, 12, "nvlink3", "as a100_pcie_80; memory [recall]"),
    "a100_pcie_80": _gpu(
        19.5, 156, 312, 0, 80, 1935, 0.811, 4, 12, "nvlink3", "[MLE-ACC][AIC]; 252.9 of 312 [MLE-ACC]; bridge [NT178]"
    ),
    "h100_sxm": _gpu(67, 494.5, 989, 1979, 80, 3350, 0.803, 5, 18, "nvlink4", "[MLE-ACC][AIC]; 794.5 of 989 [MLE-ACC]"),
    "h100_pcie": _gpu(
        51, 378, 756, 1513, 80, 2000, 0.8, 5, 12, "nvlink4", f"[MLE-ACC][AIC]; bridge of 12 links [N1161]; {_ASSUMED}"
    ),
    "h200_sxm": _gpu(67, 494.5, 989, 1979, 141, 4800, 0.79, 5, 18, "nvlink4", "[MLE-ACC][AIC]; 783 of 989 [AIC]"),
    "h200_nvl": _gpu(60, 417.5, 835, 1671, 141, 4800, 0.8, 5, 18, "nvlink4", _RECALLED),
    "h20": _gpu(44, 74, 148, 296, 96, 4000, 0.8, 5, 18, "nvlink4", f"[recall]; NVLinks [NT321]; {_ASSUMED}"),
    "b200_sxm": _gpu(80, 1125, 2250, 4500, 180, 7700, 0.776, 5, 18, "nvlink5", "[AIC][MLE-ACC]; 1745 of 2250"),
    "gb200": _gpu(80, 1250, 2500, 5000, 186, 8000, 0.729, 5, 18, "nvlink5", "[MLE-ACC][AIC]; 1822 of 2500 [MLE-ACC]"),
    "b300_sxm": _gpu(
        80, 1125, 2250, 4500, 288, 8000, 0.786, 6, 18, "nvlink5", "[MLE-ACC]; 1769 of 2250 [MLE-ACC]; PCIe [recall]"
    ),
    "l40s": _gpu(91.6, 183, 362, 733, 48, 864, 0.696, 4, 0, "", "[AIC][MLE-ACC]; 252 of 362 TFLOP/s, 4096^3 [AIC]"),
    "a40": _gpu(37.4, 74.8, 149.7, 0, 48, 696, 0.8, 4, 4, "nvlink3_geforce", f"[recall]; bridge [A40DOC]; {_ASSUMED}"),
    "a30": _gpu(10.3, 82, 165, 0, 24, 933, 0.8, 4, 4, "nvlink3", f"[AIC]; fp32, tf32, bridge [recall]; {_ASSUMED}"),
    "a10": _gpu(31.2, 62.5, 125, 0, 24, 600, 0.8, 4, 0, "", f"[A10]; tf32, fp16 [recall]; {_ASSUMED}"),
    "a10g": _gpu(35, 35, 70, 0, 24, 600, 0.8, 4, 0, "", f"[A10G]; fp32, tf32, fp16 [recall]; {_ASSUMED}"),
    "l4": _gpu(30.3, 60, 121, 242, 24, 300, 0.8, 4, 0, "", f"[AIC]; fp32, tf32 [recall]; {_ASSUMED}"),
    "rtx_5090": _gpu(104.8, 104.8, 209.5, 419, 32, 1792, 0.8, 5, 0, "", _RECALLED),
    "rtx_4090": _gpu(82.6, 82.6, 165.2, 660.6, 24, 1008, 1.0, 4, 0, "", "[4090]; 172 TFLOP/s fp16, boosting [MLI]"),
    "rtx_3090": _gpu(
        35.6, 35.6, 71, 0, 24, 936, 0.95, 4, 4, "nvlink3_geforce", "[4090B]; efficiency [assumed] from a 3090 Ti [MLI]"
    ),
    "rtx_2080_ti": _gpu(
        13.45, 0, 53.8, 0, 11, 616, 1.0, 3, 2, "nvlink2", "[2080TI], fp16, bridge [recall]; 13.4 TFLOP/s fp32 [PIPEMOE]"
    ),
    "rtx_pro_6000": _gpu(
        117, 234, 467.8, 935.6, 102.6, 1792, 0.821, 5, 0, "", "[AIC]; fp32, tf32 [recall]; 384 TFLOP/s [AIC]"
    ),
    "mi250x": _gpu(47.9, 0, 383, 0, 128, 3280, 0.6, 4, 7, "xgmi_mi200", f"[MLE-ACC][MLE-NET], both dies; {_ASSUMED}"),
    "mi250x_gcd": _gpu(23.95, 0, 191.5, 0, 64, 1640, 0.6, 4, 8, "xgmi_mi200", "half an mi250x; links [recall]"),
    "mi300x": _gpu(163.4, 653.7, 1300, 2600, 192, 5300, 0.514, 5, 7, "xgmi_mi300", "[MLE-ACC]; 668 of 1300 [MLE-ACC]"),
    "mi325x": _gpu(
        163, 653.7, 1300, 2600, 256, 6000, 0.604, 5, 7, "xgmi_mi300", "[MLE-ACC], tf32 [recall]; 785 of 1300 TFLOP/s"
    ),
    "mi355x": _gpu(157, 0, 2500, 5000, 288, 8000, 0.626, 5, 7, "xgmi_mi355", "[MLE-ACC]; 1565 of 2500 [MLE-ACC]"),
}  # fmt: skip
"""GPU models that `gpu: ...` accepts. Dense peaks, no sparsity."""
