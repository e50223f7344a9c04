"""Every network model: closed forms for systems without contention, conservation, determinism."""

import math

import numpy as np
import pytest

from simnet.flow_graph import flow_graph
from simnet.network import NETWORK_MODELS, Scenario, network_model
from simnet.network.model import UNREACHABLE, LinkChange
from simnet.topology.topology import Topology
from tests.network.systems import drain, finish_times, leaf_spine, star

FLUID = [name for name in NETWORK_MODELS if name != "packet"]  # the packet level has closed forms of its own


@pytest.fixture(params=FLUID)
def model(request):
    return network_model(request.param)


@pytest.fixture(params=NETWORK_MODELS)
def any_model(request):
    return network_model(request.param)


def one_flow(size):
    return flow_graph(2, [0], [1], [0], size)


def test_one_flow_takes_latencies_plus_size_over_the_narrowest_rate(model):
    topology = Topology("line")
    a, switch, b = (topology.add_device(n, k) for n, k in [("a", "gpu"), ("s", "switch"), ("b", "gpu")])
    topology.connect(a, switch, 10e9, 3e-6, "ethernet")
    topology.connect(switch, b, 4e9, 2e-6, "ethernet")
    times = finish_times(model(Scenario(topology, seed=1)), one_flow(8e6), [a, b], start=1e-3)
    assert times == pytest.approx([1e-3 + 5e-6 + 8e6 / 4e9] * 2, rel=1e-12)


def test_a_flow_of_no_bytes_takes_the_latency(model):
    assert finish_times(model(Scenario(star(2), seed=1)), one_flow(0.0), [1, 2]) == pytest.approx([2e-6] * 2)


def test_a_flow_to_oneself_takes_no_time(any_model):
    graph = flow_graph(1, [0], [0], [0], 1e6)
    assert finish_times(any_model(Scenario(star(2), seed=1)), graph, [1], start=2.0) == pytest.approx([2.0])


def test_a_graph_without_flows_completes_at_once(any_model):
    graph = flow_graph(3, [], [], [], [])
    assert finish_times(any_model(Scenario(star(3), seed=1)), graph, [1, 2, 3], start=0.5) == pytest.approx([0.5] * 3)


def test_flows_start_when_what_they_wait_for_has_been_delivered(model):
    # 0 -> 1 -> 2 -> 3, each 1 MB: three times latency and size/rate
    graph = flow_graph(4, [0, 1, 2], [1, 2, 3], [0, 1, 2], 1e6, before=[0, 1], after=[1, 2])
    hop = 2e-6 + 1e-3
    times = finish_times(model(Scenario(star(4), seed=1)), graph, [1, 2, 3, 4])
    assert times == pytest.approx([hop, 2 * hop, 3 * hop, 3 * hop], rel=1e-12)


def test_messages_of_a_connection_follow_without_a_gap(model):
    # three messages of one connection, each behind the one before: the latency occurs once
    graph = flow_graph(2, [0], [1], [0, 0, 0], 1e6, before=[0, 1], after=[1, 2])
    assert finish_times(model(Scenario(star(2), seed=1)), graph, [1, 2]) == pytest.approx([3e-3 + 2e-6] * 2, rel=1e-12)


def test_delay_of_a_connection_passes_before_each_of_its_flows(model):
    graph = flow_graph(2, [0], [1], [0, 0], 1e6, before=[0], after=[1], delay=5e-6)
    assert finish_times(model(Scenario(star(2), seed=1)), graph, [1, 2]) == pytest.approx(
        [2e-3 + 1e-5 + 2e-6] * 2, rel=1e-12
    )


def test_rate_cap_of_a_connection(model):
    graph = flow_graph(2, [0], [1], [0], 1e6, rate_cap=0.25e9)
    assert finish_times(model(Scenario(star(2), seed=1)), graph, [1, 2]) == pytest.approx([4e-3 + 2e-6] * 2, rel=1e-12)


def test_ring_all_reduce_on_a_switch_is_2_n_minus_1_steps(model):
    n, size = 8, 8e6
    rank = np.arange(n)
    steps = 2 * (n - 1)
    before = np.arange(n * (steps - 1))
    after = (before // n + 1) * n + (before + 1) % n
    graph = flow_graph(n, rank, (rank + 1) % n, np.tile(rank, steps), size / n, before, after)
    times = finish_times(model(Scenario(star(n), seed=1)), graph, rank + 1)
    assert times == pytest.approx([steps * (size / n / 1e9 + 2e-6)] * n, rel=1e-9)


def test_a_report_on_the_way_tells_what_each_rank_has_sent_and_got(any_model):
    # 0 sends 1 MB to 1, then 1 to 2, then 2 to 4; what 0 keeps counts for nobody, and 3 takes no part. Another graph is
    # through when half of the second has left
    graph = flow_graph(5, [0, 1, 2, 0], [1, 2, 4, 0], [0, 1, 2, 3], 1e6, before=[0, 1], after=[1, 2])
    network = any_model(Scenario(star(7), seed=1))
    network.start(graph, np.arange(1, 6), communicator=0, now=0.0)
    clock = network.start(flow_graph(2, [0], [1], [0], 1.5e6), np.array([6, 7]), communicator=1, now=0.0)
    while clock in network.report().under_way:
        assert network.advance(math.inf)
    on_the_way = network.report().under_way[0]
    assert on_the_way.sent == pytest.approx([1e6, 0.5e6, 0, 0, 0], abs=2e4)
    assert on_the_way.received == pytest.approx([0, 1e6, 0.5e6, 0, 0], abs=2e4)
    drain(network)
    assert not network.report().under_way


@pytest.mark.parametrize("then", [0.0, 1e-3])
def test_what_starts_when_a_link_fails_never_meets_it(any_model, then):
    topology = leaf_spine(2, 2, 1)
    failed = [i for i in range(len(topology.links)) if "spine0" in topology.link_name(i)]
    network = any_model(Scenario(topology, seed=1, changes=[LinkChange(then, link, 0.0) for link in failed]))
    graph = flow_graph(2, [0] * 8, [1] * 8, np.arange(8), 1e5, channel=np.arange(8))
    finish_times(network, graph, topology.gpus, start=then)
    report = network.report()
    assert report.bytes[failed].sum() == 0
    assert report.bytes.sum() > 0
    assert not report.ports or report.ports["dropped"].sum() == 0


def test_what_begins_later_has_sent_nothing(any_model):
    network = any_model(Scenario(star(4), seed=1))
    first, last = (flow_graph(2, [0], [1], [0], size, delay=delay) for size, delay in ((1e3, 0.0), (1e6, 1.0)))
    for now in (0.0, 5.0):  # the second time in the rows of the first
        late = network.start(last, np.array([1, 2]), communicator=0, now=now)
        network.start(first, np.array([3, 4]), communicator=1, now=now)
        network.advance(math.inf)
        assert not network.report().under_way[late].sent.any()
        drain(network)


def test_bytes_of_links_are_conserved(model):
    topology = leaf_spine(3, 2, 2)
    hosts = topology.gpus
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    sizes = np.arange(1, len(pairs) + 1) * 1e4
    graph = flow_graph(6, [i for i, _ in pairs], [j for _, j in pairs], np.arange(len(pairs)), sizes)
    network = model(Scenario(topology, seed=7))
    finish_times(network, graph, hosts)
    report = network.report()
    assert report.bins.sum(axis=1) == pytest.approx(report.bytes, rel=1e-9)
    for host, rank in zip(hosts, range(6)):
        out = sum(s for s, (i, _) in zip(sizes, pairs) if i == rank)
        into = sum(s for s, (_, j) in zip(sizes, pairs) if j == rank)
        leaving = [k for k, link in enumerate(topology.links) if link.source == host]
        entering = [k for k, link in enumerate(topology.links) if link.destination == host]
        assert report.bytes[leaving].sum() == pytest.approx(out, rel=1e-9)
        assert report.bytes[entering].sum() == pytest.approx(into, rel=1e-9)


def test_nothing_completes_beyond_the_time_asked_for(model):
    network = model(Scenario(star(2), seed=1))
    network.start(one_flow(1e6), np.array([1, 2]), 0, 0.0)
    assert network.advance(1e-4) == []
    assert network.next_time > 0.0
    assert [c.time for c in drain(network)] == pytest.approx([1e-3 + 2e-6] * 2)


def test_twice_the_same(any_model):
    topology = leaf_spine(4, 4, 4)

    def times():
        rng = np.random.default_rng(3)
        order = rng.permutation(16)
        graph = flow_graph(16, np.arange(16), order, np.arange(16), 1e6 * rng.integers(1, 9, 16))
        return finish_times(any_model(Scenario(topology, seed=5)), graph, topology.gpus).tolist()

    assert times() == times()


def test_many_graphs_at_once_are_told_apart(model):
    network = model(Scenario(star(20), seed=1))
    numbers = [network.start(one_flow((i + 1) * 1e6), np.array([2 * i + 1, 2 * i + 2]), i, 0.0) for i in range(10)]
    ends = {}
    for completion in drain(network):
        ends.setdefault(completion.graph, []).append(completion.time)
    assert list(ends) == numbers
    assert [max(t) for t in ends.values()] == pytest.approx([(i + 1) * 1e-3 + 2e-6 for i in range(10)], rel=1e-12)


def test_a_flow_without_a_path_is_reported_by_name(model):
    topology = star(2)
    topology.add_device("island", "gpu")
    network = model(Scenario(topology, seed=1))
    network.start(one_flow(1e6), np.array([1, 3]), 0, 0.0)
    lost = [c for c in drain_some(network) if c.outcome == UNREACHABLE]
    assert lost[0].detail == "no path from h0 to island"


def drain_some(network):
    """Completions up to the first that reports a lost flow."""
    done = []
    while not any(c.outcome == UNREACHABLE for c in done):
        more = network.advance(math.inf)
        assert more, "the model must not fall silent with a flow under way"
        done += more
    return done


def test_a_slower_link_slows_what_starts_after_the_change(model):
    topology = star(2)
    uplink = next(i for i, k in enumerate(topology.links) if k.source == 1)
    network = model(Scenario(topology, seed=1, changes=[LinkChange(1e-3, uplink, 0.5e9)]))
    network.advance(2e-3)
    assert finish_times(network, one_flow(1e6), [1, 2], start=2e-3) == pytest.approx([2e-3 + 2e-3 + 2e-6] * 2)
