from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.workload import WorkloadFile
from simnet.workload.collectives import Group, lower
from simnet.workload.task_graph import COMMUNICATION, COMPUTE
from tests.workload.systems import group, star

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "workloads").glob("*.yaml"))


def write(folder, text):
    path = folder / "graph.yaml"
    path.write_text(text)
    return WorkloadFile(file=path)


def problems(folder, text):
    with pytest.raises(InputError) as caught:
        write(folder, text).build(2)
    return [line.removeprefix(f"{folder / 'graph.yaml'}:") for line in str(caught.value).splitlines()]


THREE_TASKS = """\
ranks: 2
precision: bf16
tasks:
  - {name: forward, compute: {flops: 2TFLOP, memory: 1GB}}
  - {name: hop, transfer: {from: 1, to: 0, size: 4MiB}, after: [forward]}
  - {name: sum, collective: {kind: all_reduce, size: 64MiB, algorithm: direct}, after: [hop, forward]}
"""


def test_three_tasks(tmp_path):
    workload = write(tmp_path, THREE_TASKS)
    assert workload.ranks == 2
    graph = workload.build(2)
    assert graph.precision == "bf16"
    assert [graph.names[n] for n in graph.name] == ["forward", "forward", "hop", "hop", "sum", "sum"]
    assert graph.rank.tolist() == [0, 1, 1, 0, 0, 1]
    assert graph.stream.tolist() == [COMPUTE] * 2 + [COMMUNICATION] * 4
    assert (graph.flops[0], graph.memory[0]) == (2e12, 1e9)
    hop, total = graph.operations
    assert (hop.kind, hop.ranks, hop.size) == ("send_recv", (1, 0), 4 * 2**20)
    assert (total.kind, total.algorithm, total.communicator) == ("all_reduce", "direct", "world")
    # every task waits for those on its own rank
    assert sorted(zip(graph.after.tolist(), graph.before.tolist())) == [(2, 1), (3, 0), (4, 0), (4, 3), (5, 1), (5, 2)]


def test_a_task_that_is_not_on_a_rank_is_awaited_everywhere(tmp_path):
    graph = write(tmp_path, """\
ranks: 3
tasks:
  - {name: load, ranks: [0, 1], compute: {duration: 1ms}}
  - {name: train, rank: 2, compute: {duration: 1ms}, after: [load]}
""").build(3)  # fmt: skip
    assert list(zip(graph.before, graph.after)) == [(0, 2), (1, 2)]


def test_names_may_be_used_before_their_task_and_even_in_a_circle(tmp_path):
    graph = write(tmp_path, """\
ranks: 1
tasks:
  - {name: a, compute: {duration: 1ms}, after: [b]}
  - {name: b, compute: {duration: 1ms}, stream: communication, after: [a]}
""").build(1)  # fmt: skip
    assert list(zip(graph.before, graph.after)) == [(1, 0), (0, 1)]
    assert graph.stream.tolist() == [COMPUTE, COMMUNICATION]


def test_a_collective_of_some_ranks_with_a_root_and_one_with_a_matrix(tmp_path):
    graph = write(tmp_path, """\
ranks: 4
tasks:
  - {name: send, ranks: [3, 1, 0], collective: {kind: broadcast, size: 1MB, root: 1}}
  - {name: swap, ranks: [2, 0], collective: {kind: all_to_all_v, matrix: [[0, 3kB], [5kB, 1kB]]}}
""").build(4)  # fmt: skip
    send, swap = graph.operations
    assert (send.ranks, send.root, send.algorithm, send.communicator) == ((3, 1, 0), 1, "ring", "3,1,0")
    assert swap.matrix == ((0.0, 3000.0), (5000.0, 1000.0))
    assert swap.size == 6000.0  # the largest buffer: what rank 0 sends


def test_parameters_of_a_generator(tmp_path):
    workload = write(tmp_path, "workload: {kind: collective, sizes: [1MB, 2MB]}\n")
    assert workload.ranks is None
    assert [op.size for op in workload.build(5).operations] == [1e6, 2e6]


def test_another_number_of_ranks(tmp_path):
    with pytest.raises(InputError, match="is written for 2 ranks, the job has 3"):
        write(tmp_path, THREE_TASKS).build(3)


def test_problems_of_form_all_at_once(tmp_path):
    assert problems(tmp_path, """\
ranks: 2
tasks:
  - {name: a, compute: {flops: 2}}
  - {name: b, transfer: {from: 0, too: 1, size: 4MiB}}
  - {name: c, collective: {kind: all_redce, size: 64MiB}}
  - {name: d, collective: {kind: all_reduce, algorithm: pairwise, size: 64MiB}}
  - {name: e, compute: {}}
  - {name: f}
  - {name: g, rank: 0, ranks: all, compute: {duration: 1ms}}
  - {name: h, rank: 0, transfer: {from: 0, to: 1, size: 1kB}}
  - {name: i, collective: {kind: all_reduce}}
  - {name: j, collective: {kind: all_reduce, size: 1kB, root: 1}}
  - {name: k, collective: {kind: all_to_all_v, size: 1kB}}
""") == [
        "3: tasks.0.compute.flops: '2' has no unit; write a number of operations such as '2TFLOP' or '300GFLOP'",
        "4: tasks.1.transfer.to: missing key (rank that receives)",
        "4: tasks.1.transfer.too: unknown key; allowed: from, size, to; did you mean 'to'?",
        "5: tasks.2.collective.kind: unknown 'all_redce'; allowed: all_reduce, all_gather, reduce_scatter, broadcast, "
        "reduce, all_to_all, all_to_all_v, send_recv; did you mean 'all_reduce'?",
        "6: tasks.3.collective.algorithm: 'pairwise' has no all_reduce; allowed for it: ring, halving_doubling, "
        "double_binary_tree, tree, nvls, nvls_tree, collnet, direct, hierarchical, auto",
        "7: tasks.4.compute: needs either a duration, or flops or memory or both",
        "8: tasks.5: needs one of compute, transfer, collective; got none",
        "9: tasks.6.ranks: give rank or ranks, not both",
        "10: tasks.7.rank: the ranks of a transfer are its from and to",
        "11: tasks.8.collective.size: missing key",
        "12: tasks.9.collective.root: all_reduce has no root",
        "13: tasks.10.collective.matrix: needs a matrix",
    ]  # fmt: skip


def test_problems_of_tasks_among_one_another_all_at_once(tmp_path):
    assert problems(tmp_path, """\
ranks: 2
tasks:
  - {name: forward, compute: {duration: 1ms}}
  - {name: forward, transfer: {from: 0, to: 0, size: 4MiB}, after: [forwrd]}
  - {name: spread, ranks: [0, 3], collective: {kind: broadcast, root: 1, size: 64MiB}}
  - {name: none, ranks: [], collective: {kind: all_reduce, size: 64MiB}}
  - {name: twice, ranks: [1, 1], compute: {duration: 1ms}}
  - {name: swap, collective: {kind: all_to_all_v, matrix: [[0, 1kB]]}}
  - {name: single, rank: 0, collective: {kind: send_recv, size: 1kB}}
""") == [
        "4: tasks.1.name: 'forward' is the name of task 0 already",
        "4: tasks.1.after.0: no task is named 'forwrd'; did you mean 'forward'?",
        "4: tasks.1.transfer: rank 0 sends to itself",
        "5: tasks.2.ranks: there is no rank 3; ranks are 0 to 1",
        "5: tasks.2.collective.root: rank 1 does not take part",
        "6: tasks.3.ranks: names no rank",
        "7: tasks.4.ranks: rank 1 is there twice",
        "8: tasks.5.collective.matrix: must have 2 rows of 2 sizes, one for each of the task's ranks",
        "9: tasks.6.collective.kind: send_recv joins 2 ranks, the task has 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ranks: 2\n", "1: needs either tasks or a workload"),
        (
            "tasks:\n  - {name: a, compute: {duration: 1ms}}\n",
            "1: ranks: missing key (number of ranks of the task graph)",
        ),
        ("ranks: 0\ntasks:\n  - {name: a, compute: {duration: 1ms}}\n", "1: ranks: must be at least 1, got 0"),
        (
            "ranks: 2\nworkload: {kind: collective, sizes: [1MB]}\n",
            "2: workload: has its own precision, and as many ranks as its job; leave out both",
        ),
        ("", "1: the file is empty"),
    ],
)
def test_files_that_are_no_workload(tmp_path, text, problem):
    assert problem in problems(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        WorkloadFile(file=tmp_path / "missing.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_workloads_build_and_all_their_operations_make_flows(path):
    workload = WorkloadFile(file=path)
    ranks = workload.ranks or 4
    graph = workload.build(ranks)
    assert workload.content.description
    assert path.read_text().startswith("# ")  # says what it shows
    everybody = group(star(ranks))
    for operation in graph.operations:
        members = tuple(everybody.devices[r] for r in operation.ranks)
        assert lower(operation, Group(members, everybody.topology, everybody.router)).flows > 0


def test_enough_is_shipped():
    assert sum(WorkloadFile(file=path).ranks in (2, 3, 4) for path in SHIPPED) >= 3
