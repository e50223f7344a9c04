"""The flow-level model: sharing, ECMP and spray, changes of links, growth of its arrays."""

import math

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network.flow_level.model import FlowModel
from simnet.network.model import UNREACHABLE, LinkChange
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from tests.network.systems import drain, fat_tree, finish_times, leaf_spine, star

SPRAY = Policies(load_balancing={"kind": "spray"})


def permutation(hosts, rng):
    """Everyone sends to somebody else (a random derangement), 1 MB each."""
    while True:
        target = rng.permutation(hosts)
        if not np.any(target == np.arange(hosts)):
            return flow_graph(hosts, np.arange(hosts), target, np.arange(hosts), 1e6)


def test_incast_shares_the_receivers_link():
    # 1, 2 and 3 MB into one host at 1 GB/s: 3 ms for the first (a third each), then halves, then alone
    graph = flow_graph(4, [0, 1, 2], [3, 3, 3], [0, 1, 2], [1e6, 2e6, 3e6])
    times = finish_times(FlowModel(Scenario(star(4), seed=1)), graph, [1, 2, 3, 4])
    assert times == pytest.approx([3e-3 + 2e-6, 5e-3 + 2e-6, 6e-3 + 2e-6, 6e-3 + 2e-6])


def test_mean_rate_of_a_random_permutation_under_ecmp():
    # k=8 fat tree, max-min rates, random derangements: mean 0.477 of line rate, standard deviation of one about 0.018
    topology = fat_tree(8)
    means = []
    for seed in range(24):
        graph = permutation(128, np.random.default_rng(seed))
        network = FlowModel(Scenario(topology, seed=seed))
        network.start(graph, np.array(topology.gpus), 0, 0.0)
        network.advance(1e-9)
        rates = network._slots.rows.rate[network._slots.rows.status == 1]
        assert len(rates) == 128
        means.append(rates.mean() / 1e9)
    assert np.mean(means) == pytest.approx(0.477, rel=0.03)


def test_spray_gives_a_permutation_the_full_rate():
    topology = fat_tree(8)
    graph = permutation(128, np.random.default_rng(0))
    times = finish_times(FlowModel(Scenario(topology, seed=1, policies=SPRAY)), graph, topology.gpus)
    assert times.max() <= 1e-3 + 6e-6 + 1e-12


def test_a_connection_keeps_its_path_and_another_communicator_may_take_another():
    topology = leaf_spine(2, 16, 1)
    graph = flow_graph(2, [0], [1], [0], 1e6)
    network = FlowModel(Scenario(topology, seed=3))

    def links_used(communicator):
        before = network.report().bytes.copy()
        finish_times(network, graph, topology.gpus, start=network.report().time, communicator=communicator)
        return tuple(np.flatnonzero(network.report().bytes - before))

    paths = set()
    for communicator in range(12):
        first, again = links_used(communicator), links_used(communicator)
        assert first == again
        paths.add(first)
    assert len(paths) > 3


def test_a_rate_change_acts_on_flows_under_way():
    # 2 MB at 1 GB/s; after 1 ms the link drops to 0.25 GB/s: 1 ms + 4 ms
    topology = star(2)
    changes = [LinkChange(1e-3, link, 0.25e9) for link in range(len(topology.links))]
    network = FlowModel(Scenario(topology, seed=1, changes=changes))
    assert finish_times(network, flow_graph(2, [0], [1], [0], 2e6), [1, 2]) == pytest.approx([5e-3 + 2e-6] * 2)


def test_a_failed_spine_moves_flows_to_the_other_and_back():
    topology = leaf_spine(2, 2, 2)
    spine = topology.id_of("spine0")
    links = [i for i, k in enumerate(topology.links) if spine in (k.source, k.destination)]
    # two flows across on two spines at full rate; from 1 ms on they share the one that is left
    changes = [LinkChange(1e-3, link, 0.0) for link in links]
    graph = flow_graph(4, [0, 1], [2, 3], [0, 1], 2e6)
    seed = next(s for s in range(50) if _ends(topology, graph, s, [])[2] < 2.1e-3)
    assert _ends(topology, graph, seed, changes) == pytest.approx([3e-3 + 4e-6] * 4)
    back = [*changes, *(LinkChange(2e-3, link, 1e9) for link in links)]
    # 1 ms at full rate, 1 ms at half, 0.5 ms at full again
    assert _ends(topology, graph, seed, back) == pytest.approx([2.5e-3 + 4e-6] * 4)


def _ends(topology, graph, seed, changes):
    return finish_times(FlowModel(Scenario(topology, seed=seed, changes=changes)), graph, topology.gpus)


def test_a_flow_waits_for_the_only_link_to_return():
    topology = star(2)
    down = [LinkChange(0.5e-3, i, 0.0) for i in range(2)]
    up = [LinkChange(3e-3, i, 1e9) for i in range(2)]
    times = finish_times(
        FlowModel(Scenario(topology, seed=1, changes=down + up)), flow_graph(2, [0], [1], [0], 1e6), [1, 2]
    )
    assert times == pytest.approx([3.5e-3 + 2e-6] * 2)


def test_a_flow_cut_off_for_ever_is_reported_when_it_happens():
    topology = star(2)
    network = FlowModel(Scenario(topology, seed=1, changes=[LinkChange(0.5e-3, i, 0.0) for i in range(2)]))
    network.start(flow_graph(2, [0], [1], [0], 1e6), np.array([1, 2]), 0, 0.0)
    (lost,) = network.advance(math.inf)
    assert (lost.outcome, lost.detail) == (UNREACHABLE, "no path from h0 to h1")
    assert lost.time == pytest.approx(0.5e-3)


def test_a_thousand_simultaneous_starts_are_solved_once():
    hosts = 34
    pairs = [(i, j) for i in range(hosts) for j in range(hosts) if i != j]
    graph = flow_graph(hosts, [i for i, _ in pairs], [j for _, j in pairs], np.arange(len(pairs)), 1e6)
    network = FlowModel(Scenario(star(hosts), seed=1))
    finish_times(network, graph, np.arange(1, hosts + 1))
    assert network.report().counts["solves"] == 2  # their common start, their common end


def test_flows_added_at_the_same_instant_do_not_cost_a_solve_each():
    network = FlowModel(Scenario(star(8), seed=1))
    for i in range(4):
        network.start(flow_graph(2, [0], [1], [0], 1e6), np.array([2 * i + 1, 2 * i + 2]), i, 0.0)
    drain(network)
    assert network.report().counts["solves"] == 2


def test_regions_of_finished_graphs_are_used_again():
    network = FlowModel(Scenario(star(4), seed=1))
    graph = flow_graph(4, [0, 1], [2, 3], [0, 1], 1e6)
    for step in range(50):
        finish_times(network, graph, [1, 2, 3, 4], start=step * 1.0)
    assert len(network._graphs.flows) <= 4
    assert network._connected == 2


def test_recorded_flows_have_start_and_delivery():
    network = FlowModel(Scenario(star(3), seed=1, record=True))
    graph = flow_graph(3, [0, 1], [1, 2], [0, 1], [1e6, 2e6], before=[0], after=[1])
    finish_times(network, graph, [1, 2, 3])
    flows = network.report().flows
    assert flows["start"] == pytest.approx([0.0, 1e-3 + 2e-6])
    assert flows["end"] == pytest.approx([1e-3 + 2e-6, 3e-3 + 4e-6])
    assert flows["size"].tolist() == [1e6, 2e6]
    assert flows["source"].tolist() == [1, 2]


def test_spray_with_longer_routes_than_any_before_keeps_live_flows():
    # a short flow is under way when one with more links arrives: the entries are laid out anew
    topology = leaf_spine(2, 8, 2)
    network = FlowModel(Scenario(topology, seed=1, policies=SPRAY))
    hosts = topology.gpus
    network.start(flow_graph(2, [0], [1], [0], 4e6), np.array([hosts[0], hosts[1]]), 0, 0.0)
    network.advance(1e-3)
    network.start(flow_graph(2, [0], [1], [0], 1e6), np.array([hosts[0], hosts[2]]), 1, 1e-3)
    ends = {}
    for completion in drain(network):
        ends[completion.graph] = completion.time
    # they share the sender's link from 1 ms to 3 ms
    assert ends == pytest.approx({0: 5e-3 + 2e-6, 1: 3e-3 + 4e-6})
