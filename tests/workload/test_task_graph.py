import numpy as np
import pytest

from simnet.errors import InputError
from simnet.workload import task_graph
from simnet.workload.task_graph import COMMUNICATION, COMPUTE, Operation, TaskGraphBuilder


def small():
    """Two ranks: compute, an all-reduce, compute again."""
    tasks = TaskGraphBuilder(2, "bf16")
    first = [tasks.compute(r, "forward", flops=2.0, memory=3.0) for r in range(2)]
    sums = tasks.collective(Operation("all_reduce", 8.0, (0, 1), "ring"), "sum", after=[(f,) for f in first])
    for rank in range(2):
        tasks.compute(rank, "optimizer", duration=1e-3, after=(sums[rank], None))
    return tasks.build()


def test_columns():
    graph = small()
    assert (graph.tasks, graph.ranks, graph.precision) == (6, 2, "bf16")
    assert graph.names == ["forward", "sum", "optimizer"]
    assert graph.name.tolist() == [0, 0, 1, 1, 2, 2]
    assert graph.rank.tolist() == [0, 1] * 3
    assert graph.stream.tolist() == [COMPUTE] * 2 + [COMMUNICATION] * 2 + [COMPUTE] * 2
    assert graph.operation.tolist() == [-1, -1, 0, 0, -1, -1]
    assert graph.member.tolist() == [-1, -1, 0, 1, -1, -1]
    assert graph.flops.tolist() == [2.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    assert graph.memory.tolist() == [3.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    assert np.isnan(graph.duration).tolist() == [True, True, False, False, False, False]
    assert graph.duration[4:].tolist() == [1e-3] * 2
    assert list(zip(graph.before, graph.after)) == [(0, 2), (1, 3), (2, 4), (3, 5)]


def test_types_of_the_columns():
    graph = small()
    for name in ("rank", "name", "operation", "member", "before", "after"):
        assert getattr(graph, name).dtype == np.int32, name
    assert graph.stream.dtype == np.int8
    for name in ("duration", "flops", "memory"):
        assert getattr(graph, name).dtype == np.float64, name


def test_repeating_shifts_tasks_and_operations():
    graph = small().repeat(3)
    assert graph.tasks == 18
    assert len(graph.operations) == 3
    assert graph.operation.tolist() == [-1, -1, 0, 0, -1, -1, -1, -1, 1, 1, -1, -1, -1, -1, 2, 2, -1, -1]
    assert graph.names == ["forward", "sum", "optimizer"]
    assert graph.precision == "bf16"
    assert list(zip(graph.before, graph.after))[-4:] == [(12, 14), (13, 15), (14, 16), (15, 17)]


def test_once_is_the_graph_itself():
    graph = small()
    assert graph.repeat(1) is graph


def test_a_graph_without_tasks():
    graph = TaskGraphBuilder(3).build()
    assert graph.tasks == 0
    assert graph.before.tolist() == []
    assert graph.repeat(2).tasks == 0


def test_a_builder_goes_on_after_a_build():
    tasks = TaskGraphBuilder(1)
    tasks.compute(0, "a", duration=1.0)
    before = tasks.build()
    tasks.compute(0, "b", duration=2.0)
    assert before.tasks == 1
    assert tasks.build().duration.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        ((), "sum: has no ranks"),
        ((0, 1, 0), "sum: rank 0 takes part twice"),
        ((0, 2), "sum: ranks must be from 0 to 1, got 2"),
        ((-1, 0), "sum: ranks must be from 0 to 1, got -1"),
    ],
)
def test_ranks_that_make_no_group(ranks, sentence):
    with pytest.raises(InputError, match=sentence):
        TaskGraphBuilder(2).collective(Operation("all_reduce", 1.0, ranks, "ring"), "sum")


@pytest.mark.parametrize("iterations", [10**7, 10**30])
def test_iterations_that_would_fill_the_memory_are_refused(iterations):
    with pytest.raises(InputError, match=f"{iterations} iterations of 6 tasks each are more than 10,000,000"):
        small().repeat(iterations)


def test_tasks_have_a_limit(monkeypatch):
    monkeypatch.setattr(task_graph, "MOST_TASKS", 6)
    assert small().tasks == 6
    monkeypatch.setattr(task_graph, "MOST_TASKS", 5)
    with pytest.raises(InputError, match="more than 5 tasks"):
        small()
