"""No control, and a fixed window."""

import numpy as np
import pytest

from tests.network.packet_level.congestion_control.driving import Driver


def test_no_control_limits_nothing():
    none = Driver("none")
    assert none.k.window == np.inf
    assert none.k.rate == np.inf


@pytest.mark.parametrize(("bdps", "window"), [(1, 150_000), (2, 300_000), (0.333, 50_000)])
def test_fixed_window_is_a_multiple_of_the_bandwidth_delay_product_in_whole_packets(bdps, window):
    # 100 Gb/s x 12 us = 150 kB
    assert Driver("fixed_window", bdps=bdps).k.window == window
