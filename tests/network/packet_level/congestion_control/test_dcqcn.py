"""DCQCN: both forms, steps by hand."""

import pytest

from simnet.network.packet_level.congestion_control.dcqcn import ALPHA, TARGET
from tests.network.packet_level.congestion_control.driving import GBPS, Driver

G = 1 / 256


def paper() -> Driver:
    """40 Gb/s, so that R_AI is 40 and R_HAI 400 Mb/s."""
    return Driver("dcqcn", rate=40 * GBPS, form="paper")


def test_paper_the_receiver_answers_one_mark_per_50_us():
    dcqcn = paper()
    times = [0.0, 10e-6, 49e-6, 51e-6, 60e-6, 102e-6]
    assert [dcqcn.data(t, marked=1) for t in times] == [1, 0, 0, 1, 0, 1]
    assert dcqcn.data(200e-6, marked=0) == 0


def test_mlx_every_mark_is_answered():
    dcqcn = Driver("dcqcn")
    assert [dcqcn.data(t, marked=1) for t in (0.0, 1e-6, 2e-6)] == [1, 1, 1]


def test_paper_a_notification_halves_the_rate_and_timers_recover_it():
    dcqcn = paper()
    dcqcn.ack(0.0, marked=1)
    assert dcqcn.gbps == pytest.approx(20)
    for events, rate in ((1, 30), (2, 35), (3, 37.5)):
        dcqcn.before_send((55 * events + 1) * 1e-6)
        assert dcqcn.gbps == pytest.approx(rate)
    assert dcqcn.k.cc[ALPHA] == pytest.approx((1 - G) ** 3)


def test_paper_additive_increase_after_five_recoveries():
    dcqcn = paper()
    dcqcn.ack(0.0, marked=1)
    dcqcn.before_send(56e-6)  # 30 Gb/s, alpha = 255/256
    dcqcn.ack(60e-6, marked=1)
    low = 30 * (1 - (1 - G) / 2)
    assert dcqcn.gbps == pytest.approx(low)
    dcqcn.before_send((60 + 5 * 55 + 1) * 1e-6)
    recovered = 30 - (30 - low) / 32
    assert dcqcn.gbps == pytest.approx(recovered)
    dcqcn.before_send((60 + 6 * 55 + 1) * 1e-6)
    assert dcqcn.k.cc[TARGET] / GBPS == pytest.approx(30.04)
    assert dcqcn.gbps == pytest.approx((recovered + 30.04) / 2)


def test_paper_hyper_increase_when_timer_and_bytes_have_both_passed_five():
    dcqcn = paper()
    dcqcn.ack(0.0, marked=1)
    dcqcn.ack(1e-6, marked=1)  # 10 Gb/s, target 20
    dcqcn.before_send((1 + 7 * 55 + 1) * 1e-6)  # T = 7: two additive steps
    assert dcqcn.k.cc[TARGET] / GBPS == pytest.approx(20.08)
    dcqcn.k.sent_bytes += 5 * 10e6  # B = 5: additive still, as T > 5
    dcqcn.before_send((1 + 7 * 55 + 2) * 1e-6)
    assert dcqcn.k.cc[TARGET] / GBPS == pytest.approx(20.08 + 5 * 0.04)
    dcqcn.k.sent_bytes += 10e6  # B = 6: i = 1
    dcqcn.before_send((1 + 7 * 55 + 3) * 1e-6)
    assert dcqcn.k.cc[TARGET] / GBPS == pytest.approx(20.28 + 0.4)


def test_mlx_the_decrease_timer_cuts_four_microseconds_after_the_first_notification():
    dcqcn = Driver("dcqcn")
    dcqcn.ack(0.0, marked=1)
    dcqcn.before_send(3.9e-6)
    assert dcqcn.gbps == 100
    dcqcn.before_send(4.1e-6)
    # alpha has decayed at 1, 2, 3 and 4 us
    low = 100 * (1 - (1 - G) ** 4 / 2)
    assert dcqcn.gbps == pytest.approx(low)
    dcqcn.before_send(303.9e-6)
    assert dcqcn.gbps == pytest.approx(low)
    dcqcn.before_send(304.1e-6)  # fast recovery towards the target, the rate before the cut
    assert dcqcn.gbps == pytest.approx((low + 100) / 2)


def test_mlx_a_notification_raises_alpha_at_the_next_expiry_only():
    dcqcn = Driver("dcqcn")
    dcqcn.ack(0.0, marked=1)
    dcqcn.ack(0.5e-6, marked=1)
    dcqcn.before_send(3.5e-6)
    assert dcqcn.k.cc[ALPHA] == pytest.approx(((1 - G) + G) * (1 - G) ** 2)


def test_mlx_the_target_stays_while_nothing_was_gained_since_the_last_cut():
    dcqcn = Driver("dcqcn")
    for time in (0.0, 5e-6, 9e-6):
        dcqcn.ack(time, marked=1)
    dcqcn.before_send(12.1e-6)
    assert dcqcn.gbps < 15
    assert dcqcn.k.cc[TARGET] / GBPS == pytest.approx(100)


def test_mlx_recovery_then_additive_then_hyper_steps():
    dcqcn = Driver("dcqcn")
    dcqcn.ack(0.0, marked=1)
    dcqcn.before_send(4.1e-6)
    dcqcn.k.cc[TARGET] = 60 * GBPS
    targets = []
    for event in (1, 2, 3, 4):
        dcqcn.before_send((4.1 + 300 * event) * 1e-6)
        targets.append(dcqcn.k.cc[TARGET] / GBPS)
    assert targets == pytest.approx([60, 60.02, 60.22, 60.42])


def test_rates_never_fall_below_the_lowest_nor_rise_above_the_line():
    dcqcn = Driver("dcqcn")
    for step in range(200):
        dcqcn.ack(step * 1e-6, marked=1)
    assert dcqcn.gbps == pytest.approx(1)
    dcqcn.before_send(1.0)
    assert dcqcn.gbps == pytest.approx(100)
