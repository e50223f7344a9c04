"""PowerTCP: power of the busiest hop, steps by hand. T = 10 us, B T = 125 kB."""

import pytest

from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.congestion_control.powertcp import REFERENCE
from tests.network.packet_level.congestion_control.driving import GBPS, Driver


def test_power_is_arrival_rate_times_queue_and_pipe():
    power = Driver("powertcp", base_rtt=10e-6)
    power.k.next_sequence = 100
    power.ack(10e-6, hops=[(5e-6, 0, 0, 100 * GBPS, 1)])
    # 100 kB were sent in 10 us and 25 kB stayed: arrival at B; u = (25 + 125) / 125
    power.ack(20e-6, sequence=1, hops=[(15e-6, 100_000, 25_000, 100 * GBPS, 1)])
    assert power.gbps == pytest.approx(0.9 * (100 / (1.2 / 0.95) + 0.15) + 0.1 * 100)
    assert power.k.window == pytest.approx(power.k.rate * 10e-6 + 1000)


def test_arrival_counts_as_half_the_rate_at_least():
    power = Driver("powertcp", base_rtt=10e-6, eta=1.0)
    power.k.next_sequence = 100
    power.k.cc[REFERENCE] = 20 * GBPS
    power.ack(10e-6, hops=[(5e-6, 0, 0, 100 * GBPS, 1)])
    power.ack(20e-6, sequence=1, hops=[(15e-6, 0, 0, 100 * GBPS, 1)])
    assert power.gbps == pytest.approx(0.9 * (20 / 0.5 + 0.15) + 0.1 * 20)


def test_theta_form_needs_no_int():
    theta = Driver("powertcp", base_rtt=10e-6, form="theta")
    theta.k.next_sequence = 100
    theta.ack(10e-6, rtt=10e-6)
    theta.ack(20e-6, sequence=1, rtt=11e-6)  # slope 0.1
    power = 1.1 * 11 / 10.5
    assert theta.gbps == pytest.approx(0.7 * (100 / power + 0.15) + 0.3 * 100)
    rows = CONGESTION_CONTROLS["powertcp"]
    assert rows(form="int").needs_int
    assert not rows(form="theta").needs_int
