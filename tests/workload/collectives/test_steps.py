"""The longest chain of messages, which is what latency multiplies, against the textbook."""

import math

import numpy as np
import pytest

from simnet.workload.collectives import trees
from tests.workload.collectives.execution import Execution, lowered
from tests.workload.systems import group, servers, star

SIZES = range(2, 18)


def steps(there, kind, algorithm, size=1024.0):
    return Execution(lowered(there, kind, algorithm, size)).steps()


@pytest.mark.parametrize("n", SIZES)
def test_ring(n):
    there = group(star(n))
    assert steps(there, "all_reduce", "ring") == 2 * (n - 1)
    for kind in ("all_gather", "reduce_scatter", "broadcast", "reduce"):
        assert steps(there, kind, "ring") == n - 1, kind


@pytest.mark.parametrize("n", SIZES)
def test_halving_doubling(n):
    rounds = int(math.log2(n))
    folds = 1 if n != 2**rounds else 0  # the odd ranks hand over first and receive last
    there = group(star(n))
    assert steps(there, "all_reduce", "halving_doubling") == 2 * rounds + 2 * folds
    assert steps(there, "reduce_scatter", "halving_doubling") == rounds + 2 * folds
    assert steps(there, "all_gather", "halving_doubling") == rounds + 2 * folds


@pytest.mark.parametrize("n", SIZES)
def test_double_binary_tree(n):
    there = group(star(n))
    assert steps(there, "all_reduce", "double_binary_tree") == 2 * int(math.log2(n))
    # one step from the root to the trees through the other n - 1 ranks
    for kind in ("broadcast", "reduce"):
        assert steps(there, kind, "double_binary_tree") == 1 + int(math.log2(n - 1)), kind


@pytest.mark.parametrize("n", SIZES)
def test_direct_and_pairwise(n):
    there = group(star(n))
    assert steps(there, "all_reduce", "direct") == 2
    for kind in ("all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "all_to_all_v"):
        assert steps(there, kind, "direct") == 1, kind
    assert steps(there, "all_to_all", "pairwise") == n - 1


def test_send_recv():
    assert steps(group(star(2)), "send_recv", "direct") == 1


@pytest.mark.parametrize(("count", "each"), [(2, 4), (4, 2), (3, 3), (5, 1), (1, 5)])
def test_hierarchical(count, each):
    there = group(servers(*[each] * count))
    inside, between = each - 1, count - 1
    assert steps(there, "all_reduce", "hierarchical") == 2 * inside + 2 * between
    assert steps(there, "all_gather", "hierarchical") == inside + between
    assert steps(there, "reduce_scatter", "hierarchical") == inside + between
    assert steps(there, "all_to_all", "hierarchical") == (1 if 1 in (count, each) else 2)
    assert steps(there, "broadcast", "hierarchical") == inside + between


@pytest.mark.parametrize("size", [0.0, 1.0, trees.CHUNK, trees.CHUNK + 1.0, 1e15])
def test_chunks(size):
    count = trees.chunks(size)
    assert 1 <= count <= trees.MOST_CHUNKS
    assert size / count <= trees.CHUNK or count == trees.MOST_CHUNKS


def test_a_pipeline_of_k_chunks_over_h_hops_takes_h_plus_k_minus_1_steps():
    there, k = group(star(5)), 6
    size = k * trees.CHUNK
    assert steps(there, "broadcast", "ring", size) == 4 + k - 1
    assert steps(there, "reduce", "ring", size) == 4 + k - 1


def test_chunks_leave_in_order():
    run = Execution(lowered(group(star(4)), "broadcast", "ring", 5.0 * trees.CHUNK))
    assert run.graph.flows == 15
    for flow, before in enumerate(run.before):
        queued = [b for b in before if run.graph.connection[b] == run.graph.connection[flow]]
        assert len(queued) == (0 if flow < 3 else 1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather"])
def test_halving_doubling_moves_the_blocks_that_it_should(n, kind):
    """Plays the exchange with real blocks, n of them or p for all_reduce, and compares the size of every message."""
    power = 2 ** int(math.log2(n))
    extra = n - power
    ranks = [*range(0, 2 * extra, 2), *range(2 * extra, n)]
    blocks = power if kind == "all_reduce" else n
    owner = list(range(power)) if kind == "all_reduce" else [ranks.index(b if b in ranks else b - 1) for b in range(n)]
    # what a rank has of each block: whose contributions
    if kind == "all_gather":
        has = [{b: {b} for b in (b,)} for b in range(n)]
    else:
        has = [{b: {r} for b in range(blocks)} for r in range(n)]
    messages = []

    def send(a, b, what):
        messages.append((a, b, len(what) / blocks))
        return {block: set(has[a][block]) for block in what}

    def receive(b, data, add=False):
        for block, contributions in data.items():
            assert not add or not has[b][block] & contributions  # nothing is added twice
            has[b].setdefault(block, set()).update(contributions)

    for i in range(extra):
        even, odd = ranks[i], ranks[i] + 1
        kept = {odd} if kind == "reduce_scatter" else set()
        receive(even, send(odd, even, [b for b in has[odd] if b not in kept]), add=kind != "all_gather")
    distances = [2**k for k in range(int(math.log2(power)))]
    for d in distances if kind != "all_gather" else []:
        moved = [(v ^ d, send(ranks[v], ranks[v ^ d], [
            b for b in range(blocks) if owner[b] % d == v % d and owner[b] % (2 * d) == (v ^ d) % (2 * d)
        ])) for v in range(power)]  # fmt: skip
        for v, data in moved:
            receive(ranks[v], data, add=True)
    for d in reversed(distances) if kind != "reduce_scatter" else []:
        moved = [(v ^ d, send(ranks[v], ranks[v ^ d], [
            b for b in has[ranks[v]] if owner[b] % (2 * d) == v % (2 * d)
        ])) for v in range(power)]  # fmt: skip
        for v, data in moved:
            receive(ranks[v], data)
    for i in range(extra):
        even, odd = ranks[i], ranks[i] + 1
        wanted = {"all_reduce": range(blocks), "reduce_scatter": [odd], "all_gather": set(range(n)) - {odd}}[kind]
        receive(odd, send(even, odd, list(wanted)))

    everybody = set(range(n))
    for rank in range(n):
        if kind == "all_reduce":
            assert has[rank] == dict.fromkeys(range(blocks), everybody)
        elif kind == "reduce_scatter":
            assert has[rank][rank] == everybody
        else:
            assert has[rank] == {b: {b} for b in range(n)}

    size = 1024.0 * n
    graph = lowered(group(star(n)), kind, "halving_doubling", size)
    source, destination = graph.source[graph.connection].tolist(), graph.destination[graph.connection].tolist()
    assert list(zip(source, destination)) == [(a, b) for a, b, _ in messages]
    np.testing.assert_allclose(graph.size, [share * size for _, _, share in messages])
