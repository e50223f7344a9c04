"""TIMELY and its patched form, steps by hand: T_low 50, T_high 500, min RTT 20 us, delta 100 Mb/s."""

import pytest

from simnet.network.packet_level.parameters import NETWORK_RTT
from tests.network.packet_level.congestion_control.driving import GBPS, Driver

OF_2015 = {"t_low": "50us", "t_high": "500us", "min_rtt": "20us"}


def at(kind: str, gbps: float, rtt: float) -> Driver:
    """A flow of a given rate that has seen one RTT."""
    timely = Driver(kind, **OF_2015)
    timely.ack(0.0, rtt=rtt)
    timely.k.rate = gbps * GBPS
    return timely


def test_low_rtt_adds_delta_and_after_five_in_a_row_more():
    timely = at("timely", 50, 30e-6)
    rates = []
    for _ in range(7):
        timely.ack(1e-6, rtt=30e-6)
        rates.append(timely.gbps)
    assert rates == pytest.approx([50.1, 50.2, 50.3, 50.4, 50.5, 51.0, 51.5])


@pytest.mark.parametrize("kind", ["timely", "patched_timely"])
def test_high_rtt_cuts_by_how_far_it_is_above(kind):
    timely = at(kind, 50, 1000e-6)
    timely.ack(1e-6, rtt=1000e-6)
    beta = {"timely": 0.8, "patched_timely": 0.008}[kind]
    assert timely.gbps == pytest.approx(50 * (1 - beta * 0.5))


def test_a_rising_rtt_cuts_by_its_gradient():
    timely = at("timely", 50, 60e-6)
    timely.ack(1e-6, rtt=70e-6)
    # gradient = 0.875 x 10 / 20
    assert timely.gbps == pytest.approx(50 * (1 - 0.8 * 0.4375))


def test_a_steady_rtt_adds_delta():
    timely = at("timely", 50, 60e-6)
    timely.ack(1e-6, rtt=60e-6)
    assert timely.gbps == pytest.approx(50.1)


def test_patched_weighs_delta_against_the_distance_from_t_low():
    patched = at("patched_timely", 50, 60e-6)
    patched.ack(1e-6, rtt=60e-6)  # gradient 0: w = 1/2
    assert patched.gbps == pytest.approx(50 * (1 - 0.008 * 0.5 * 0.2) + 0.1 * 0.5)
    patched = at("patched_timely", 50, 60e-6)
    patched.ack(1e-6, rtt=70e-6)  # gradient 0.4375: w = 1
    assert patched.gbps == pytest.approx(50 * (1 - 0.008 * 0.4))


def test_one_update_per_window_or_segment():
    timely = at("timely", 50, 30e-6)
    timely.k.next_sequence = 10
    timely.ack(1e-6, rtt=30e-6, sequence=0)
    timely.ack(2e-6, rtt=30e-6, sequence=9)
    assert timely.gbps == pytest.approx(50.1)
    timely.ack(3e-6, rtt=30e-6, sequence=10)
    assert timely.gbps == pytest.approx(50.2)
    segments = Driver("timely", segment="4kB", **OF_2015)
    segments.k.next_sequence = 1000
    segments.ack(0.0, rtt=30e-6, sequence=0)
    segments.k.rate = 50 * GBPS
    for sequence in range(1, 9):
        segments.ack(1e-6, rtt=30e-6, sequence=sequence)
    assert segments.gbps == pytest.approx(50.2)  # at 4 and at 8


def test_thresholds_scale_with_the_base_rtt_by_default():
    timely = Driver("timely", base_rtt=12e-6)  # T_low 15, T_high 75 us
    timely.ack(0.0, rtt=150e-6)
    timely.ack(1e-6, rtt=150e-6)
    assert timely.gbps == pytest.approx(100 * (1 - 0.8 * 0.5))


@pytest.mark.parametrize(("max_decrease", "gbps"), [(0.5, 50), (0.9, 10), (1.0, 1)])
def test_one_decrease_takes_no_more_than_told(max_decrease, gbps):
    timely = Driver("timely", max_decrease=max_decrease)
    timely.ack(0.0, rtt=12e-6)
    timely.ack(1e-6, rtt=70e-6)  # a gradient of more than four
    assert timely.gbps == pytest.approx(gbps)


def test_thresholds_are_those_of_the_network_not_of_a_short_path():
    near = Driver("timely", base_rtt=4e-6)
    near.params[NETWORK_RTT] = 12e-6
    near.k.rate = 50 * GBPS
    near.ack(0.0, rtt=9e-6)
    near.ack(1e-6, rtt=14e-6)  # below 12 + 3 us, whatever the gradient
    assert near.gbps == pytest.approx(50.1)
