"""Alpha-beta pairs: fitted exactly to lines, and to clusters whose times are known."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.studies.calibration import calibrate, fitted

BUS = {"kind": "pcie_server", "gpus": 4, "gpus_per_switch": 4, "sockets": 1, "gpu_rate": "4GB/s", "nics": 0}


def test_a_line_is_found_again():
    sizes = np.array([1e3, 1e5, 1e7])
    fit = fitted("x", sizes, 2e-5 + sizes / 5e9)
    assert fit.pair.alpha == pytest.approx(2e-5, rel=1e-4)
    assert fit.pair.rate == pytest.approx(5e9, rel=1e-4)
    assert fit.error < 1e-6


def test_alpha_is_never_negative():
    fit = fitted("x", np.array([1e3, 1e6]), np.array([1e-7, 1.2e-3]))
    assert fit.pair.alpha == 0
    assert fit.pair.rate > 0


def test_rates_of_a_bus():
    """Four GPUs on one switch, 4 GB/s each: a rank sends 3/4 n of an all-to-all, and an all-reduce 2 x 3/4 n."""
    calibration, fits = calibrate(BUS, model_parallel=[1, 2, 4], expert_sharding=[1, 2, 4], launch="10us")
    assert calibration.fused_all_to_all.rate == pytest.approx(4e9 / (3 / 4), rel=1e-3)
    assert calibration.fused_all_to_all.alpha == pytest.approx(1e-5, rel=0.2)
    assert calibration.all_to_all[2].rate == pytest.approx(4e9 / (1 / 2), rel=1e-3)
    assert calibration.all_gather[2].rate == pytest.approx(4e9 / (1 / 2), rel=1e-3)
    assert calibration.all_gather[4].rate == pytest.approx(4e9 / (3 / 4), rel=1e-3)
    assert calibration.all_reduce[4].rate == pytest.approx(4e9 / (3 / 2), rel=1e-3)
    # all-to-all of y = N_ESP n / N_MP and all-gather of n share the links: nothing is hidden
    for members, shards in ((2, 1), (4, 1), (4, 4)):
        bytes_sent = 3 / 4 * shards / members + (members - 1) / members
        assert calibration.saa[members][shards].rate == pytest.approx(4e9 / bytes_sent, rel=0.05)
    assert max(fit.error for fit in fits) < 0.01
    assert len({fit.name for fit in fits}) == len(fits)


def test_groups_must_divide_the_ranks():
    with pytest.raises(InputError, match="expert_sharding: 3 does not divide"):
        calibrate(BUS, model_parallel=[1], expert_sharding=[1, 3])
