"""InfiniBand's congestion control: rate B / (1 + CCTI), up by marks, down by a timer of 153.6 us."""

import pytest

from tests.network.packet_level.congestion_control.driving import Driver


def test_marks_raise_the_index_and_the_timer_lowers_it():
    ib = Driver("ib_cca")
    assert ib.gbps == 100
    for _ in range(3):
        ib.ack(0.0, marked=1)
    assert ib.gbps == pytest.approx(25)
    ib.before_send(153e-6)
    assert ib.gbps == pytest.approx(25)
    ib.before_send(154e-6)
    assert ib.gbps == pytest.approx(100 / 3)
    ib.before_send(10e-3)
    assert ib.gbps == 100


def test_the_timer_starts_with_the_first_mark_and_runs_on():
    ib = Driver("ib_cca")
    ib.ack(1e-3, marked=1)
    ib.ack(1.1e-3, marked=1)
    ib.before_send(1.1537e-3)
    assert ib.gbps == pytest.approx(50)


def test_the_index_stays_between_its_bounds():
    ib = Driver("ib_cca", limit=4, minimum=1, increase=3)
    assert ib.gbps == pytest.approx(50)
    ib.ack(0.0, marked=1)
    ib.ack(0.0, marked=1)
    assert ib.gbps == pytest.approx(20)
    ib.before_send(1.0)
    assert ib.gbps == pytest.approx(50)


def test_without_marks_nothing_changes():
    ib = Driver("ib_cca")
    ib.ack(0.0)
    assert ib.gbps == 100
