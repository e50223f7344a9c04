import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.metrics import busiest_links, makespan, summarize
from simnet.metrics.columns import joint
from simnet.metrics.flows import collectives, completion_times, jain_index
from simnet.metrics.ranks import (
    Intervals,
    bubble_fraction,
    hottest_receiver,
    intervals,
    overlap_fraction,
    shares,
    union_length,
)
from simnet.result import FLOWS, LINKS, MESSAGES, TASKS
from tests.example_result import example, pipeline, rows_table, size_sweep, training


def tasks_of(*rows):
    """rows: (job, rank, kind, start, end)"""
    return rows_table(
        TASKS, [(j, f"gpu{r}", "s", "t", k, r, 0 if k != "compute" else -1, a, b) for j, r, k, a, b in rows]
    )


def flows_of(*rows):
    """rows: (job, operation, label, kind, size, rank, arrived, start, end)"""
    return rows_table(
        FLOWS,
        [
            (j, o, n, k, "ring", "world", r, r, f"gpu{r}", s, s, s, t, a, b, "done", "")
            for j, o, n, k, s, r, t, a, b in rows
        ],
    )


NO_FLOWS, NO_LINKS = flows_of(), rows_table(LINKS, [])


# -- unions of intervals --------------------------------------------------------------------------------------


def test_union_counts_overlap_once():
    # group 0: [0,2] and [1,3] -> 3; group 1: [0,1], [5,6] -> 2; group 2: [0,10] swallows [2,3] and [4,11] adds 1
    group = np.array([0, 1, 0, 2, 2, 1, 2])
    start = np.array([0.0, 0, 1, 0, 2, 5, 4])
    end = np.array([2.0, 1, 3, 10, 3, 6, 11])
    assert union_length(group, start, end, 4).tolist() == [3, 2, 11, 0]


def test_union_of_nothing():
    assert union_length(np.zeros(0, int), np.zeros(0), np.zeros(0), 2).tolist() == [0, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 10)), max_size=40))
def test_union_equals_counting_covered_cells(rows):
    covered = [{c for g, a, n in rows if g == group for c in range(a, a + n)} for group in range(4)]
    columns = np.array(rows, float).reshape(-1, 3)
    measured = union_length(columns[:, 0].astype(int), columns[:, 1], columns[:, 1] + columns[:, 2], 4)
    assert measured.tolist() == [len(c) for c in covered]


# -- shares of the makespan -----------------------------------------------------------------------------------


def test_shares_by_hand():
    # rank 0 computes [0,4], communicates [3,8]: 4 compute, 4 exposed, 2 idle of 10; rank 1 computes [0,10]
    tasks = tasks_of(
        ("a", 0, "compute", 0, 4), ("a", 0, "all_reduce", 3, 8), ("a", 1, "compute", 0, 10)
    )  # fmt: skip
    busy = intervals(tasks, NO_FLOWS, makespan(tasks))
    split = shares(busy, 10.0)
    assert split["compute"] == pytest.approx([0.4, 1.0])
    assert split["exposed_communication"] == pytest.approx([0.4, 0.0])
    assert split["idle"] == pytest.approx([0.2, 0.0])
    assert overlap_fraction(busy) == pytest.approx(1 / 5)


spans = st.tuples(st.floats(0, 100), st.floats(0, 100)).map(sorted)
kinds = st.sampled_from(["compute", "all_reduce", "send_recv"])


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), kinds, spans), min_size=1, max_size=30))
def test_shares_sum_to_one(rows):
    tasks = tasks_of(*[(job, rank, kind, a, b) for job, rank, kind, (a, b) in rows])
    until = makespan(tasks)
    busy = intervals(tasks, NO_FLOWS, until)
    split = shares(busy, until)
    assert sum(split.values()) == pytest.approx(np.ones(len(busy.rank)))
    assert all((share >= 0).all() and (share <= 1).all() for share in split.values())
    assert len(busy.rank) == len({(job, rank) for job, rank, *_ in rows})


def test_unfinished_tasks_last_until_the_run_stopped():
    tasks = tasks_of(("a", 0, "compute", 0, 2), ("a", 0, "all_reduce", 2, np.nan))
    split = shares(intervals(tasks, NO_FLOWS, 8.0), 8.0)
    assert split["exposed_communication"] == pytest.approx([0.75])
    summary = summarize(tasks, NO_FLOWS, NO_LINKS, status="aborted", time=8.0)
    assert summary["makespan"] == 8.0
    assert summary["notes"] == ["1 of 2 tasks that had started were not finished."]


def test_two_jobs_keep_their_ranks_apart():
    tasks = tasks_of(("b", 0, "compute", 0, 1), ("a", 0, "compute", 0, 3), ("a", 1, "compute", 0, 2))
    flows = flows_of(("a", 0, "x", "all_reduce", 8.0, 1, 0, 0, 1), ("b", 0, "x", "all_reduce", 4.0, 0, 0, 0, 1))
    busy = intervals(tasks, flows, 3.0)
    rows = set(zip(busy.job, busy.rank.tolist(), busy.device, busy.compute.tolist(), busy.received.tolist()))
    assert rows == {("b", 0, "gpu0", 1, 4), ("a", 0, "gpu0", 3, 0), ("a", 1, "gpu1", 2, 8)}


# -- pipelines, fairness, completion times --------------------------------------------------------------------


@pytest.mark.parametrize(("stages", "microbatches"), [(4, 8), (2, 1), (1, 5)])
def test_bubble_of_a_pipeline(stages, microbatches):
    # equal stages, transfers free: (p-1)/(m+p-1)
    tasks = tasks_of(
        *[("p", s, "compute", float(s + m), s + m + 1.0) for s in range(stages) for m in range(microbatches)]
    )  # fmt: skip
    [job] = summarize(tasks, NO_FLOWS, NO_LINKS, status="completed")["jobs"]
    assert job["bubble_fraction"] == pytest.approx((stages - 1) / (microbatches + stages - 1))
    assert job["overlap_fraction"] is None  # nothing was communicated


def test_bubble_without_compute_is_undefined():
    assert np.isnan(bubble_fraction(np.zeros(0), 5.0, 0.0))


def test_jain():
    assert jain_index(np.array([3.0, 3, 3])) == pytest.approx(1)
    assert jain_index(np.array([5.0, 0, 0, 0])) == pytest.approx(1 / 4)
    assert jain_index(np.array([1.0, 3])) == pytest.approx(16 / 20)
    assert np.isnan(jain_index(np.zeros(0)))


def test_completion_times():
    start = np.zeros(101)
    end = np.append(np.arange(100) + 1.0, np.nan)  # 1..100, and one that never ended
    times = completion_times(start, end)
    assert times == {"count": 100, "mean": 50.5, "p50": 50.5, "p99": pytest.approx(99.01), "max": 100}


def test_messages_are_preferred_where_they_were_recorded():
    messages = rows_table(MESSAGES, [("a", 0, "x", "y", 10.0, 0, 1), ("a", 0, "y", "x", 10.0, 0, 2)])
    tasks = tasks_of(("a", 0, "compute", 0, 4))
    completion = summarize(tasks, NO_FLOWS, NO_LINKS, messages, status="completed")["flow_completion"]
    assert completion["of"] == "messages"
    assert completion["mean"] == 1.5
    assert completion["jain_index"] == pytest.approx(15**2 / (2 * 125))
    assert pipeline().summary["flow_completion"]["of"] == "members"


# -- collectives ----------------------------------------------------------------------------------------------


def test_collective_times_and_bandwidths():
    # two all-reduces of 8 bytes over 2 ranks; from the last arrival (1; 5) to the last end (3; 9): 2 s and 4 s
    flows = flows_of(
        ("a", 0, "g", "all_reduce", 8.0, 0, 0.5, 1, 2), ("a", 0, "g", "all_reduce", 8.0, 1, 1, 1, 3),
        ("a", 1, "g", "all_reduce", 8.0, 0, 5, 5, 9), ("a", 1, "g", "all_reduce", 8.0, 1, 4, 5, 6),
    )  # fmt: skip
    [row] = collectives(flows)
    assert (row["count"], row["ranks"], row["unfinished"]) == (2, 2, 0)
    assert (row["time_mean"], row["time_min"], row["time_max"]) == (3, 2, 4)
    assert row["algorithm_bandwidth"] == pytest.approx(8 / 3)
    assert row["bus_bandwidth"] == pytest.approx(8 / 3 * 2 * (2 - 1) / 2)


@pytest.mark.parametrize(
    ("kind", "factor"),
    [("all_reduce", 1.5), ("all_gather", 0.75), ("reduce_scatter", 0.75), ("all_to_all", 0.75), ("broadcast", 1.0),
     ("reduce", 1.0), ("send_recv", 1.0)],
)  # fmt: skip
def test_bus_factors_of_four_ranks(kind, factor):
    [row] = collectives(flows_of(*[("a", 0, "x", kind, 12.0, r, 0, 0, 3) for r in range(4)]))
    assert row["algorithm_bandwidth"] == pytest.approx(4)
    assert row["bus_bandwidth"] == pytest.approx(4 * factor)


def test_groups_keep_jobs_labels_sizes_and_ranks_apart():
    flows = flows_of(
        ("b", 0, "x", "all_reduce", 8.0, 0, 0, 0, 1), ("b", 0, "x", "all_reduce", 8.0, 1, 0, 0, 1),
        ("a", 0, "x", "all_reduce", 8.0, 0, 0, 0, 1), ("a", 0, "x", "all_reduce", 8.0, 1, 0, 0, 1),
        ("a", 1, "x", "all_reduce", 8.0, 0, 0, 0, 1),
        ("a", 2, "x", "all_reduce", 9.0, 0, 0, 0, 1),
        ("a", 3, "y", "all_reduce", 9.0, 0, 0, 0, 1),
        ("a", 4, "y", "all_gather", 9.0, 0, 0, 0, 1),
        ("a", 5, "y", "all_gather", 9.0, 0, 0, 0, 1),
    )  # fmt: skip
    assert [(r["job"], r["label"], r["kind"], r["size"], r["ranks"], r["count"]) for r in collectives(flows)] == [
        ("b", "x", "all_reduce", 8, 2, 1), ("a", "x", "all_reduce", 8, 2, 1), ("a", "x", "all_reduce", 8, 1, 1),
        ("a", "x", "all_reduce", 9, 1, 1), ("a", "y", "all_reduce", 9, 1, 1), ("a", "y", "all_gather", 9, 1, 2),
    ]  # fmt: skip


def test_unfinished_and_instant_operations_have_no_bandwidth():
    flows = flows_of(
        ("a", 0, "stuck", "all_reduce", 8.0, 0, 0, 0, 1), ("a", 0, "stuck", "all_reduce", 8.0, 1, 0, 0, np.nan),
        ("a", 1, "alone", "all_reduce", 8.0, 0, 2, 2, 2),
    )  # fmt: skip
    summary = summarize(tasks_of(), flows, NO_LINKS, status="stalled")
    stuck, alone = summary["collectives"]
    assert (stuck["count"], stuck["unfinished"]) == (0, 1)
    assert stuck["time_mean"] is stuck["time_max"] is stuck["bus_bandwidth"] is None
    assert (alone["time_mean"], alone["bus_bandwidth"]) == (0, None)


def test_sweep_has_one_row_per_size():
    rows = collectives(size_sweep(8).flows)
    assert len(rows) == 2 * 11
    assert all(r["count"] == 2 for r in rows)
    # large messages come near the link rate, 50 GB/s
    assert max(r["bus_bandwidth"] for r in rows) == pytest.approx(50e9, rel=1e-2)


# -- links and receivers --------------------------------------------------------------------------------------


def test_busiest_links():
    rows = [(f"l{i}", "a", "b", "ib", 1.0, 0.0, 10.0 * u, u, u, 1.0) for i, u in enumerate([0.1, 0.9, 0.0, 0.5, 0.9])]
    links = rows_table(LINKS, rows)
    assert [row["link"] for row in busiest_links(links, 3)] == ["l1", "l4", "l3"]
    assert [row["link"] for row in busiest_links(links, 9)] == ["l1", "l4", "l3", "l0"]  # l2 carried nothing


def test_hottest_receiver_against_the_mean_of_its_job():
    busy = Intervals(
        ["a", "a", "b"], np.array([0, 1, 0]), ["g0", "g1", "g2"], *[np.zeros(3)] * 4, received=np.array([1.0, 3, 2])
    )
    expected = {"job": "a", "rank": 1, "device": "g1", "received": 3, "times_mean": pytest.approx(1.5)}
    assert hottest_receiver(busy) == expected
    assert hottest_receiver(busy._replace(received=np.zeros(3))) is None


def test_skewed_rank_is_the_hottest_receiver():
    assert training(4).result().summary["hottest_receiver"]["rank"] == 1


# -- the whole summary ----------------------------------------------------------------------------------------


def test_summary_of_an_example():
    result = example(4)
    summary = result.summary
    assert summary["makespan"] == makespan(result.tasks)
    assert [row["rank"] for row in summary["ranks"]] == [0, 1, 2, 3]
    assert len(summary["collectives"]) == 4
    assert summary["simulated"] == {"tasks": 72, "flows": 16}
    assert [row["sent"] for row in summary["ranks"]] == pytest.approx([312e6, 348e6, 312e6, 312e6])


def test_summary_of_nothing():
    summary = summarize(tasks_of(), NO_FLOWS, NO_LINKS, status="failed", notes=["It broke."])
    assert summary["makespan"] == 0
    assert summary["collectives"] == summary["ranks"] == summary["jobs"] == summary["busiest_links"] == []
    assert summary["hottest_receiver"] is None
    assert summary["notes"] == ["It broke."]


def test_summary_holds_plain_values():
    def check(value):
        if isinstance(value, dict):
            assert all(type(k) is str for k in value)
            [check(v) for v in value.values()]
        elif isinstance(value, list):
            [check(v) for v in value]
        else:
            assert value is None or type(value) in (str, int, float, bool)
            assert not isinstance(value, float) or np.isfinite(value)

    for result in (example(3), pipeline(messages=True), size_sweep(2)):
        check(result.summary)


def test_joint_keys_do_not_collide_when_spans_multiply_beyond_64_bits():
    a = np.array([0, 2**40, 0, 2**40, 0])
    b = np.array([0, 0, 2**40, 2**40, 0])
    keys = joint(a, b, np.array([0.5, 0.5, 0.5, 0.5, 0.5]))
    assert len(np.unique(keys)) == 4
    assert keys[0] == keys[4]
    assert (np.argsort(keys, kind="stable") == [0, 4, 2, 1, 3]).all()
