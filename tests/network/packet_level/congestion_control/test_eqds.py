"""EQDS: unsolicited window, what a sender asks for, and when a receiver may grant. 1.5 BDP are 225 packets."""

import pytest

from simnet.network.packet_level.congestion_control import eqds
from tests.network.packet_level.congestion_control.driving import Driver


@pytest.fixture
def flow():
    driver = Driver("eqds")
    driver.k.total = 1000
    return driver


def test_an_unsolicited_window_then_credit(flow):
    assert flow.k.credit == 225_000
    assert eqds.wanted(flow.k) == 775
    eqds.on_credit(flow.k, 3)
    eqds.on_credit(flow.k, 2)  # overtaken by a later one: says nothing new
    assert flow.k.credit == 228_000


def test_a_receiver_grants_what_is_wanted_and_no_more_than_a_window_ahead(flow):
    assert not eqds.wants_credit(flow.k, flow.params)
    flow.data(0.0, told=775)
    granted = 0
    while eqds.wants_credit(flow.k, flow.params):
        granted = eqds.grant(flow.k)
    assert granted == 1  # 225 unsolicited packets are allowed, one of them has arrived
    for _ in range(10):
        flow.data(0.0, told=775)
    while eqds.wants_credit(flow.k, flow.params):
        granted = eqds.grant(flow.k)
    assert granted == 11


def test_a_trimmed_packet_is_granted_again(flow):
    flow.k.total = 225
    for _ in range(225):
        flow.data(0.0, trimmed=1, told=0)
    granted = 0
    while eqds.wants_credit(flow.k, flow.params):
        granted = eqds.grant(flow.k)
    assert granted == 225


def test_a_message_after_idling_brings_an_unsolicited_window_again(flow):
    flow.k.credit = 0.0
    eqds.wake(flow.k, flow.params, False)  # not idle: one packet, to tell the receiver
    assert flow.k.credit == 1000
    eqds.wake(flow.k, flow.params, True)
    assert flow.k.credit == 225_000
    assert eqds.wanted(flow.k) == 1000 - 225 - 225


def test_a_timeout_allows_a_packet_and_asks_for_what_was_lost(flow):
    flow.k.credit = 0.0
    before = eqds.wanted(flow.k)
    flow.loss(0.0, 5000, timeout=True)
    assert flow.k.credit == 1000
    assert eqds.wanted(flow.k) == before + 5 - 1
