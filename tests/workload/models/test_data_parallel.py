import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet import reader
from simnet.errors import InputError
from simnet.workload.models.data_parallel import DataParallel, gradient_buckets
from simnet.workload.models.networks import MODELS
from simnet.workload.models.precision import ELEMENT_SIZE
from simnet.workload.task_graph import COMMUNICATION, COMPUTE
from simnet.workload.training import optimizer_bytes

THREE_LAYERS = [
    {"name": "a", "parameters": 10, "flops": "100FLOP", "activations": 7},
    {"name": "b", "parameters": 0, "flops": "50FLOP"},
    {"name": "c", "parameters": 20, "flops": "0", "activations": 1},
]


def by_name(graph, rank):
    names = [graph.names[n] for n in graph.name]
    return {name: i for i, name in enumerate(names) if graph.rank[i] == rank}


@pytest.mark.parametrize("precision", ELEMENT_SIZE)
@pytest.mark.parametrize("model", ["gpt2_small", "bert_base", "resnet50"])
def test_work_and_bytes_of_one_iteration(model, precision):
    graph = DataParallel(model=model, batch=4, precision=precision).build(3)
    layers = MODELS[model].build(MODELS[model].sequence)
    for rank in range(3):
        flops = graph.flops[graph.rank == rank].sum()
        assert flops == pytest.approx(3 * 4 * sum(layer.flops for layer in layers))
    parameters = sum(layer.parameters for layer in layers)
    assert sum(op.size for op in graph.operations) == parameters * ELEMENT_SIZE[precision]
    assert {op.kind for op in graph.operations} == {"all_reduce"}
    assert graph.precision == precision


def test_three_layers_by_hand():
    graph = DataParallel(layers=THREE_LAYERS, batch=2, precision="fp16", bucket="0").build(2)
    assert graph.tasks == 2 * (3 + 3 + 2 + 1)
    task = by_name(graph, 1)
    assert list(task) == [
        "forward a", "forward b", "forward c", "backward c", "backward b", "backward a",
        "gradients 0", "gradients 1", "optimizer",
    ]  # fmt: skip
    # weights read, activations of two samples written and read again, at 2 bytes
    assert (graph.flops[task["forward a"]], graph.memory[task["forward a"]]) == (200, 2 * (10 + 2 * 2 * 7))
    assert (graph.flops[task["backward a"]], graph.memory[task["backward a"]]) == (400, 4 * (10 + 2 * 2 * 7))
    # layer b has no weights and so no bucket; c is ready first
    assert [op.size for op in graph.operations] == [40.0, 20.0]
    waits = {(int(b), int(a)) for b, a in zip(graph.before, graph.after) if graph.rank[a] == 1}
    assert waits == {
        (task["backward c"], task["gradients 0"]), (task["backward a"], task["gradients 1"]),
        (task["gradients 0"], task["optimizer"]), (task["gradients 1"], task["optimizer"]),
    }  # fmt: skip


def test_gradients_travel_while_the_backward_pass_goes_on():
    graph = DataParallel(model="gpt2_small", batch=1).build(2)
    task = by_name(graph, 0)
    backward = [t for name, t in task.items() if name.startswith("backward")]
    buckets = [t for name, t in task.items() if name.startswith("gradients")]
    assert len(buckets) > 3
    assert {graph.stream[t] for t in buckets} == {COMMUNICATION}
    assert {graph.stream[t] for t in [*backward, task["optimizer"]]} == {COMPUTE}
    filled_by = [int(graph.before[np.flatnonzero(graph.after == t)[0]]) for t in buckets]
    # all but the last start before the backward pass is over, in the order of the pass
    assert filled_by == sorted(filled_by)
    assert max(filled_by[:-1]) < max(backward) == filled_by[-1]
    # nothing in the backward pass waits for communication
    assert not np.isin(graph.after, backward).any()


def test_fewer_and_larger_buckets():
    def sizes(bucket):
        return [op.size for op in DataParallel(model="gpt2_small", batch=1, bucket=bucket).build(2).operations]

    assert len(sizes("100MiB")) < len(sizes("25MiB")) < len(sizes("0"))
    assert len(sizes("1GB")) == 1
    assert all(size >= 25 * 2**20 for size in sizes("25MiB")[:-1])


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(0, 200))
def test_buckets_hold_every_gradient_once(sizes, bucket):
    buckets = gradient_buckets(sizes, bucket)
    assert [i for b in buckets for i in b] == [i for i in reversed(range(len(sizes))) if sizes[i]]
    for held in buckets[:-1]:
        assert sum(sizes[i] for i in held) >= bucket
    for held in buckets:  # not one layer more than needed
        assert sum(sizes[i] for i in held[:-1]) < max(bucket, 1)


@pytest.mark.parametrize(("element", "expected"), [(4, 28), (2, 28), (1, 26)])
def test_bytes_that_adam_moves_per_parameter(element, expected):
    # fp32: gradient 4, weight and moments 12 in and 12 out. bf16: gradient 2, 12 in and 12 out, working weight 2
    assert optimizer_bytes(10, element) == 10 * expected


def test_one_rank_has_operations_too():
    graph = DataParallel(model="gpt2_small", batch=1).build(1)
    assert all(op.ranks == (0,) for op in graph.operations)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"batch": 1}, "needs either a model or layers"),
        ({"batch": 1, "model": "gpt2_small", "layers": THREE_LAYERS}, "needs either a model or layers"),
        ({"model": "gpt2_small"}, "batch: missing key"),
        ({"batch": 0, "model": "gpt2_small"}, "batch: must be at least 1"),
        ({"batch": 1, "model": "gpt2_smal"}, "did you mean 'gpt2_small'?"),
        (
            {"batch": 1, "model": "gpt2_small", "sequence": 1025},
            "sequence: gpt2_small takes at most 1024 tokens, got 1025",
        ),
        ({"batch": 1, "model": "resnet50", "sequence": 8}, "sequence: only language models have a sequence length"),
        ({"batch": 1, "layers": [*THREE_LAYERS, THREE_LAYERS[0]]}, "layers.3.name: 'a' is the name of layer 0 already"),
        ({"batch": 1, "model": "gpt2_small", "algorithm": "pairwise"}, "algorithm: unknown 'pairwise'"),
        ({"batch": 1, "model": "gpt2_small", "precision": "fp12"}, "precision: unknown 'fp12'"),
        ({"batch": 1, "model": "gpt2_small", "bucket": "25"}, "bucket: '25' has no unit"),
    ],
)
def test_bad_parameters(changes, problem):
    with pytest.raises(InputError) as caught:
        reader.validate(changes, DataParallel)
    assert problem in str(caught.value)
