"""An MoE layer in numbers: groups, sizes, work; and what is wrong with numbers that do not go together."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.workload.moe import Layer

SMALL = {"ranks": 8, "batch": 2, "sequence": 4, "hidden": 4, "expert_hidden": 8, "experts": 4}
PARM = SMALL | {"model_parallel": 2, "expert_sharding": 2, "capacity_factor": 1.0}


def test_sizes_by_hand():
    """X = 2 x 4 x 4 x 4 B; T = 2 x 1 x 8 / 4; Y = 4 x 4 x 16 B = k f X; y = N_ESP Y / N_MP."""
    layer = Layer(**PARM)
    assert (layer.expert_parallel, layer.tokens, layer.capacity) == (4, 8, 4)
    assert (layer.input_size, layer.ordered_size, layer.fused_size) == (128, 256, 256)
    assert Layer(**PARM | {"model_parallel": 1}).fused_size == 512
    assert Layer(**PARM | {"element": 2}).ordered_size == 128
    # 1 local expert of 2 x 4 x 8 weights in 2 shards
    assert layer.weights == 32
    assert Layer(**PARM | {"experts": 8, "matrices": 3}).weights == 2 * 48


def test_capacity_is_not_rounded():
    layer = Layer(**SMALL | {"experts": 8, "top_k": 2, "capacity_factor": 1.2})
    assert layer.capacity == pytest.approx(2.4)
    assert layer.ordered_size == pytest.approx(2.4 * layer.input_size)


def test_groups():
    layer = Layer(**PARM | {"model_parallel": 4})
    assert layer.mp_groups == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert layer.esp_groups == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert layer.ep_groups == [(0, 2, 4, 6), (1, 3, 5, 7)]


def test_work_of_experts_and_gate():
    layer = Layer(**PARM)
    work = layer.expert_work(np.array([10.0, 0.0]))
    # 2 GEMMs of 4 x 4 (half of 8) multiply-adds a token; 4 B each of tokens in and out, their hidden 4 twice, weights
    assert work["flops"].tolist() == [10 * 2 * 2 * 4 * 4, 0]
    assert work["memory"].tolist() == [4 * (10 * (2 * 4 + 2 * 4) + 32), 4 * 32]
    assert layer.gate(8)["flops"] == 2 * 8 * 4 * 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_parallel": 3}, "model_parallel: 3 does not divide the job's 8 ranks into groups"),
        ({"expert_sharding": 3}, "expert_sharding: 3 does not divide the job's 8 ranks into groups"),
        ({"experts": 2}, "experts: 2 is fewer than the 4 EP ranks (8 ranks / expert_sharding 2), each of which holds"),
        ({"experts": 6}, "experts: 6 is no multiple of the 4 EP ranks"),
        (
            {"top_k": 5},
            "top_k: 5 is more than the number of experts, 4 (by default one per EP rank: 8 ranks / expert_sharding 2)",
        ),
        ({"capacity_factor": 0.2}, "capacity_factor: an expert's capacity is 0.8 tokens of 8, below one"),
    ],
)
def test_what_does_not_go_together(change, sentence):
    with pytest.raises(InputError, match=r".") as error:
        Layer(**PARM | change)
    assert str(error.value).startswith(sentence)
