"""The roofline against numbers worked out by hand."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.hardware import GPUS
from simnet.hardware.gpus import Gpu
from simnet.hardware.roofline import compute_time

# 100 TFLOP/s at 50 % and 1 TB/s at 80 %: 50 TFLOP/s and 0.8 TB/s, ridge at 62.5 FLOP a byte
ROUND = Gpu(10e12, 0, 100e12, 0, 16e9, 1e12, 0.5, "made up", 0.8)


def test_compute_bound():
    assert compute_time(ROUND, flops=50e12, memory=1e9) == pytest.approx(1.0)


def test_memory_bound():
    assert compute_time(ROUND, flops=1e9, memory=0.8e12) == pytest.approx(1.0)


def test_both_bounds_meet_at_the_ridge():
    assert compute_time(ROUND, 62.5e9, 1e9) == pytest.approx(1e9 / 0.8e12)
    assert compute_time(ROUND, 62.5e9, 0) == pytest.approx(compute_time(ROUND, 0, 1e9))


def test_precision_chooses_the_peak():
    assert compute_time(ROUND, 5e12, 0, "fp32") == pytest.approx(1.0)
    assert compute_time(ROUND, 50e12, 0, "bf16") == pytest.approx(1.0)


def test_arrays_keep_their_shape_and_scalars_are_floats():
    flops, memory = np.array([[50e12, 0.0]]), np.array([[0.0, 1.6e12]])
    np.testing.assert_allclose(compute_time(ROUND, flops, memory), [[1.0, 2.0]])
    assert isinstance(compute_time(ROUND, 1.0, 1.0), float)
    assert compute_time(ROUND, 0, 0) == 0.0


def test_a_precision_the_gpu_lacks_is_refused_with_what_it_has():
    with pytest.raises(InputError, match=r"'fp8'.*fp32, fp16, bf16"):
        compute_time(GPUS["v100_sxm2"], 1.0, 1.0, "fp8")
    with pytest.raises(InputError, match="'int3'"):
        compute_time(ROUND, 1.0, 1.0, "int3")


def test_gemm_of_4096_cubed_on_an_a100_is_near_the_measured_514_us():
    time = compute_time(GPUS["a100_sxm_80"], 2 * 4096**3, 3 * 2 * 4096**2, "fp16")
    assert time == pytest.approx(514e-6, rel=0.02)
