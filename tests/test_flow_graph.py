import numpy as np
import pytest

from simnet.flow_graph import FlowGraphBuilder, distinct_connections, flow_graph


def released_by(graph, flow):
    return graph.successors[graph.successor_start[flow] : graph.successor_start[flow + 1]].tolist()


def test_a_chain_of_three_flows():
    graph = flow_graph(3, [0, 1], [1, 2], [0, 1, 0], [5.0, 6.0, 7.0], before=[0, 1], after=[1, 2])
    assert (graph.flows, graph.connections) == (3, 2)
    assert [released_by(graph, f) for f in range(3)] == [[1], [2], []]
    assert graph.waits.tolist() == [0, 1, 1]
    assert graph.sent().tolist() == [12.0, 6.0, 0.0]
    assert graph.received().tolist() == [0.0, 12.0, 6.0]


def test_dependencies_in_any_order_and_scalars_for_columns():
    graph = flow_graph(2, [0], [1], [0, 0, 0], 2.0, before=[1, 0, 0], after=[2, 2, 1], channel=3, delay=1e-6)
    assert [released_by(graph, f) for f in range(3)] == [[2, 1], [2], []]
    assert graph.waits.tolist() == [0, 1, 2]
    assert graph.channel.tolist() == [3]
    assert graph.size.tolist() == [2.0] * 3
    assert graph.delay.tolist() == [1e-6]
    assert np.isinf(graph.rate_cap).all()


def test_columns_have_the_types_that_kernels_expect():
    graph = flow_graph(2, [0], [1], [0], [1])
    for name in ("source", "destination", "channel", "connection", "successor_start", "successors", "waits"):
        assert getattr(graph, name).dtype == np.int32, name
    for name in ("rate_cap", "delay", "size"):
        assert getattr(graph, name).dtype == np.float64, name


def test_connections_are_told_apart_by_pair_and_channel():
    source, destination, channel, connection = distinct_connections([2, 0, 2, 2], [1, 1, 1, 1], [0, 0, 1, 0])
    assert source.tolist() == [2, 0, 2]
    assert destination.tolist() == [1, 1, 1]
    assert channel.tolist() == [0, 0, 1]
    assert connection.tolist() == [0, 1, 2, 0]


def test_builder_numbers_flows_in_blocks_of_any_shape():
    flows = FlowGraphBuilder(4)
    first = flows.flows([0, 1], [1, 2], 10.0)
    second = flows.flows(np.array([[0], [1]]), np.array([2, 3]), 1.0, channel=5)
    assert first.tolist() == [0, 1]
    assert second.tolist() == [[2, 3], [4, 5]]
    flows.wait(second, first[:, None])
    graph = flows.build()
    assert [released_by(graph, f) for f in (0, 1)] == [[2, 3], [4, 5]]
    # 1 -> 2 is there on two channels
    assert graph.connections == 6
    assert graph.sent().tolist() == [12.0, 12.0, 0.0, 0.0]


def test_a_join_puts_no_bytes_on_the_wire():
    flows = FlowGraphBuilder(3)
    into = flows.flows([1, 2], [0, 0], 4.0)
    joined = flows.join(np.array([0]), into[None, :])
    flows.wait(flows.flows([0, 0], [1, 2], 4.0), joined)
    graph = flows.build()
    assert graph.waits.tolist() == [0, 0, 2, 1, 1]
    assert graph.sent().tolist() == [8.0, 4.0, 4.0]
    assert graph.received().tolist() == [8.0, 4.0, 4.0]


def test_bytes_of_a_rank_to_itself_are_not_on_the_wire():
    graph = flow_graph(2, [0, 0], [0, 1], [0, 1], [100.0, 1.0])
    assert graph.sent().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("ranks", [1, 5])
def test_an_empty_graph(ranks):
    graph = FlowGraphBuilder(ranks).build()
    assert graph.flows == graph.connections == 0
    assert graph.successor_start.tolist() == [0]
    assert graph.sent().tolist() == [0.0] * ranks
