"""One iteration of a transformer whose feed-forward networks are Mixture-of-Experts layers, all of them or some.

Attention, dense feed-forward networks, embedding and logits are split over the MP group, as in Megatron-LM (arXiv
1909.08053): each rank does 1 / N_MP of the work, and the group all-reduces X after each forward part and each backward
part (after the embedding forward only, after the logits backward only). Ranks with the same part of the model, equal
modulo N_MP, all-reduce its gradients when the backward pass is over, so that they do not compete with all-to-alls;
experts have no replicas. Every rank then updates its own part of the weights.
"""

from pydantic import Field, PositiveInt, model_validator

from simnet.params import inside, row_name
from simnet.workload.models.moe import MoeParams, check_groups, check_memory
from simnet.workload.models.networks import MODELS, Transformer
from simnet.workload.models.networks import Layer as Part
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import SCHEDULES
from simnet.workload.moe.steps import LayerSteps, direction
from simnet.workload.moe.tokens import Tokens
from simnet.workload.placed import Placed
from simnet.workload.task_graph import TaskGraph, TaskGraphBuilder
from simnet.workload.training import BACKWARD, optimizer_bytes, state_bytes

TRANSFORMERS = {name: model for name, model in MODELS.items() if isinstance(model, Transformer)}


class MoeModel(MoeParams):
    """One iteration of a transformer with Mixture-of-Experts layers: attention, experts, gradients, optimizer."""

    model: row_name(TRANSFORMERS) = Field(description="a known transformer, whose feed-forward networks become experts")
    sequence: PositiveInt | None = Field(None, description="tokens per sample; default the model's longest")
    moe_every: PositiveInt = Field(1, description="every n-th feed-forward network is an MoE layer, the last one is")

    @model_validator(mode="after")
    def _within_the_model(self):
        known = TRANSFORMERS[self.model]
        if self.sequence is not None and self.sequence > known.sequence:
            raise inside(("sequence",), f"{self.model} takes at most {known.sequence} tokens, got {self.sequence}")
        if self.moe_every > known.layers:
            raise inside(("moe_every",), f"{self.model} has only {known.layers} layers")
        return self

    @property
    def transformer(self) -> Transformer:
        """The dense model."""
        return TRANSFORMERS[self.model]

    @property
    def length(self) -> int:
        """Tokens per sample."""
        return self.sequence or self.transformer.sequence

    def layer(self, ranks: int) -> Layer:
        """One of the MoE layers on so many ranks. Raises InputError where the numbers do not go together."""
        known = self.transformer
        return self.layer_of(ranks, self.length, known.hidden, known.ffn, known.gated)

    def has_experts(self, block: int) -> bool:
        """Whether the feed-forward network of a block is an MoE layer."""
        return (self.transformer.layers - 1 - block) % self.moe_every == 0

    def build(self, ranks: int) -> TaskGraph:
        """The task graph. Raises InputError."""
        layer, blocks = self.layer(ranks), self.transformer.layers
        tasks = TaskGraphBuilder(ranks, self.precision)
        routed = [
            {block: self.tokens(layer, step * blocks + block) for block in range(blocks) if self.has_experts(block)}
            for step in range(self.steps)
        ]
        steps = LayerSteps(tasks, routed[0][blocks - 1])
        for tokens in routed:
            self._forward(steps, tokens)
            if self.backward:
                self._backward(steps, tokens)
        self.tell(tasks, [tokens for step in routed for tokens in step.values()])
        return tasks.build()

    def memory(self, ranks: int) -> float:
        """Bytes that the model needs on each GPU: weights, gradients, moments of Adam and kept activations.

        Of the activations of attention and dense networks a part is the same on all ranks of an MP group
        (arXiv 2205.05198, section 4.1: 10 of 34 bytes per token and element in 16 bits); logits are split.
        """
        layer, known = self.layer(ranks), self.transformer
        weights = self._parameters(layer) + self._experts * layer.weights
        activations = self._experts * SCHEDULES[self.schedule].activations(layer)
        split = 4 * known.hidden * known.layers + known.matrices * known.ffn * self._dense + known.vocabulary
        whole = 2.5 * known.hidden * (known.layers + self._dense)
        activations += layer.tokens * layer.element * (whole + split / layer.model_parallel)
        return activations + (state_bytes(weights, layer.element) if self.backward else weights * layer.element)

    def check_placement(self, placed: Placed) -> None:
        """Raises InputError where groups cross servers, or a GPU has too little memory."""
        check_groups(self.layer(len(placed.servers)), placed)
        check_memory(self.memory(len(placed.servers)), placed)

    @property
    def _experts(self) -> int:
        """Number of MoE layers."""
        return sum(self.has_experts(block) for block in range(self.transformer.layers))

    @property
    def _dense(self) -> int:
        """Number of dense feed-forward networks."""
        return self.transformer.layers - self._experts

    def _parameters(self, layer: Layer) -> float:
        """Weights of a rank that are no experts': its part of the dense layers, and all gates."""
        embedding, *blocks, output = self.transformer.build(self.length)
        attention, dense = self.transformer.attention(self.length), self.transformer.feed_forward(self.length)
        split = embedding.parameters + output.parameters + len(blocks) * attention.parameters
        split += self._dense * dense.parameters
        return split / layer.model_parallel + self._experts * layer.hidden * layer.experts

    def _forward(self, steps: LayerSteps, tokens: dict[int, Tokens]) -> None:
        known = self.transformer
        embedding, *blocks, output = known.build(self.length)
        self._part(steps, embedding)
        self._reduce(steps, embedding)
        for block in range(len(blocks)):
            steps.enter(tokens.get(block, steps.tokens), f"layer {block} ")
            self._part(steps, known.attention(self.length))
            self._reduce(steps, known.attention(self.length))
            if self.has_experts(block):
                SCHEDULES[self.schedule].forward(steps)
            else:
                self._part(steps, known.feed_forward(self.length))
                self._reduce(steps, known.feed_forward(self.length))
        steps.enter(steps.tokens)
        self._part(steps, output)

    def _backward(self, steps: LayerSteps, tokens: dict[int, Tokens]) -> None:
        known = self.transformer
        embedding, *blocks, output = known.build(self.length)
        self._part(steps, output, BACKWARD)
        self._reduce(steps, output, BACKWARD)
        for block in reversed(range(len(blocks))):
            steps.enter(tokens.get(block, steps.tokens), f"layer {block} ")
            if self.has_experts(block):
                SCHEDULES[self.schedule].backward(steps)
            else:
                self._part(steps, known.feed_forward(self.length), BACKWARD)
                self._reduce(steps, known.feed_forward(self.length), BACKWARD)
            self._part(steps, known.attention(self.length), BACKWARD)
            self._reduce(steps, known.attention(self.length), BACKWARD)
        steps.enter(steps.tokens)
        self._part(steps, embedding, BACKWARD)
        self._update(steps)

    def _part(self, steps: LayerSteps, part: Part, times: int = 1) -> None:
        """A rank's share of a part of the model: weights and activations are moved once, as in `data_parallel`."""
        layer = steps.layer
        moved = layer.element * (part.parameters + 2 * self.batch * part.activations)
        share = times / layer.model_parallel
        work = {"flops": share * self.batch * part.flops, "memory": share * moved}
        steps.compute(part.name + direction(times), work)

    def _reduce(self, steps: LayerSteps, part: Part, times: int = 1) -> None:
        """The MP group sums up its partial results."""
        layer = steps.layer
        steps.all_reduce(f"{part.name} MP all-reduce{direction(times)}", layer.mp_groups, layer.input_size)

    def _update(self, steps: LayerSteps) -> None:
        """All-reduce of the gradients that have replicas, and the optimizer."""
        layer = steps.layer
        own, size = self._parameters(layer), layer.model_parallel
        replicas = [tuple(range(first, layer.ranks, size)) for first in range(size)]
        steps.all_reduce("gradients", replicas, own * layer.element)
        weights = own + self._experts * layer.weights
        steps.compute("optimizer", {"memory": optimizer_bytes(weights, layer.element)})
