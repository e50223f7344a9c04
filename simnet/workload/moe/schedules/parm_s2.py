"""Parm S2: the MP group shares its tokens out after the gate, and gathers the results while they come in (SAA).

As S1 (arXiv 2407.00599), but every rank gates and orders all tokens of its MP group, and the all-gather moves ordered
tokens (Y instead of X), for which it overlaps with the all-to-all. Without model parallelism there is nothing to gather
and S2 is S1.

    gate, order, keep Y / N_MP  ->  dispatch  y  ->  experts  ->  SAA: combine  y, sum, MP all-gather  Y
    ->  un-order
"""

from collections.abc import Callable

import numpy as np

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules.deepspeed_moe import hidden_layer
from simnet.workload.moe.schedules.parm_s1 import copies, fused_matrix
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens
from simnet.workload.training import BACKWARD

Gather = Callable[[LayerSteps, str, np.ndarray, np.ndarray], None]


def simultaneous(steps: LayerSteps, name: str, matrix: np.ndarray, ordered: np.ndarray) -> None:
    """All-to-all and all-gather at once."""
    if steps.layer.model_parallel == 1:
        steps.all_to_all(name, [steps.layer.everybody], matrix)
    else:
        steps.saa(f"{name} SAA", matrix)


def forward(steps: LayerSteps, gather: Gather = simultaneous) -> None:
    """The forward pass; gather: how results come back and are gathered."""
    layer, whole = steps.layer, steps.tokens.whole()
    ordered, matrix = whole.sum(axis=1) * layer.token_size, fused_matrix(steps, whole / layer.model_parallel)
    sent = matrix.sum(axis=1)
    steps.gate(layer.tokens)
    steps.move("order", layer.input_size, ordered, *copies(layer, sent))
    steps.all_to_all("dispatch", [layer.everybody], matrix)
    steps.experts(matrix.sum(axis=0) / layer.token_size)
    gather(steps, "combine", matrix.T, ordered)
    steps.move("un-order", *copies(layer, sent), ordered, layer.input_size)


def backward(steps: LayerSteps, gather: Gather = simultaneous) -> None:
    """The backward pass: the split after the gate becomes an all-gather, the all-gather of SAA a split."""
    layer, whole = steps.layer, steps.tokens.whole()
    ordered, matrix = whole.sum(axis=1) * layer.token_size, fused_matrix(steps, whole / layer.model_parallel)
    sent = matrix.sum(axis=1)
    steps.move("un-order backward", layer.input_size, ordered, *copies(layer, sent))
    steps.all_to_all("combine backward", [layer.everybody], matrix)
    steps.experts(matrix.sum(axis=0) / layer.token_size, BACKWARD)
    gather(steps, "dispatch backward", matrix.T, ordered)
    steps.move("order backward", *copies(layer, sent), ordered, layer.input_size)
    steps.gate(layer.tokens, BACKWARD)


def dropped(tokens: Tokens) -> float:
    """Choices of tokens that found their expert full."""
    return tokens.dropped(tokens.whole(), tokens.layer.model_parallel)


def communication_time(layer: Layer, cost: Calibration) -> float:
    """A2A_P(y) + SAA(y, Y) [s], of one pass."""
    if layer.model_parallel == 1:
        return 2 * cost.fused_time(layer.fused_size)
    combined = cost.saa_time(layer.model_parallel, layer.expert_sharding, layer.ordered_size)
    return cost.fused_time(layer.fused_size) + combined


def activations(layer: Layer) -> float:
    """Bytes that the forward pass keeps: twice X and Y, twice y, and the experts' hidden layer."""
    return (
        2 * layer.input_size + 2 * layer.ordered_size + 2 * layer.fused_size + hidden_layer(layer, layer.model_parallel)
    )
