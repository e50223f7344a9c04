"""Swift: target delay and window, steps by hand."""

import numpy as np
import pytest

from simnet.network.packet_level.congestion_control.swift import WINDOW, target_delay
from tests.network.packet_level.congestion_control.driving import Driver


def at(packets: float, **params) -> Driver:
    """A flow with a given window and a target of 20 us."""
    swift = Driver("swift", base_target="20us", **{"flow_range": 0, **params})
    swift.k.cc[WINDOW] = packets
    return swift


def test_starts_with_a_bandwidth_delay_product():
    assert Driver("swift").k.window == pytest.approx(150_000)


def test_below_the_target_it_grows_by_a_packet_per_window():
    swift = at(10)
    swift.ack(0.0, rtt=15e-6)
    assert swift.k.cc[WINDOW] == pytest.approx(10.1)
    assert swift.k.window == pytest.approx(10_100)
    assert swift.k.rate == np.inf


def test_above_the_target_it_shrinks_once_per_rtt():
    swift = at(10)
    swift.ack(0.0, rtt=40e-6)
    assert swift.k.cc[WINDOW] == pytest.approx(10 * (1 - 0.8 * 0.5))
    swift.ack(39e-6, rtt=40e-6)
    assert swift.k.cc[WINDOW] == pytest.approx(6)
    swift.ack(41e-6, rtt=1000e-6)  # not once per RTT of 1000 us
    assert swift.k.cc[WINDOW] == pytest.approx(6)
    swift.ack(1001e-6, rtt=1000e-6)  # by half at most
    assert swift.k.cc[WINDOW] == pytest.approx(3)


def test_below_one_packet_it_paces():
    swift = at(0.5)
    swift.ack(0.0, rtt=15e-6)
    assert swift.k.cc[WINDOW] == pytest.approx(1.5)
    swift = at(0.5)
    swift.ack(0.0, rtt=25e-6)
    window = 0.5 * (1 - 0.8 * 0.2)
    assert swift.k.window == 1000
    assert swift.k.rate == pytest.approx(window * 1000 / 25e-6)


@pytest.mark.parametrize(("packets", "added"), [(0.01, 100), (0.1, 100), (4, 13.06), (100, 0), (400, 0)])
def test_flow_scaling_raises_the_target_of_small_windows(packets, added):
    # a = 100 / (1/sqrt(0.1) - 1/sqrt(100)) = 32.66 us; 4 packets: 32.66 (1/2 - 1/10)
    swift = at(1, flow_range="100us")
    assert target_delay(swift.k, swift.params, packets) * 1e6 == pytest.approx(20 + added, abs=0.01)


def test_a_loss_halves_once_per_rtt_and_a_timeout_always():
    swift = at(10)
    swift.k.rtt = 20e-6
    swift.loss(1e-3, 1000)
    swift.loss(1.001e-3, 1000)
    assert swift.k.cc[WINDOW] == pytest.approx(5)
    swift.loss(1.002e-3, 1000, timeout=True)
    assert swift.k.cc[WINDOW] == pytest.approx(2.5)
