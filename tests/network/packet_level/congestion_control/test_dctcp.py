"""DCTCP: RFC 8257, steps by hand. One bandwidth-delay product is 150 kB; a packet more may be under way."""

import pytest

from simnet.network.packet_level.congestion_control.dctcp import ALPHA
from tests.network.packet_level.congestion_control.driving import Driver


@pytest.fixture
def dctcp():
    driver = Driver("dctcp")
    driver.k.window, driver.k.next_sequence = 100_000, 100
    driver.ack(0.0, sequence=0)  # the first acknowledgement begins a window of 100 packets
    driver.k.window = 100_000
    return driver


def test_starts_with_a_bandwidth_delay_product():
    assert Driver("dctcp").k.window == 151_000


def test_a_window_without_marks_adds_a_packet(dctcp):
    for sequence in range(1, 100):
        dctcp.ack(1e-6, sequence=sequence)
    assert dctcp.k.window == 100_000
    dctcp.ack(1e-6, sequence=100)
    assert dctcp.k.window == 101_000


def test_a_mark_halves_the_window_at_alpha_1_once_per_round(dctcp):
    dctcp.ack(1e-6, sequence=1, marked=1)
    assert dctcp.k.window == 50_000
    dctcp.ack(1e-6, sequence=2, marked=1)
    dctcp.ack(1e-6, sequence=99, marked=1)
    assert dctcp.k.window == 50_000
    dctcp.k.cc[ALPHA] = 0.5
    dctcp.ack(1e-6, sequence=101, marked=1)  # the window that ends here: all four of its packets marked, F = 1
    assert dctcp.k.window == pytest.approx(50_000 * (1 - (0.5 + 0.5 / 16) / 2))


def test_alpha_follows_the_fraction_of_marked_bytes(dctcp):
    for sequence in range(1, 101):
        dctcp.ack(1e-6, sequence=sequence, marked=int(sequence <= 25))
    # alpha = (1 - 1/16) 1 + 1/16 x 25/100
    assert dctcp.k.cc[ALPHA] == pytest.approx(15 / 16 + 0.25 / 16)


def test_a_loss_halves_and_a_timeout_starts_anew(dctcp):
    dctcp.loss(1e-6, 1000)
    assert dctcp.k.window == 50_000
    dctcp.loss(1e-6, 1000, timeout=True)
    assert dctcp.k.window == 1000
