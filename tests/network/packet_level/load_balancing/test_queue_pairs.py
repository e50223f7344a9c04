"""Queue pairs: what a graph becomes, and what is recorded of it."""

import numpy as np

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.load_balancing.queue_pairs import gathered, spread


def edges(graph):
    before = np.repeat(np.arange(graph.flows), np.diff(graph.successor_start))
    return sorted(zip(before.tolist(), graph.successors.tolist()))


# two flows on connection 0, then one on connection 1 that waits for the second
CHAIN = flow_graph(3, [0, 1], [1, 2], [0, 0, 1], 10.0, before=[0, 1], after=[1, 2])


def test_split_messages_wait_for_all_parts_and_follow_part_by_part_on_their_queue_pair():
    graph = spread(CHAIN, 2, "split")
    assert graph.size.tolist() == [5.0] * 6
    assert graph.connection.tolist() == [0, 1, 0, 1, 2, 3]
    assert graph.source.tolist() == [0, 0, 1, 1]
    assert edges(graph) == [(0, 2), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5)]
    assert graph.waits.tolist() == [0, 0, 1, 1, 2, 2]


def test_round_robin_messages_stay_whole_and_do_not_wait_for_other_queue_pairs():
    graph = spread(CHAIN, 2, "round_robin")
    assert graph.size.tolist() == [10.0] * 3
    assert graph.connection.tolist() == [0, 1, 2]
    assert edges(graph) == [(1, 2)]


def test_joins_stay_whole():
    graph = flow_graph(2, [0, 1, 1], [1, 1, 0], [0, 1, 2], 6.0, before=[0, 1], after=[1, 2])
    parts = spread(graph, 3, "split")
    assert parts.size.tolist() == [2.0] * 3 + [6.0] + [2.0] * 3
    assert edges(parts) == [(0, 3), (1, 3), (2, 3), (3, 4), (3, 5), (3, 6)]


def test_bytes_and_volumes_are_conserved():
    for messages in ("split", "round_robin"):
        graph = spread(CHAIN, 4, messages)
        assert graph.sent().tolist() == CHAIN.sent().tolist()
        assert graph.received().tolist() == CHAIN.received().tolist()


def test_recorded_parts_become_messages_again():
    columns = {
        "graph": np.repeat([7], 6),
        "source": np.array([0, 0, 0, 0, 1, 1]),
        "destination": np.array([1, 1, 1, 1, 2, 2]),
        "size": np.full(6, 5.0),
        "start": np.array([0.0, 1, 2, 3, 6, 5]),
        "end": np.array([4.0, 3, 5, 6, 8, 9]),
    }
    flows = gathered(columns, {7: spread(CHAIN, 2, "split")})
    assert flows["size"].tolist() == [10.0, 10.0, 10.0]
    assert flows["start"].tolist() == [0.0, 2.0, 5.0]
    assert flows["end"].tolist() == [4.0, 6.0, 9.0]
    assert flows["source"].tolist() == [0, 0, 1]
