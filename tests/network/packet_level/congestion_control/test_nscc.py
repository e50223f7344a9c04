"""NSCC: the four cases of mark and delay, trims and quick adaptation, steps by hand.

At 100 Gb/s, 12 us and packets of 1000 B: a = 1, target 9 us, largest window 225 kB, eta 150 B.
"""

import pytest

from simnet.network.packet_level.congestion_control.nscc import AVERAGE, FAST_BYTES, INCREASE, WINDOW
from tests.network.packet_level.congestion_control.driving import Driver

BASE = 12e-6


@pytest.fixture
def nscc():
    driver = Driver("nscc", base_rtt=BASE)
    driver.k.cc[WINDOW] = driver.k.window = 100_000
    return driver


def test_starts_with_one_and_a_half_bandwidth_delay_products():
    assert Driver("nscc").k.window == pytest.approx(225_000)


def test_proportional_increase_without_mark_and_with_little_delay(nscc):
    nscc.ack(1e-6, rtt=BASE + 4.5e-6)
    # alpha n (target - delay), alpha = 4 x 1000 x (9 / 12) / 9 us
    assert nscc.k.cc[INCREASE] == pytest.approx(4000 * 0.75 / 9e-6 * 1000 * 4.5e-6)
    assert nscc.k.window == 100_000
    nscc.ack(13e-6, size=0, rtt=BASE + 4.5e-6)  # an RTT later it goes into the window, with eta
    assert nscc.k.window == pytest.approx(100_000 + 1500 * 1000 / 100_000 + 150)


def test_fair_increase_without_mark_and_with_delay(nscc):
    nscc.ack(1e-6, rtt=BASE + 10e-6)
    assert nscc.k.cc[INCREASE] == pytest.approx(5 * 1000 * 1000)


def test_fast_increase_after_a_window_without_delay(nscc):
    for i in range(120):
        before = nscc.k.window
        nscc.ack(i * 1e-9, rtt=BASE)
        if i < 100:
            assert nscc.k.cc[FAST_BYTES] <= nscc.k.window
    assert nscc.k.window == pytest.approx(before + 250)  # 0.25 a of what was acknowledged


def test_decrease_with_mark_and_delay_once_per_rtt(nscc):
    nscc.k.cc[AVERAGE] = 18e-6
    nscc.ack(13e-6, marked=1, rtt=BASE + 18e-6)
    assert nscc.k.window == pytest.approx(60_000 + 150)  # 1 - 0.8 (18 - 9) / 18, then eta
    nscc.ack(14e-6, marked=1, rtt=BASE + 18e-6)
    assert nscc.k.window == pytest.approx(60_150)


def test_a_mark_without_delay_changes_nothing(nscc):
    nscc.ack(1e-6, marked=1, rtt=BASE + 5e-6)
    assert nscc.k.cc[INCREASE] == 0
    assert nscc.k.window == 100_000


def test_a_trim_takes_its_bytes(nscc):
    nscc.loss(1e-6, 1000)
    assert nscc.k.window == 99_000


def test_quick_adapt_sets_the_window_to_what_arrived(nscc):
    for i in range(20):
        nscc.ack(i * 1e-7, marked=1, rtt=BASE + 5e-6)
    nscc.k.inflight = 3000
    nscc.loss(22e-6, 1000)  # after base RTT + target = 21 us; 20 kB arrived, less than 225 / 8
    assert nscc.k.window == pytest.approx(20_000)
    for _ in range(3):  # sent before: ignored
        nscc.loss(22e-6, 1000)
    assert nscc.k.window == pytest.approx(20_000)
    nscc.loss(22e-6, 1000)
    assert nscc.k.window == pytest.approx(19_000)


def test_increases_scale_with_the_link():
    fast = Driver("nscc", base_rtt=BASE, rate=50e9)  # 400 Gb/s: a = 4
    assert fast.k.window == pytest.approx(900_000)
    fast.ack(1e-6, rtt=BASE + 10e-6)
    assert fast.k.cc[INCREASE] == pytest.approx(4 * 5 * 1000 * 1000)
