"""Compute time of a kernel: bound by arithmetic or by memory, whichever is slower."""

import numpy as np

from simnet.hardware.gpus import Gpu


def compute_time(gpu: Gpu, flops, memory, precision: str = "fp16"):
    """Seconds that a kernel of `flops` [FLOP] which moves `memory` [bytes] takes on `gpu`.

    The roofline (Williams, Waterman, Patterson 2009): max(flops / (peak x efficiency), memory / (rate x efficiency)).
    flops and memory are floats or arrays of one shape; the result has that shape. Raises InputError where the GPU does
    not compute in `precision`.
    """
    arithmetic = np.asarray(flops, np.float64) / (gpu.peak(precision) * gpu.efficiency)
    traffic = np.asarray(memory, np.float64) / (gpu.memory_rate * gpu.memory_efficiency)
    seconds = np.maximum(arithmetic, traffic)
    return seconds if seconds.ndim else float(seconds)
