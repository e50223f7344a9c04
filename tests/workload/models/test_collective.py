import pytest

from simnet import reader
from simnet.errors import InputError
from simnet.workload.models import WORKLOADS
from simnet.workload.models.collective import Collective
from simnet.workload.task_graph import COMMUNICATION


def test_sizes_one_after_the_other():
    graph = Collective(collective="all_gather", sizes=["1MB", "2MB"], repeats=2).build(3)
    assert [(op.kind, op.size, op.algorithm) for op in graph.operations] == [
        ("all_gather", 1e6, "ring"), ("all_gather", 1e6, "ring"),
        ("all_gather", 2e6, "ring"), ("all_gather", 2e6, "ring"),
    ]  # fmt: skip
    assert all(op.ranks == (0, 1, 2) for op in graph.operations)
    assert set(graph.stream) == {COMMUNICATION}
    # the stream alone keeps their order
    assert graph.tasks == 12
    assert len(graph.before) == 0
    assert graph.names == ["all_gather 976.6 KiB", "all_gather 1.907 MiB"]


def test_a_range_of_sizes_as_nccl_tests_takes_it():
    sizes = Collective(min_size="8B", max_size="128MiB", factor=2).message_sizes()
    assert sizes == [8.0 * 2**i for i in range(25)]
    assert Collective(min_size="1kB", max_size="1kB").message_sizes() == [1000.0]
    assert Collective(min_size="1kB", max_size="50kB", factor=10).message_sizes() == [1e3, 1e4]


def test_the_root_is_a_rank():
    assert Collective(collective="broadcast", sizes=["1B"], root=2).build(3).operations[0].root == 2
    with pytest.raises(InputError, match="root 3 is none of the job's 3 ranks"):
        Collective(collective="reduce", sizes=["1B"], root=3).build(3)


def test_send_recv_is_for_two():
    assert Collective(collective="send_recv", sizes=["1B"]).build(2).operations[0].ranks == (0, 1)
    with pytest.raises(InputError, match="joins 2 ranks, the job has 3"):
        Collective(collective="send_recv", sizes=["1B"]).build(3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "needs either sizes or min_size and max_size"),
        ({"sizes": ["1B"], "max_size": "2B"}, "needs either sizes or min_size and max_size"),
        ({"min_size": "1B"}, "a range of sizes needs both min_size and max_size"),
        ({"min_size": "2B", "max_size": "1B"}, "max_size: must be at least min_size, and min_size above 0"),
        ({"min_size": "0", "max_size": "1B"}, "max_size: must be at least min_size, and min_size above 0"),
        ({"min_size": "1B", "max_size": "1GB", "factor": 1.0001}, "factor: makes more than 1000 sizes"),
        ({"sizes": ["1"]}, "sizes.0: '1' has no unit"),
        ({"sizes": ["1B"], "collective": "all_to_all", "algorithm": "ring"}, "algorithm: 'ring' has no all_to_all"),
        ({"sizes": ["1B"], "collective": "all_to_all_v"}, "collective: unknown 'all_to_all_v'; allowed: all_reduce"),
        ({"sizes": ["1B"], "repeats": 0}, "repeats: must be at least 1"),
        ({"sizes": ["1B"], "factor": 1}, "factor: must be above 1"),
    ],
)
def test_bad_parameters(changes, problem):
    with pytest.raises(InputError) as caught:
        reader.validate(changes, Collective)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_parameter_of_every_workload_is_described(name):
    for field, info in WORKLOADS[name].model_fields.items():
        assert info.description, f"{name}.{field}"
    assert WORKLOADS[name].__doc__.strip().split("\n")[0].endswith(".")
