"""Parm S1: the MP group shares its tokens out before the gate, and gathers the results at the end.

Parm (arXiv 2407.00599) pauses model parallelism: each rank of an MP group takes 1 / N_MP of the tokens, so that nothing
is computed or sent twice. ESP and EP collectives become one all-to-all among all ranks: a rank sends every shard of an
expert its tokens, and sums the N_ESP partial results that come back.

    keep X / N_MP  ->  gate, order  ->  dispatch  y  ->  experts  ->  combine  y, sum  ->  un-order
    ->  MP all-gather  X
"""

import numpy as np

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules.deepspeed_moe import hidden_layer
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens
from simnet.workload.training import BACKWARD


def forward(steps: LayerSteps) -> None:
    """The forward pass."""
    layer, matrix = steps.layer, fused_matrix(steps, steps.tokens.paused())
    sent, part = matrix.sum(axis=1), layer.input_size / layer.model_parallel
    steps.gate(layer.tokens / layer.model_parallel)
    steps.move("order", part, sent / layer.expert_sharding, *copies(layer, sent))
    steps.all_to_all("dispatch", [layer.everybody], matrix)
    steps.experts(matrix.sum(axis=0) / layer.token_size)
    steps.all_to_all("combine", [layer.everybody], matrix.T)
    steps.move("un-order", *copies(layer, sent), sent / layer.expert_sharding, part)
    steps.all_gather("MP all-gather", layer.mp_groups, layer.input_size)


def backward(steps: LayerSteps) -> None:
    """The backward pass: the split before the gate becomes an all-gather, the all-gather at the end a split."""
    layer, matrix = steps.layer, fused_matrix(steps, steps.tokens.paused())
    sent, part = matrix.sum(axis=1), layer.input_size / layer.model_parallel
    steps.move("un-order backward", part, sent / layer.expert_sharding, *copies(layer, sent))
    steps.all_to_all("combine backward", [layer.everybody], matrix)
    steps.experts(matrix.sum(axis=0) / layer.token_size, BACKWARD)
    steps.all_to_all("dispatch backward", [layer.everybody], matrix.T)
    steps.move("order backward", *copies(layer, sent), sent / layer.expert_sharding, part)
    steps.gate(layer.tokens / layer.model_parallel, BACKWARD)
    steps.all_gather("MP all-gather backward", layer.mp_groups, layer.input_size)


def fused_matrix(steps: LayerSteps, kept: np.ndarray) -> np.ndarray:
    """Bytes from rank to rank [P, P] where every shard of an expert gets the tokens that are kept for it [P, E]."""
    return np.repeat(steps.tokens.by_owner(kept), steps.layer.expert_sharding, axis=1) * steps.layer.token_size


def copies(layer: Layer, sent: np.ndarray) -> tuple[np.ndarray, ...]:
    """Bytes moved to make a copy for every shard, or to sum up as many partial results, of what is sent."""
    return (sent / layer.expert_sharding, sent) if layer.expert_sharding > 1 else ()


def dropped(tokens: Tokens) -> float:
    """Choices of tokens that found their expert full."""
    return tokens.dropped(tokens.paused(), 1)


def communication_time(layer: Layer, cost: Calibration) -> float:
    """2 A2A_P(y) + AG_MP(X) [s], of one pass."""
    gathered = cost.all_gather_time(layer.model_parallel, layer.input_size)
    return 2 * cost.fused_time(layer.fused_size) + gathered


def activations(layer: Layer) -> float:
    """Bytes that the forward pass keeps: X, X / N_MP, twice y, and the experts' hidden layer."""
    return (
        layer.input_size * (1 + 1 / layer.model_parallel)
        + 2 * layer.fused_size
        + hidden_layer(layer, layer.model_parallel)
    )
