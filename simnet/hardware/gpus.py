"""GPUs: peak compute rate per precision, memory, and what fraction of both real kernels achieve."""

from dataclasses import dataclass

from simnet.errors import InputError

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8")

_T, _G = 1e12, 1e9
_MEMORY_EFFICIENCY = 0.8  # "80 % of mem bw" [AIC]


@dataclass(frozen=True)
class Gpu:
    """One GPU model.

    fp32, tf32, fp16, fp8: dense peak [FLOP/s], 0 where it has none; fp16 holds for bf16 too. memory_size [bytes],
    memory_rate [bytes/s]. efficiency: fraction of the peak that the best matrix shapes reach; memory_efficiency:
    fraction of memory_rate that streaming kernels reach. source: where the numbers come from.
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

    def peak(self, precision: str) -> float:
        """Dense peak [FLOP/s] of a precision; InputError where the GPU has none."""
        rates = {"fp32": self.fp32, "tf32": self.tf32, "fp16": self.fp16, "bf16": self.fp16, "fp8": self.fp8}
        if not rates.get(precision):
            able = ", ".join(name for name, rate in rates.items() if rate)
            raise InputError(f"precision '{precision}': this GPU computes in {able}")
        return rates[precision]


def _gpu(fp32, tf32, fp16, fp8, size, rate, efficiency, source) -> Gpu:
    """A row in the units of data sheets: TFLOP/s, GB, GB/s."""
    return Gpu(fp32 * _T, tf32 * _T, fp16 * _T, fp8 * _T, size * _G, rate * _G, efficiency, source)


_ASSUMED = "efficiency [assumed]"

GPUS: dict[str, Gpu] = {
    #                         fp32   tf32   fp16   fp8   GB   GB/s  efficiency
    "v100_sxm2": _gpu(15.7, 0, 125, 0, 32, 900, 0.76, "[DLPERF][MLI]; 95 of 125 TFLOP/s measured [MLI]"),
    "a100_sxm_40": _gpu(19.5, 156, 312, 0, 40, 1555, 0.869, "[MLE-ACC][AIC]; memory rate [recall]"),
    "a100_sxm_80": _gpu(19.5, 156, 312, 0, 80, 2039, 0.869, "[MLE-ACC][AIC]; 271.2 of 312 TFLOP/s [MLE-ACC]"),
    "a100_pcie_80": _gpu(19.5, 156, 312, 0, 80, 1935, 0.811, "[MLE-ACC][AIC]; 252.9 of 312 TFLOP/s [MLE-ACC]"),
    "h100_sxm": _gpu(67, 494.5, 989, 1979, 80, 3350, 0.803, "[MLE-ACC][AIC]; 794.5 of 989 TFLOP/s [MLE-ACC]"),
    "h100_pcie": _gpu(51, 378, 756, 1513, 80, 2000, 0.8, f"[MLE-ACC][AIC]; {_ASSUMED}"),
    "h200_sxm": _gpu(67, 494.5, 989, 1979, 141, 4800, 0.79, "[MLE-ACC][AIC]; 783 of 989 TFLOP/s, 4096^3 [AIC]"),
    "h20": _gpu(44, 74, 148, 296, 96, 4000, 0.8, f"[recall], all of it; {_ASSUMED}"),
    "b200_sxm": _gpu(80, 1125, 2250, 4500, 180, 7700, 0.776, "[MLE-ACC][AIC]; 1745 of 2250 TFLOP/s [MLE-ACC]"),
    "gb200": _gpu(80, 1250, 2500, 5000, 186, 8000, 0.729, "[MLE-ACC][AIC]; 1822 of 2500 TFLOP/s [MLE-ACC]"),
    "b300_sxm": _gpu(80, 1125, 2250, 4500, 288, 8000, 0.786, "[MLE-ACC]; 1769 of 2250 TFLOP/s [MLE-ACC]"),
    "l40s": _gpu(91.6, 183, 362, 733, 48, 864, 0.696, "[AIC][MLE-ACC]; 252 of 362 TFLOP/s, 4096^3 [AIC]"),
    "a30": _gpu(10.3, 82, 165, 0, 24, 933, 0.8, f"[AIC]; fp32, tf32 [recall]; {_ASSUMED}"),
    "a10": _gpu(31.2, 62.5, 125, 0, 24, 600, 0.8, f"data sheets; tf32, fp16 [recall]; {_ASSUMED}"),
    "a10g": _gpu(35, 35, 70, 0, 24, 600, 0.8, f"fp32, tf32, fp16 [recall]; {_ASSUMED}"),
    "l4": _gpu(30.3, 60, 121, 242, 24, 300, 0.8, f"[AIC]; fp32, tf32 [recall]; {_ASSUMED}"),
    "rtx_4090": _gpu(82.6, 82.6, 165.2, 660.6, 24, 1008, 1.0, "data sheet; 172 TFLOP/s fp16 measured, boosting [MLI]"),
    "rtx_3090": _gpu(35.6, 35.6, 71, 0, 24, 936, 0.95, "data sheet; efficiency [assumed] from a 3090 Ti [MLI]"),
    "rtx_2080_ti": _gpu(13.45, 0, 53.8, 0, 11, 616, 1.0, "data sheet, fp16 [recall]; 13.4 TFLOP/s fp32 [PIPEMOE]"),
    "rtx_pro_6000": _gpu(117, 234, 467.8, 935.6, 102.6, 1792, 0.821, "[AIC]; fp32, tf32 [recall]; 384 TFLOP/s [AIC]"),
    "mi250x": _gpu(47.9, 0, 383, 0, 128, 3280, 0.6, f"[MLE-ACC], both dies; {_ASSUMED}"),
    "mi250x_gcd": _gpu(23.95, 0, 191.5, 0, 64, 1640, 0.6, f"half of an mi250x: one of its dies; {_ASSUMED}"),
    "mi300x": _gpu(163.4, 653.7, 1300, 2600, 192, 5300, 0.514, "[MLE-ACC]; 668 of 1300 TFLOP/s [MLE-ACC]"),
    "mi325x": _gpu(163, 653.7, 1300, 2600, 256, 6000, 0.604, "[MLE-ACC], tf32 [recall]; 785 of 1300 TFLOP/s"),
    "mi355x": _gpu(157, 0, 2500, 5000, 288, 8000, 0.626, "[MLE-ACC]; 1565 of 2500 TFLOP/s [MLE-ACC]"),
}  # fmt: skip
"""GPU models that `gpu: ...` accepts. Dense peaks, no sparsity."""
