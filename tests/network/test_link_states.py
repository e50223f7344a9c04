"""Links while their changes come due."""

import math

from simnet.network.link_states import LinkStates
from simnet.network.model import LinkChange
from simnet.network.scenario import Scenario
from tests.network.systems import leaf_spine


def test_changes_are_made_in_the_order_of_time_and_routes_renewed_where_links_come_or_go():
    topology = leaf_spine(2, 2, 1)
    a, b = topology.gpus
    slower, failed, back = LinkChange(1.0, 0, 5e8), LinkChange(2.0, 0, 0.0), LinkChange(3.0, 0, 1e9)
    scenario = Scenario(topology, 1, changes=[back, failed, slower])
    states = LinkStates(scenario)
    assert states.next_change == 1.0
    assert states.apply(0.5) == ([], False)
    assert states.router is scenario.router

    assert states.apply(1.0) == ([slower], False)
    assert (states.rates[0], states.next_change) == (5e8, 2.0)
    assert states.router is scenario.router  # a slower link changes no path

    assert states.apply(2.5) == ([failed], True)
    assert states.rates[0] == 0.0
    assert all(0 not in states.router.path(a, b, key=key) for key in range(20))
    assert any(0 in scenario.router.path(a, b, key=key) for key in range(20))

    assert states.apply(math.inf) == ([back], True)
    assert states.next_change == math.inf
    assert any(0 in states.router.path(a, b, key=key) for key in range(20))


def test_a_link_that_fails_and_returns_at_once_renews_routes_once():
    topology = leaf_spine(2, 2, 1)
    states = LinkStates(Scenario(topology, 1, changes=[LinkChange(1.0, 0, 0.0), LinkChange(1.0, 0, 1e9)]))
    changes, rerouted = states.apply(1.0)
    assert [change.rate for change in changes] == [0.0, 1e9]
    assert rerouted
    assert (states.rates == topology.rates).all()
