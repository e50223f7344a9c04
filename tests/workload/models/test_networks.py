import json
from pathlib import Path

import pytest

from simnet.workload.models.networks import MODELS

# published checkpoints and, for ResNet, torchvision
PARAMETERS = {
    "gpt2_small": 124_439_808, "gpt2_medium": 354_823_168, "gpt2_large": 774_030_080, "gpt2_xl": 1_557_611_200,
    "gpt3_125m": 125_226_240, "gpt3_350m": 355_871_744, "gpt3_760m": 760_300_032, "gpt3_1.3b": 1_315_723_264,
    "gpt3_2.7b": 2_651_553_280, "gpt3_6.7b": 6_658_404_352, "gpt3_13b": 12_853_386_240,
    "gpt3_175b": 174_604_259_328, "bert_base": 109_482_240, "bert_large": 335_141_888, "llama2_7b": 6_738_415_616,
    "llama2_13b": 13_015_864_320, "llama2_70b": 68_976_648_192, "llama3_8b": 8_030_261_248,
    "llama3_70b": 70_553_706_496, "resnet50": 25_557_032, "resnet101": 44_549_160,
}  # fmt: skip
PRESETS = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "workloads" / "model_presets.json"


def layers(name, sequence=None):
    return MODELS[name].build(sequence or MODELS[name].sequence)


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_those_of_the_published_network(name):
    assert sum(layer.parameters for layer in layers(name)) == PARAMETERS[name]


@pytest.mark.parametrize("name", MODELS)
def test_layers_are_told_apart_by_name(name):
    names = [layer.name for layer in layers(name)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith("gpt")])
def test_training_flops_are_those_of_megatron(name):
    # arXiv 2104.04473: 72 B L s h^2 (1 + s/(6h) + V/(12 h L)) for forward and backward, of which the forward is a third
    model = MODELS[name]
    s, h, depth, v = model.sequence, model.hidden, model.layers, model.vocabulary
    training = 72 * depth * s * h**2 * (1 + s / (6 * h) + v / (12 * h * depth))
    assert 3 * sum(layer.flops for layer in layers(name)) == pytest.approx(training, rel=1e-12)


def test_a_gpt2_block_by_hand():
    block = layers("gpt2_small")[1]
    h, s = 768, 1024
    assert block.name == "layer 0"
    assert block.parameters == 12 * h * h + 13 * h
    assert block.flops == 24 * s * h * h + 4 * s * s * h
    assert 2 * block.activations == 34 * s * h  # bytes in 16 bits


def test_shorter_samples_cost_less_and_weigh_the_same():
    long, short = layers("gpt2_small"), layers("gpt2_small", 256)
    assert [a.parameters for a in long] == [b.parameters for b in short]
    assert all(b.activations * 4 == a.activations for a, b in zip(long, short))
    assert all(b.flops * 4 <= a.flops for a, b in zip(long, short))


def test_grouped_queries_and_gates_of_llama3_8b():
    block = layers("llama3_8b")[1]
    h, f, s = 4096, 14336, 8192
    weights = h * h * 2 + 2 * h * 1024 + 3 * h * f
    assert block.parameters == weights + 2 * h
    assert block.flops == 2 * s * weights + 4 * s * s * h


def test_resnet50_is_4_09_billion_multiply_adds():
    assert sum(layer.flops for layer in layers("resnet50")) == 2 * 4_089_184_256


@pytest.mark.skipif(not PRESETS.is_file(), reason="reference data is not beside the checkout")
def test_against_the_collected_presets():
    presets = {name.replace("-", "_"): row for name, row in json.loads(PRESETS.read_text()).items()}
    shared = [name for name in MODELS if name in presets]
    assert len(shared) >= 20
    for name in shared:
        assert PARAMETERS[name] == presets[name]["params"], name
