"""Every algorithm for every kind, on groups of any size: bytes on the wire, order, and whose data arrives where."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.workload.collectives import ALGORITHMS, KINDS, Operation, algorithm_of, algorithms_for, lower
from tests.workload.collectives.execution import CASES, Execution, lowered, operation
from tests.workload.systems import group, servers, star

SIZE = 5040.0 * 16  # divisible by every group size up to 10, exact in float for the others to 1e-9

# one switch; servers of equal and of unequal sizes; members of servers picked out of order
PLACES = {
    **{f"star {n}": lambda n=n: group(star(n)) for n in range(1, 18)},
    "4 + 4": lambda: group(servers(4, 4)),
    "3 x 2": lambda: group(servers(2, 2, 2)),
    "1 + 4 + 2": lambda: group(servers(1, 4, 2)),
    "5 + 3": lambda: group(servers(5, 3)),
    "shuffled": lambda: group(servers(4, 4, 4), [7, 0, 9, 2, 3, 11, 5]),
    "one server": lambda: group(servers(6)),
}
ROOMS = [(kind, algorithm, place) for kind, algorithm in CASES for place in PLACES]


def fitting(kind, algorithm, place):
    there = PLACES[place]()
    if kind == "send_recv":
        there = group(there.topology, [0, 1]) if there.members > 1 else pytest.skip("needs two ranks")
    return there


def others(n):
    return (n - 1) / n * SIZE


@pytest.mark.parametrize(("kind", "algorithm", "place"), ROOMS)
def test_bytes_on_the_wire(kind, algorithm, place):
    there = fitting(kind, algorithm, place)
    n, root = there.members, there.members // 2
    graph = lowered(there, kind, algorithm, SIZE, root)
    sent, received = graph.sent(), graph.received()
    uneven = len({len(members) for members in there.by_server}) > 1
    relayed = algorithm == "hierarchical" and (uneven or kind in ("all_to_all", "all_to_all_v"))
    exact = {"rtol": 1e-12, "atol": 1e-6}

    if kind == "all_reduce":
        np.testing.assert_allclose(sent.sum(), 2 * (n - 1) * SIZE, **exact)
    elif kind == "all_gather":
        if relayed:
            assert (received >= others(n) * (1 - 1e-12)).all()
        else:
            np.testing.assert_allclose(received, others(n), **exact)
    elif kind == "reduce_scatter":
        if relayed:
            assert (sent >= others(n) * (1 - 1e-12)).all()
        else:
            np.testing.assert_allclose(sent, others(n), **exact)
    elif kind in ("broadcast", "reduce"):
        every_rank_but_root = np.where(np.arange(n) == root, 0.0, SIZE if n > 1 else 0.0)
        np.testing.assert_allclose(received if kind == "broadcast" else sent, every_rank_but_root, **exact)
    elif kind == "send_recv":
        assert sent.tolist() == [SIZE, 0.0]
        assert received.tolist() == [0.0, SIZE]
    else:
        matrix = np.array(operation("all_to_all_v", algorithm, n, SIZE).matrix)
        matrix = matrix if kind == "all_to_all_v" else np.full((n, n), SIZE / n)
        np.fill_diagonal(matrix, 0.0)
        if relayed:
            np.testing.assert_allclose(received - sent, matrix.sum(axis=0) - matrix.sum(axis=1), **exact)
            assert matrix.sum() * (1 - 1e-12) <= sent.sum() <= 2 * matrix.sum() * (1 + 1e-12)
        else:
            np.testing.assert_allclose(sent, matrix.sum(axis=1), **exact)
            np.testing.assert_allclose(received, matrix.sum(axis=0), **exact)

    if KINDS[kind].total is not None:  # nothing less is possible
        assert sent.sum() >= KINDS[kind].total(n) * SIZE * (1 - 1e-12)
    if KINDS[kind].sent is not None and not relayed:
        np.testing.assert_allclose(sent, KINDS[kind].sent(n) * SIZE, **exact)


@pytest.mark.parametrize(("kind", "algorithm", "place"), ROOMS)
def test_all_flows_go_and_a_rank_waits_only_for_what_it_sees(kind, algorithm, place):
    there = fitting(kind, algorithm, place)
    run = Execution(lowered(there, kind, algorithm, SIZE, there.members // 2))
    assert len(run.order) == run.graph.flows
    for flow, before in enumerate(run.before):
        for b in before:  # it has come to the sender, or the sender itself has sent it
            assert run.source[flow] in (run.destination[b], run.source[b])


@pytest.mark.parametrize(("kind", "algorithm", "place"), ROOMS)
def test_data_arrives_where_it_belongs(kind, algorithm, place):
    there = fitting(kind, algorithm, place)
    n, root = there.members, there.members // 2
    run = Execution(lowered(there, kind, algorithm, SIZE, root))
    everybody = set(range(n))
    if kind == "broadcast":
        assert run.delivered({root}) == [{root}] * n
    elif kind == "reduce":
        assert run.delivered(everybody)[root] == everybody
    elif kind == "send_recv":
        assert run.delivered({0}) == [{0}, {0}]
    else:
        assert run.delivered(everybody) == [everybody] * n


# In these, data goes in parts that never meet, so each must do the whole collective for its share of the bytes.
IN_PARTS = [
    ("all_reduce", "ring"), ("all_reduce", "double_binary_tree"), ("all_reduce", "direct"),
    ("all_reduce", "hierarchical"), ("broadcast", "ring"), ("broadcast", "double_binary_tree"),
    ("reduce", "ring"), ("reduce", "double_binary_tree"),
]  # fmt: skip


@pytest.mark.parametrize("size", [SIZE, 3 * 2.0**20])
@pytest.mark.parametrize(("kind", "algorithm"), IN_PARTS)
@pytest.mark.parametrize("place", [p for p in PLACES if p != "star 1"])
def test_every_part_of_the_data_is_treated_alike(kind, algorithm, place, size):
    there = PLACES[place]()
    n, root = there.members, there.members // 2
    run = Execution(lowered(there, kind, algorithm, size, root))
    shares = 0.0
    for part in run.parts():
        has = run.delivered({root} if kind == "broadcast" else set(range(n)), only=set(part.tolist()))
        if kind == "all_reduce":
            assert has == [set(range(n))] * n
        elif kind == "broadcast":
            assert has == [{root}] * n
        else:
            assert has[root] == set(range(n))
        on_the_wire = run.graph.size[part][run.graph.size[part] > 0]
        if algorithm != "hierarchical":
            np.testing.assert_allclose(on_the_wire, on_the_wire[0])
        shares += on_the_wire.sum() / KINDS[kind].total(n)
    assert shares == pytest.approx(size)


@pytest.mark.parametrize(("kind", "algorithm"), CASES)
def test_one_member_has_nothing_to_do(kind, algorithm):
    if kind == "send_recv":
        with pytest.raises(InputError, match="joins 2 ranks, not 1"):
            lowered(group(star(1)), kind, algorithm, SIZE)
    else:
        assert lowered(group(star(1)), kind, algorithm, SIZE).flows == 0


@pytest.mark.parametrize(("kind", "algorithm"), CASES)
def test_without_bytes_nothing_is_sent_and_everything_still_goes(kind, algorithm):
    there = group(star(2 if kind == "send_recv" else 6))
    run = Execution(lowered(there, kind, algorithm, 0.0))
    assert run.graph.sent().sum() == 0
    assert len(run.order) == run.graph.flows


@pytest.mark.parametrize(("kind", "algorithm"), CASES)
def test_lowering_twice_gives_the_same_columns(kind, algorithm):
    graphs = [lowered(group(servers(2) if kind == "send_recv" else servers(3, 2)), kind, algorithm, SIZE) for _ in "ab"]
    for column in ("source", "destination", "channel", "connection", "size", "successor_start", "successors", "waits"):
        assert np.array_equal(*(getattr(graph, column) for graph in graphs)), column


def test_tables_agree():
    for kind, row in KINDS.items():
        assert kind in ALGORITHMS[row.default]
        assert row.doc.endswith(".")
        assert row.__doc__ == row.doc
    for name, row in ALGORITHMS.items():
        assert set(row) <= set(KINDS)
        assert "." in row.__doc__, name


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("all_reduce", 1.5), ("all_gather", 0.75), ("reduce_scatter", 0.75), ("all_to_all", 0.75),
        ("all_to_all_v", 0.75), ("broadcast", 1.0), ("reduce", 1.0), ("send_recv", 1.0),
    ],
)  # fmt: skip
def test_bus_bandwidth_factors_of_nccl_tests_for_four_ranks(kind, factor):
    assert KINDS[kind].bus_factor(4) == factor


def test_unknown_names_are_answered_with_what_there_is():
    with pytest.raises(
        InputError, match=r"unknown collective 'all_redcue'; allowed: all_reduce, .*did you mean 'all_r"
    ):
        algorithm_of("all_redcue")
    with pytest.raises(InputError, match=r"unknown algorithm 'rng'; allowed for all_reduce: ring, .*mean 'ring'"):
        algorithm_of("all_reduce", "rng")
    with pytest.raises(InputError, match="no algorithm 'ring' for it; allowed for all_to_all: direct, pairwise"):
        algorithm_of("all_to_all", "ring")
    assert algorithm_of("all_to_all") == "direct"
    assert algorithms_for("send_recv") == ["direct", "auto"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"ranks": (0, 1)}, "has 2 ranks, but its group has 3 members"),
        ({"size": -1.0}, "size must be finite and at least 0"),
        ({"size": float("nan")}, "size must be finite and at least 0"),
        ({"kind": "broadcast", "root": 3}, "root must be a member number below 3, got 3"),
        ({"kind": "all_to_all_v", "algorithm": "direct"}, "needs a matrix"),
        ({"kind": "all_to_all_v", "algorithm": "direct", "matrix": ((1.0,) * 3,) * 2}, "matrix must have 3 rows of 3"),
        ({"kind": "all_to_all_v", "algorithm": "direct", "matrix": ((-1.0,) * 3,) * 3}, "sizes of at least 0"),
        ({"kind": "send_recv", "algorithm": "direct"}, "joins 2 ranks, not 3"),
    ],
)
def test_operations_that_make_no_sense(changes, sentence):
    fields = {"kind": "all_reduce", "size": 1.0, "ranks": (0, 1, 2), "algorithm": "ring", "label": "sums", **changes}
    with pytest.raises(InputError, match=rf"sums: .*{sentence}"):
        lower(Operation(**fields), group(star(3)))
