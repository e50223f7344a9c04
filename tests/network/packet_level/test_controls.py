"""Congestion controls in the network, beyond the figures of `simnet validate network`. 100 Gb/s and 1 us per link."""

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network import CONGESTION_CONTROLS, Scenario
from simnet.network.packet_level.model import PacketModel
from simnet.validation.network.incasts import ABOVE_BOUND
from simnet.validation.network.measuring import ends
from simnet.validation.network.systems import B, fat_tree, incast, policies, star
from tests.network.systems import finish_times
from tests.network.systems import star as far_star


def test_every_control_is_in_the_incasts_of_the_validation():
    assert set(ABOVE_BOUND) == set(CONGESTION_CONTROLS)


@pytest.mark.parametrize("kind", ABOVE_BOUND)
def test_no_incast_beats_the_link(kind):
    model = incast(fat_tree(4), range(1, 16), 2e5, policies(kind))[0].model
    wire = 2e5 + np.ceil(2e5 / 4096) * model.classes[0].header
    assert ends(model).max() > 15 * wire / B


def test_ib_cca_loses_nothing_and_marks_at_the_root_of_congestion():
    started, link = incast(fat_tree(4), range(1, 16), 2e5, policies("ib_cca"))
    ends(started.model)
    ports = started.model.report().ports
    assert ports["dropped"].sum() == ports["pauses"].sum() == 0
    assert ports["marked"][link] > 0.8 * ports["marked"].sum()


def test_rates_alone_fill_the_buffer_to_where_pauses_begin_and_lose_nothing():
    started, _ = incast(fat_tree(8), range(16, 48), 1e6, policies("dcqcn"))
    ends(started.model)
    ports = started.model.report().ports
    assert ports["pauses"].sum() > 0
    assert ports["dropped"].sum() == 0


def test_senders_that_wait_for_their_turn_do_not_time_out():
    # 600 senders are granted a packet each in 200 us, longer than the timeout; nothing is in flight meanwhile
    started, _ = incast(star(601), range(1, 601), 1e5, policies("eqds"))
    assert ends(started.model).max() < 1.07 * 600 * (1e5 + 25 * 64) / B
    assert started.model.report().transport["timeouts"] == 0


def test_eqds_messages_after_one_another_on_a_connection():
    # the second waits for the first to arrive, begins with an unsolicited window again, and has credit for the rest
    topology = star(2)
    model = PacketModel(Scenario(topology, 1, policies("eqds")))
    graph = flow_graph(2, [0], [1], [0, 0], 2e6, [0], [1])
    alone = 489 * 4160 / B
    assert finish_times(model, graph, topology.gpus).max() == pytest.approx(2 * alone, rel=0.05)
    assert model.report().transport["timeouts"] == 0


@pytest.mark.parametrize("kind", CONGESTION_CONTROLS)
def test_no_timeout_fires_for_the_length_of_the_way(kind):
    # a round trip of 40 ms; what is lost or late makes timeouts fire, and here nothing is
    topology = far_star(2, latency=1e-2)
    model = PacketModel(Scenario(topology, 1, policies(kind)))
    finish_times(model, flow_graph(2, [0], [1], [0], 1e6), topology.gpus)
    assert model.report().transport["timeouts"] == 0
