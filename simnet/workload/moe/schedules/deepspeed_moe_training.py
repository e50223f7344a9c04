"""DeepSpeed's training path: no gathering of inputs, an all-to-all within EP groups, all-reduce of partial results.

As sharded_moe.py with tensor-parallel experts. Nothing is gathered, so the ranks of an ESP group must have the same
input, that is lie in one MP group; experts still compute everything N_MP times.

    gate, order  ->  dispatch  Y  ->  experts  ->  ESP all-reduce  Y  ->  combine  Y  ->  un-order
"""

import numpy as np

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules.deepspeed_moe import hidden_layer, traffic_of
from simnet.workload.moe.schedules.parm_s2 import dropped
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.training import BACKWARD

__all__ = ["activations", "backward", "communication_time", "dropped", "forward", "problem"]


def forward(steps: LayerSteps) -> None:
    """The forward pass."""
    layer, matrix = steps.layer, _matrix(steps)
    _, sent, received = traffic_of(layer, matrix)
    steps.gate(layer.tokens)
    steps.move("order", layer.input_size, sent)
    steps.all_to_all("dispatch", layer.ep_groups, matrix)
    steps.experts(received / layer.token_size)
    steps.all_reduce("ESP all-reduce", layer.esp_groups, matrix.sum(axis=0))
    steps.all_to_all("combine", layer.ep_groups, matrix.T)
    steps.move("un-order", sent, layer.input_size)


def backward(steps: LayerSteps) -> None:
    """The backward pass."""
    layer, matrix = steps.layer, _matrix(steps)
    _, sent, received = traffic_of(layer, matrix)
    steps.move("un-order backward", layer.input_size, sent)
    steps.all_to_all("combine backward", layer.ep_groups, matrix)
    steps.experts(received / layer.token_size, BACKWARD)
    steps.all_reduce("ESP all-reduce backward", layer.esp_groups, matrix.sum(axis=0))
    steps.all_to_all("dispatch backward", layer.ep_groups, matrix.T)
    steps.move("order backward", sent, layer.input_size)
    steps.gate(layer.tokens, BACKWARD)


def problem(layer: Layer) -> str | None:
    """Why the layer cannot have this schedule."""
    if layer.model_parallel % layer.expert_sharding:
        return (
            f"expert_sharding: {layer.expert_sharding} does not divide model_parallel {layer.model_parallel}; without "
            "an ESP all-gather the ranks of an ESP group must have the same input"
        )
    return None


def communication_time(layer: Layer, cost: Calibration) -> float:
    """2 A2A_EP(Y) + AR_ESP(Y) [s], of one pass."""
    exchanged = cost.all_to_all_time(layer.expert_sharding, layer.ordered_size)
    return 2 * exchanged + cost.all_reduce_time(layer.expert_sharding, layer.ordered_size)


def activations(layer: Layer) -> float:
    """Bytes that the forward pass keeps: twice X, twice Y, and the experts' hidden layer."""
    return 2 * layer.input_size + 2 * layer.ordered_size + hidden_layer(layer, layer.expert_sharding)


def _matrix(steps: LayerSteps) -> np.ndarray:
    """Bytes from EP rank to EP rank [N_EP, N_EP]; the ranks of an ESP group send alike."""
    kept = steps.tokens.whole()[:: steps.layer.expert_sharding]
    return steps.tokens.by_owner(kept) * steps.layer.token_size
