import numpy as np
import pytest

from simnet.workload.collectives import trees
from simnet.workload.collectives.double_binary_tree import double_tree
from tests.workload.collectives.execution import lowered
from tests.workload.systems import group, servers, star

SIZES = range(1, 40)


def depth(parent, rank):
    return 0 if parent[rank] == trees.ROOT else 1 + depth(parent, parent[rank])


@pytest.mark.parametrize("n", SIZES)
def test_both_trees_are_binary_and_shallow(n):
    for parent in double_tree(list(range(n))):
        assert (parent == trees.ROOT).sum() == 1
        assert np.bincount(parent[parent >= 0], minlength=n).max(initial=0) <= 2
        assert max(depth(parent, rank) for rank in range(n)) <= n.bit_length() - 1


@pytest.mark.parametrize("n", SIZES)
def test_a_rank_is_an_inner_node_of_one_tree_at_most(n):
    first, second = (set(parent[parent >= 0].tolist()) for parent in double_tree(list(range(n))))
    assert not first & second
    assert len(first) + len(second) == max(n - 1, 0) if n % 2 else len(first) + len(second) == n


def test_trees_of_five_ranks():
    first, second = double_tree([10, 11, 12, 13, 14])
    # in order: 11 over 10 and 12, 13 over 11 and 14; shifted by one for the other
    assert first[10:].tolist() == [11, 13, 11, trees.ROOT, 13]
    assert second[10:].tolist() == [14, 12, 14, 12, trees.ROOT]
    assert set(first[:10]) == {trees.OUTSIDE}


@pytest.mark.parametrize("n", range(2, 20))
def test_a_root_above_sends_a_half_to_each_tree(n):
    parents = double_tree(list(range(1, n)), above=0)
    for parent in parents:
        assert parent[0] == trees.ROOT
        assert (parent == 0).sum() == 1
        assert all(depth(parent, rank) >= 1 for rank in range(1, n))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 16, 17])
def test_no_rank_sends_or_receives_more_than_twice_the_size(n):
    graph = lowered(group(star(n)), "all_reduce", "double_binary_tree", 3e6)
    assert graph.sent().max() <= 2 * 3e6 * (1 + 1e-12)
    assert graph.received().max() <= 2 * 3e6 * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
@pytest.mark.parametrize("n", [3, 4, 9, 16])
def test_full_bandwidth_of_rooted_kinds(kind, n):
    # full bandwidth: S into (out of) everybody and no more than S out of (into) anybody
    graph = lowered(group(star(n)), kind, "double_binary_tree", 3e6, root=1)
    assert max(graph.sent().max(), graph.received().max()) == pytest.approx(3e6)


def test_every_nic_of_a_server_takes_part():
    there = group(servers(4, 4))
    graph = lowered(there, "all_reduce", "double_binary_tree", 8e6)
    away = there.topology.devices
    leaving = {
        int(a)
        for a, b in zip(graph.source, graph.destination)
        if away[there.devices[a]].server != away[there.devices[b]].server
    }
    assert leaving == set(range(8))


def test_a_chain():
    assert trees.chain([2, 0, 3]).tolist() == [2, trees.OUTSIDE, trees.ROOT, 0]
