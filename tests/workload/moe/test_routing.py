"""Where tokens go: popularity, capacities of the three kinds of gate, drops, and that no token is lost on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.moe import Layer
from simnet.workload.moe.routing import Balanced, Table, Zipf, chosen_share
from simnet.workload.moe.tokens import Tokens

SHAPE = {"ranks": 8, "batch": 4, "sequence": 16, "hidden": 4, "expert_hidden": 8, "experts": 4}
LAYER = Layer(**SHAPE, model_parallel=2, expert_sharding=2, capacity_factor=1.0)  # 64 tokens, T = 32


def test_shares_of_tokens_by_hand():
    assert chosen_share(np.array([3.0, 1.0]), 1).tolist() == [0.75, 0.25]
    # two of three: the first would be chosen 1.5 times, so always; the rest share one choice
    assert chosen_share(np.array([3.0, 0.5, 0.5]), 2).tolist() == [1.0, 0.5, 0.5]
    assert chosen_share(np.ones(2), 2).tolist() == [1.0, 1.0]


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12).flatmap(
        lambda p: st.tuples(st.just(np.array(p)), st.integers(1, len(p)))
    )
)
def test_every_token_chooses_k_experts_once_each(case):
    popularity, top_k = case
    share = chosen_share(popularity, top_k)
    assert share.sum() == pytest.approx(top_k)
    assert share.max() <= 1 + 1e-9
    below = share < 1 - 1e-9
    if below.any():  # in proportion
        assert np.ptp(share[below] / popularity[below]) < 1e-6 * (share[below] / popularity[below]).max()


def test_balanced_buffers_are_full():
    tokens = Tokens(LAYER, Balanced().counts(LAYER, 0))
    assert np.all(tokens.paused() == 16)  # T / N_MP
    assert np.all(tokens.whole() == 32)
    assert tokens.gathered().shape == (4, 4)
    assert np.all(tokens.gathered() == 64)  # of the inputs of 2 ranks
    assert tokens.dropped(tokens.paused(), 1) == 0


def test_a_table_says_who_is_hot_step_by_step():
    """All 2 x 32 choices of a rank's part: 3/4 for expert 0, 1/12 for each other; then expert 1."""
    routing = Table(shares=((9, 1, 1, 1), (1, 9, 1, 1)))
    counts = routing.counts(LAYER, 0)
    assert counts.shape == (8, 4)
    assert counts[0] == pytest.approx([48, 16 / 3, 16 / 3, 16 / 3])
    assert routing.counts(LAYER, 1)[0, 1] == pytest.approx(48)
    assert np.array_equal(routing.counts(LAYER, 2), counts)
    tokens = Tokens(LAYER, counts)
    assert tokens.paused()[0] == pytest.approx([16, 16 / 3, 16 / 3, 16 / 3])  # capacity 16
    assert tokens.whole()[0] == pytest.approx([32, 32 / 3, 32 / 3, 32 / 3])  # of 96, capacity 32
    assert tokens.gathered()[0] == pytest.approx([64, 64 / 3, 64 / 3, 64 / 3])
    for kept, copies in ((tokens.paused(), 1), (tokens.whole(), 2), (tokens.gathered(), 2)):
        assert tokens.dropped(kept, copies) == pytest.approx(8 * 32)


def test_owners_of_several_experts_get_the_sum():
    layer = Layer(**SHAPE | {"experts": 8}, expert_sharding=2)
    tokens = Tokens(layer, np.arange(64.0).reshape(8, 8))
    assert tokens.by_owner(np.arange(8.0)[None]).tolist() == [[1, 5, 9, 13]]


@given(st.floats(0, 3), st.integers(0, 5), st.integers(1, 4))
def test_zipf_draws_anew_in_every_step_and_never_too_often(exponent, step, top_k):
    layer = Layer(**SHAPE, model_parallel=2, expert_sharding=2, top_k=top_k, capacity_factor=4.0)
    counts = Zipf(exponent=exponent, seed=3).counts(layer, step)
    assert counts.shape == (8, 4)
    assert counts.max() <= 32
    assert np.all(counts.sum(axis=1) <= top_k * 32)
    assert np.array_equal(counts, Zipf(exponent=exponent, seed=3).counts(layer, step))


def test_the_hot_expert_changes():
    layer = Layer(**SHAPE | {"experts": 32})
    hot = [int(Zipf(exponent=1.5).counts(layer, step).sum(axis=0).argmax()) for step in range(6)]
    assert len(set(hot)) > 3
    # of choices, as much as the Zipf law says: the 1st has 2 of 1 + 2^-1.5 + ... at most 1 per token
    most = Zipf(exponent=1.5).counts(layer, 0).sum(axis=0).max() / (8 * 64)
    popularity = np.arange(1, 33) ** -1.5
    assert most == pytest.approx(min(1, 2 / popularity.sum()), rel=0.1)


@pytest.mark.parametrize("schedule", ["deepspeed_moe", "parm_s1", "parm_s2", "pipelined"])
def test_what_comes_in_at_an_expert_is_computed_there(schedule):
    """FLOPs of the experts are those of the tokens that arrive, rank by rank; what is dropped is told."""
    workload = MoeLayer(
        schedule=schedule, batch=4, sequence=16, hidden=4, expert_hidden=8, model_parallel=2, expert_sharding=2,
        routing={"kind": "table", "shares": ((9, 1, 1, 1),)}, backward=False,
    )  # fmt: skip
    graph = workload.build(8)
    experts = graph.name == graph.names.index("experts")
    flops = np.bincount(graph.rank[experts], graph.flops[experts], 8)
    (dispatch,) = [n for n in graph.names if n.startswith("dispatch")][-1:]
    operations = [graph.operations[i] for i in sorted(set(graph.operation[graph.name == graph.names.index(dispatch)]))]
    arrived = np.zeros(8)
    for operation in operations:
        arrived[list(operation.ranks)] += np.array(operation.matrix).sum(axis=0)
    chunks = 2 if schedule == "pipelined" else 1
    assert flops == pytest.approx(chunks * arrived / 16 * 4 * 4 * 4)
    assert flops[0] > 2 * flops[2]
    assert len(graph.notes) == 1
    assert graph.notes[0].endswith("tokens for experts were dropped (45.0%).")


def test_weights_must_be_as_many_as_experts():
    workload = MoeLayer(
        batch=4, sequence=16, hidden=4, expert_hidden=8, routing={"kind": "table", "shares": ((1, 2, 3),)}
    )
    with pytest.raises(InputError, match=r"routing.shares: has 3 weights in a row, the layer has 8 experts"):
        workload.build(8)
