"""HPCC: utilization from INT, steps by hand. T = 10 us, W_init = 125 kB, W_AI = 40 Mb/s x 10 us = 50 B."""

import pytest

from tests.network.packet_level.congestion_control.driving import GBPS, Driver

B = 100 * GBPS
PACKET = 1000  # that may be under way beyond the window


def hop(time: float, sent: float, queue: float, port: int = 3):
    return time, sent, queue, B, port


def started(**params) -> Driver:
    hpcc = Driver("hpcc", base_rtt=10e-6, **params)
    hpcc.k.next_sequence = 100
    hpcc.ack(10e-6, hops=[hop(5e-6, 0, 12_500)])
    return hpcc


def test_starts_at_line_rate_and_only_records_first():
    hpcc = started()
    assert hpcc.gbps == pytest.approx(100)
    assert hpcc.k.window == pytest.approx(125_000 + PACKET)


def test_a_queue_and_a_full_link_shrink_the_window():
    hpcc = started()
    # u = min(12500, 15000) / (B T) + 125000 B / 10 us / B = 0.1 + 1; W = 125000 / (1.1 / 0.95) + 50
    hpcc.ack(20e-6, sequence=1, hops=[hop(15e-6, 125_000, 15_000)])
    window = 125_000 / (1.1 / 0.95) + 50
    assert hpcc.k.window == pytest.approx(window + PACKET)
    assert hpcc.k.rate == pytest.approx(window / 10e-6)


def test_the_average_moves_by_the_time_between_records():
    hpcc = started()
    # a quarter of T passes at u = 1.9: U = 3/4 x 1 + 1/4 x 1.9 = 1.225
    hpcc.ack(20e-6, sequence=1, hops=[hop(7.5e-6, 1.8 * 31_250, 12_500)])
    assert hpcc.k.window == pytest.approx(125_000 / (1.225 / 0.95) + 50 + PACKET)


def test_the_busiest_hop_counts():
    hpcc = Driver("hpcc", base_rtt=10e-6)
    hpcc.k.next_sequence = 100
    hpcc.ack(10e-6, hops=[hop(5e-6, 0, 0, 3), hop(5e-6, 0, 25_000, 4)])
    hpcc.ack(20e-6, sequence=1, hops=[hop(15e-6, 62_500, 0, 3), hop(15e-6, 125_000, 25_000, 4)])
    assert hpcc.k.window == pytest.approx(125_000 / (1.2 / 0.95) + 50 + PACKET)


def test_records_of_another_port_are_not_compared():
    hpcc = started()
    hpcc.ack(20e-6, sequence=1, hops=[hop(15e-6, 125_000, 25_000, port=9)])
    # nothing measured: U falls by nothing, and W = 125000 / (1 / 0.95) + 50
    assert hpcc.k.window == pytest.approx(125_000 * 0.95 + 50 + PACKET)


def test_the_reference_window_follows_once_per_round():
    hpcc = started()
    for sequence in (1, 2, 3):
        time = 15e-6 + 10e-6 * sequence
        hpcc.ack(time, sequence=sequence, hops=[hop(time, 125_000 * (1 + sequence), 12_500)])
    once = 125_000 / (1.1 / 0.95) + 50
    assert hpcc.k.window == pytest.approx(once + PACKET, rel=0.02)
    hpcc.ack(65e-6, sequence=100, hops=[hop(65e-6, 125_000 * 6, 12_500)])  # full round: W becomes the reference
    hpcc.ack(75e-6, sequence=101, hops=[hop(75e-6, 125_000 * 7, 12_500)])
    assert hpcc.k.window < once * 0.9


def test_stages_of_additive_increase_precede_a_multiplicative_one():
    hpcc = started(max_stage=5)
    hpcc.ack(20e-6, sequence=1, hops=[hop(15e-6, 125_000, 12_500)])
    hpcc.ack(30e-6, sequence=100, hops=[hop(25e-6, 250_000, 12_500)])
    low = hpcc.k.window
    hpcc.ack(40e-6, sequence=101, hops=[hop(35e-6, 250_000, 0)])  # an idle link
    assert hpcc.k.window == pytest.approx(low + 50)
