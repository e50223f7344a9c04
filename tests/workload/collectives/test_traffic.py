"""Tables of flows on a network: start times, and what waits for what."""

import numpy as np
import pytest

from simnet.network.flow_level.model import FlowModel
from simnet.network.scenario import Scenario
from simnet.workload.collectives import Operation, lower
from simnet.workload.traffic import traffic
from tests.network.systems import drain
from tests.workload.systems import FABRIC, LATENCY, group, star

S = 1e6
ALONE = S / FABRIC + 2 * LATENCY


def times(table, hosts=4):
    """Start and end [s] of every flow among hosts of one switch."""
    there = group(star(hosts))
    graph = lower(Operation("traffic", S, tuple(range(hosts)), "scheduled", traffic=table), there)
    model = FlowModel(Scenario(there.topology, 1, record=True))
    model.start(graph, np.array(there.devices), 0, 0.0)
    drain(model)
    flows = model.report().flows
    return flows["start"], flows["end"]


def test_flows_start_at_their_times():
    start, end = times(traffic([0, 1, 2], [1, 2, 3], S, [0.0, 1e-3, 5e-4]))
    assert start == pytest.approx([0.0, 1e-3, 5e-4])
    assert end == pytest.approx(start + ALONE)


def test_flows_of_a_pair_start_on_their_own():
    start, end = times(traffic([0, 0], [1, 1], S, [0.0, 1e-3]))
    assert start == pytest.approx([0.0, 1e-3])
    assert end == pytest.approx(start + ALONE)


def test_a_flow_waits_for_an_arrival_and_then_for_its_own_start():
    start, _ = times(traffic([0, 1], [1, 2], S, [0.0, 1e-4], before=[0], after=[1]))
    assert start == pytest.approx([0.0, ALONE + 1e-4])


def test_a_message_follows_on_its_connection_without_a_gap():
    _, end = times(traffic([0, 0], [1, 1], S, channel=0, before=[0], after=[1]))
    assert end == pytest.approx([ALONE, S / FABRIC + ALONE])


def test_some_of_the_flows_before_are_enough():
    """Flow 3 needs one of three, flow 4 two of them."""
    table = traffic(
        [0, 1, 2, 3, 3], [1, 2, 3, 0, 2], S, [0.0, 1e-3, 2e-3, 0.0, 0.0],
        before=[0, 1, 2, 0, 1, 2], after=[3, 3, 3, 4, 4, 4], needed=[0, 0, 0, 1, 2],
    )  # fmt: skip
    start, _ = times(table)
    assert start[3:] == pytest.approx([ALONE, 1e-3 + ALONE])
