"""DeepSpeed-MoE: gather the inputs of the ESP group, all-to-all within EP groups, all-reduce of the partial results.

The path of DeepSpeed's moe_inference.py with an expert_mp_group, serial throughout; an MP group's ranks all send the
same tokens, so that experts compute everything N_MP times. The backward pass moves the same bytes: it gathers the
gradients of the split, and all-reduces the gradients of the experts' inputs (Megatron's conjugate operators).

    ESP all-gather  N_ESP X  ->  gate, order  ->  dispatch  N_ESP Y  ->  experts  ->  ESP all-reduce  N_ESP Y
    ->  combine  N_ESP Y  ->  un-order, keep the rank's own X
"""

from collections.abc import Callable

import numpy as np

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens
from simnet.workload.training import BACKWARD


def forward(steps: LayerSteps, algorithm: str = "direct") -> None:
    """The forward pass; algorithm: of the all-to-alls."""
    layer, matrix = steps.layer, matrix_of(steps)
    inputs, sent, received = traffic_of(layer, matrix)
    steps.all_gather("ESP all-gather", layer.esp_groups, inputs)
    steps.gate(layer.expert_sharding * layer.tokens)
    steps.move("order", inputs, sent)
    steps.all_to_all("dispatch", layer.ep_groups, matrix, algorithm)
    steps.experts(received / layer.token_size)
    steps.all_reduce("ESP all-reduce", layer.esp_groups, matrix.sum(axis=0))
    steps.all_to_all("combine", layer.ep_groups, matrix.T, algorithm)
    steps.move("un-order", sent, inputs)


def backward(steps: LayerSteps, algorithm: str = "direct") -> None:
    """The backward pass."""
    layer, matrix = steps.layer, matrix_of(steps)
    inputs, sent, received = traffic_of(layer, matrix)
    steps.all_gather("ESP all-gather backward", layer.esp_groups, inputs)
    steps.move("un-order backward", inputs, sent)
    steps.all_to_all("combine backward", layer.ep_groups, matrix, algorithm)
    steps.experts(received / layer.token_size, BACKWARD)
    steps.all_reduce("ESP all-reduce backward", layer.esp_groups, matrix.sum(axis=0))
    steps.all_to_all("dispatch backward", layer.ep_groups, matrix.T, algorithm)
    steps.move("order backward", sent, inputs)
    steps.gate(layer.expert_sharding * layer.tokens, BACKWARD)


def matrix_of(steps: LayerSteps) -> np.ndarray:
    """Bytes from EP rank to EP rank [N_EP, N_EP]."""
    return steps.tokens.by_owner(steps.tokens.gathered()) * steps.layer.token_size


def traffic_of(layer: Layer, matrix: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Bytes of the gathered inputs, and those that each rank sends and receives [P]."""
    sent, received = (np.repeat(matrix.sum(axis=axis), layer.expert_sharding) for axis in (1, 0))
    return layer.expert_sharding * layer.input_size, sent, received


def dropped(tokens: Tokens) -> float:
    """Choices of tokens that found their expert full."""
    return tokens.dropped(tokens.gathered(), tokens.layer.model_parallel)


def communication_time(layer: Layer, cost: Calibration, all_to_all: Callable | None = None) -> float:
    """AG_ESP(N_ESP X) + 2 A2A_EP(N_ESP Y) + AR_ESP(N_ESP Y) [s], of one pass; all_to_all: other than that of `cost`."""
    shards, exchange = layer.expert_sharding, all_to_all or cost.all_to_all_time
    return (
        cost.all_gather_time(shards, shards * layer.input_size)
        + 2 * exchange(shards, shards * layer.ordered_size)
        + cost.all_reduce_time(shards, shards * layer.ordered_size)
    )


def activations(layer: Layer) -> float:
    """Bytes that the forward pass keeps: X (1 + N_ESP), twice N_ESP Y, and the experts' hidden layer."""
    shards = layer.expert_sharding
    return layer.input_size * (1 + shards) + 2 * shards * layer.ordered_size + hidden_layer(layer, 1)


def hidden_layer(layer: Layer, model_parallel: int) -> float:
    """Bytes of a rank's hidden activations, before and after the nonlinearity: 2 k f B L H w / N_MP (3 where gated)."""
    return layer.matrices * layer.ordered_size * layer.expert_hidden / layer.hidden / model_parallel
