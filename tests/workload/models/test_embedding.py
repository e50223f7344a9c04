import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet import reader
from simnet.errors import InputError
from simnet.workload.models.embedding import EmbeddingAllToAll, owner_shares

RANKS = 4


def build(**changes):
    return EmbeddingAllToAll(**{"batch": 1000, "tables": 10, "rows": 1000, "dimension": 16, **changes})


def task(graph, name, rank=0):
    return next(i for i, n in enumerate(graph.name) if graph.names[n] == name and graph.rank[i] == rank)


# -- popularity -------------------------------------------------------------------------------------------


def test_rows_are_dealt_in_the_order_of_their_popularity():
    weights = 1 / np.arange(1, 7)
    expected = np.array([weights[0] + weights[4], weights[1] + weights[5], weights[2], weights[3]]) / weights.sum()
    np.testing.assert_allclose(owner_shares(6, 4, 1.0), expected)


@pytest.mark.parametrize("skew", [0.5, 1.0, 1.5])
def test_the_tail_of_a_large_table_is_an_integral(skew):
    rows, ranks = 3_000_000, 7
    weights = np.arange(1, rows + 1, dtype=np.float64) ** -skew
    exact = np.bincount(np.arange(rows) % ranks, weights) / weights.sum()
    np.testing.assert_allclose(owner_shares(rows, ranks, skew), exact, rtol=1e-5)


@given(st.integers(1, 10**9), st.integers(1, 64), st.floats(0, 10))
@settings(max_examples=50, deadline=None)
def test_shares_add_up_and_fall_from_rank_to_rank(rows, ranks, skew):
    shares = owner_shares(rows, ranks, skew)
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(shares) <= 1e-12).all()


@given(st.lists(st.floats(0, 4), min_size=2, max_size=6, unique=True))
@settings(max_examples=30, deadline=None)
def test_more_skew_makes_the_hottest_rank_hotter(skews):
    hottest = [owner_shares(100_000, 8, skew)[0] for skew in sorted(skews)]
    assert (np.diff(hottest) >= -1e-12).all()


def test_without_skew_all_ranks_are_alike():
    assert owner_shares(10, 4, 0.0).tolist() == [0.25] * 4


# -- traffic ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision_bytes", [("fp32", 4), ("fp16", 2)])
def test_without_skew_every_pair_exchanges_the_same(precision_bytes):
    precision, element = precision_bytes
    graph = build(precision=precision).build(RANKS)
    forward, backward, _ = graph.operations
    # a quarter of the 1000 x 10 vectors of 16 elements comes from each rank
    assert forward.kind == "all_to_all_v"
    np.testing.assert_allclose(forward.matrix, 1000 * 10 / 4 * 16 * element)
    np.testing.assert_allclose(backward.matrix, forward.matrix)
    assert forward.size == pytest.approx(1000 * 10 * 16 * element)


def test_the_hot_rank_sends_most_forward_and_is_the_target_backward():
    forward, backward, _ = build(skew=1.2).build(RANKS).operations
    sent = np.array(forward.matrix)
    assert (np.diff(sent.sum(axis=1)) < 0).all()  # rank 0 sends most, rank 3 least
    assert np.ptp(sent.sum(axis=0)) == pytest.approx(0, abs=1e-6)  # everybody gets the same
    np.testing.assert_allclose(np.array(backward.matrix), sent.T)  # gradients go the way back
    assert forward.size == pytest.approx(sent[0].sum())  # the largest buffer
    # with one row per bag the total is what it is without skew
    even, _, _ = build().build(RANKS).operations
    assert sent.sum() == pytest.approx(np.array(even.matrix).sum())


@given(st.lists(st.floats(0, 3), min_size=2, max_size=4, unique=True))
@settings(max_examples=20, deadline=None)
def test_more_skew_makes_a_deeper_incast(skews):
    received = [np.array(build(skew=s).build(RANKS).operations[1].matrix).sum(axis=0)[0] for s in sorted(skews)]
    assert (np.diff(received) >= -1e-6).all()


def test_larger_bags_are_summed_up_by_the_owners():
    few, many = build(pooling=2), build(pooling=200)
    # p = 1/4: an owner has part of a bag of two with probability 1 - (3/4)^2
    np.testing.assert_allclose(few.sums(RANKS), 1000 * 10 * (1 - 0.75**2))
    np.testing.assert_allclose(few.lookups(RANKS), RANKS * 1000 * 10 * 2 / 4)
    # in the limit every owner sends a sum for every bag: a reduce-scatter
    np.testing.assert_allclose(many.sums(RANKS), 1000 * 10, rtol=1e-9)


def test_lookups_are_memory_bound_and_hot_ranks_read_more():
    graph = build(skew=1.0).build(RANKS)
    memory = [graph.memory[task(graph, "lookup", rank)] for rank in range(RANKS)]
    assert memory == sorted(memory, reverse=True)
    assert memory[0] > memory[-1]
    # 4 x 1000 samples x 10 rows read, as many vectors written, 16 fp32 elements each
    assert sum(memory) == pytest.approx(2 * 4 * 1000 * 10 * 16 * 4)


# -- dense part -------------------------------------------------------------------------------------------


def test_dense_parameters_are_those_of_mlperf():
    graph = EmbeddingAllToAll(batch=64).build(2)
    dense = graph.operations[2]
    assert (dense.kind, dense.size) == ("all_reduce", 2_368_897 * 4)


def test_flops_by_hand():
    graph = build(bottom=[8], top=[5, 1], dense_features=3).build(RANKS)
    bottom = 3 * 8 + 8 * 16
    inputs = 16 + 11 * 10 // 2  # one dense vector and the products of 11 vectors
    top = inputs * 5 + 5 * 1
    assert graph.flops[task(graph, "bottom forward")] == 2 * 1000 * bottom
    assert graph.flops[task(graph, "top forward")] == 2 * 1000 * top
    assert graph.flops[task(graph, "interaction forward")] == 2 * 1000 * 11**2 * 16
    for part in ("bottom", "top", "interaction"):
        assert graph.flops[task(graph, f"{part} backward")] == 2 * graph.flops[task(graph, f"{part} forward")]


def test_what_waits_for_what():
    graph = build().build(RANKS)
    edges = {(graph.names[graph.name[b]], graph.names[graph.name[a]]) for b, a in zip(graph.before, graph.after)}
    assert edges == {
        ("lookup", "embeddings"), ("embeddings", "interaction forward"),
        ("interaction backward", "embedding gradients"), ("embedding gradients", "embedding update"),
        ("bottom backward", "dense gradients"), ("dense gradients", "dense update"),
    }  # fmt: skip
    # the bottom network overlaps with both exchanges: it stands between them and their users in the compute stream
    assert task(graph, "lookup") < task(graph, "bottom forward") < task(graph, "interaction forward")
    assert task(graph, "interaction backward") < task(graph, "bottom backward") < task(graph, "embedding update")


def test_one_rank():
    graph = build(skew=1.0).build(1)
    assert np.array(graph.operations[0].matrix).shape == (1, 1)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "batch: missing key"),
        ({"batch": 1, "skew": -1}, "skew: must be in [0, 10], got -1"),
        ({"batch": 1, "tables": 0}, "tables: must be above 0"),
        ({"batch": 1, "all_to_all": "ring"}, "all_to_all: unknown 'ring'; allowed: direct, pairwise, hierarchical"),
        ({"batch": 1, "dimensions": 8}, "dimensions: unknown key"),
    ],
)
def test_bad_parameters(changes, problem):
    with pytest.raises(InputError) as caught:
        reader.validate(changes, EmbeddingAllToAll)
    assert problem in str(caught.value)
