"""DeepSpeed-MoE in chunks: experts compute one chunk while others are on their way (Tutel, PipeMoE).

Each of n chunks holds 1 / n of every expert's tokens. All chunks are dispatched one after the other; as soon as one has
arrived and the experts are free they compute it, and it is reduced and sent back behind the last dispatch.

    stream compute        gate, order        experts 1  experts 2 ...                            un-order
    stream communication  ESP all-gather  ...  dispatch 1, 2 ...  ESP all-reduce 1  combine 1  ...
"""

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules.deepspeed_moe import activations, dropped, matrix_of, traffic_of
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.training import BACKWARD

__all__ = ["activations", "backward", "communication_time", "dropped", "forward"]


def forward(steps: LayerSteps) -> None:
    """The forward pass."""
    layer, matrix = steps.layer, matrix_of(steps)
    inputs, sent, _ = traffic_of(layer, matrix)
    steps.all_gather("ESP all-gather", layer.esp_groups, inputs)
    steps.gate(layer.expert_sharding * layer.tokens)
    steps.move("order", inputs, sent)
    _in_chunks(steps, matrix, "dispatch", "combine", "", 1)
    steps.move("un-order", sent, inputs)


def backward(steps: LayerSteps) -> None:
    """The backward pass."""
    layer, matrix = steps.layer, matrix_of(steps)
    inputs, sent, _ = traffic_of(layer, matrix)
    steps.all_gather("ESP all-gather backward", layer.esp_groups, inputs)
    steps.move("un-order backward", inputs, sent)
    _in_chunks(steps, matrix, "combine", "dispatch", " backward", BACKWARD)
    steps.move("order backward", sent, inputs)
    steps.gate(layer.expert_sharding * layer.tokens, BACKWARD)


def _in_chunks(steps: LayerSteps, matrix, there: str, back: str, direction: str, times: int) -> None:
    layer, part = steps.layer, matrix / steps.layer.chunks
    _, _, received = traffic_of(layer, part)
    ready = [steps.last]
    chunks = range(1, layer.chunks + 1)
    arrived = [steps.all_to_all(f"{there}{direction} {chunk}", layer.ep_groups, part, after=ready) for chunk in chunks]
    for chunk, before in zip(chunks, arrived):
        steps.experts(received / layer.token_size, times, after=[before])
        steps.all_reduce(f"ESP all-reduce{direction} {chunk}", layer.esp_groups, part.sum(axis=0))
        steps.all_to_all(f"{back}{direction} {chunk}", layer.ep_groups, part.T)


def communication_time(layer: Layer, cost: Calibration) -> float:
    """AG_ESP(N_ESP X) + n (2 A2A_EP(N_ESP Y / n) + AR_ESP(N_ESP Y / n)) [s], of one pass."""
    shards, chunk = layer.expert_sharding, layer.expert_sharding * layer.ordered_size / layer.chunks
    exchanged = 2 * cost.all_to_all_time(shards, chunk) + cost.all_reduce_time(shards, chunk)
    return cost.all_gather_time(shards, shards * layer.input_size) + layer.chunks * exchanged
