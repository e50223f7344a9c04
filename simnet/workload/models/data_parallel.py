"""One iteration of data-parallel training: every rank holds the whole model and its own part of the batch."""

from collections.abc import Sequence

from pydantic import Field, NonNegativeInt, model_validator

from simnet.params import Params, inside, row_name
from simnet.units import Size, Work
from simnet.workload.collectives import algorithms_for
from simnet.workload.models.by_library import ByLibrary
from simnet.workload.models.networks import MODELS, Layer
from simnet.workload.models.precision import ELEMENT_SIZE, Precision
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder
from simnet.workload.training import BACKWARD, optimizer_bytes


class LayerParams(Params):
    """A layer written out by hand."""

    name: str = Field(description="unique among the layers")
    parameters: NonNegativeInt = Field(description="number of weights, each of which has a gradient")
    flops: Work = Field(description="operations of the forward pass for one sample; a multiply-add counts as 2")
    activations: NonNegativeInt = Field(0, description="elements that the forward pass of one sample writes")


class DataParallel(ByLibrary):
    """One dense training iteration: forward, backward, gradient buckets all-reduced meanwhile, optimizer."""

    model: row_name(MODELS) | None = Field(None, description="a known network; or give layers")
    layers: tuple[LayerParams, ...] = Field((), description="the network, layer by layer, in forward order")
    batch: int = Field(ge=1, description="samples per rank (sequences or images)")
    sequence: int | None = Field(None, ge=1, description="tokens per sample; default the model's longest")
    precision: Precision = Field("bf16", description="format of weights, activations and gradients")
    bucket: Size = Field(
        25.0 * 2**20,
        description="gradients are all-reduced in buckets of this size, filled layer by layer (PyTorch: 25 MiB)",
    )
    algorithm: row_name(dict.fromkeys(algorithms_for("all_reduce"))) = Field("ring", description="of the all-reduce")

    @model_validator(mode="after")
    def _consistent(self):
        if (self.model is None) == (not self.layers):
            raise ValueError("needs either a model or layers")
        longest = MODELS[self.model].sequence if self.model else None
        if self.sequence is not None and longest is None:
            raise inside(("sequence",), "only language models have a sequence length")
        if self.sequence is not None and self.sequence > longest:
            raise inside(("sequence",), f"{self.model} takes at most {longest} tokens, got {self.sequence}")
        names = [layer.name for layer in self.layers]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise inside(("layers", i, "name"), f"'{name}' is the name of layer {names.index(name)} already")
        return self

    def network(self) -> Sequence[Layer | LayerParams]:
        """The layers, in forward order."""
        if self.layers:
            return self.layers
        network = MODELS[self.model]
        return network.build(self.sequence or network.sequence)

    def build(self, ranks: int) -> TaskGraph:
        """The task graph; bytes moved count every weight, activation and gradient once per use.

        Forward: weights are read, activations written once and read once. Backward: twice of both, FLOPs and bytes.
        Optimizer: see `optimizer_bytes`.
        """
        layers, element = self.network(), ELEMENT_SIZE[self.precision]
        buckets = gradient_buckets([layer.parameters * element for layer in layers], self.bucket)
        tasks = TaskGraphBuilder(ranks, self.precision)
        last = {}  # bucket -> per rank, the backward task that fills it
        closing = {bucket[-1]: i for i, bucket in enumerate(buckets)}
        for rank in range(ranks):
            for layer in layers:
                tasks.compute(rank, f"forward {layer.name}", **self._cost(layer, element))
            for index in reversed(range(len(layers))):
                layer = layers[index]
                task = tasks.compute(rank, f"backward {layer.name}", **self._cost(layer, element, BACKWARD))
                if index in closing:
                    last.setdefault(closing[index], []).append(task)
        reduced = []
        for i, bucket in enumerate(buckets):
            size = float(sum(layers[index].parameters for index in bucket) * element)
            operation = Operation(
                "all_reduce", size, tuple(range(ranks)), self.algorithm, label=f"gradients {i}", **self.by_library
            )
            reduced.append(tasks.collective(operation, operation.label, after=[(task,) for task in last[i]]))
        parameters = sum(layer.parameters for layer in layers)
        for rank in range(ranks):
            waits = [members[rank] for members in reduced]
            tasks.compute(rank, "optimizer", memory=optimizer_bytes(parameters, element), after=waits)
        return tasks.build()

    def _cost(self, layer: Layer | LayerParams, element: int, times: int = 1) -> dict[str, float]:
        moved = element * (layer.parameters + 2 * self.batch * layer.activations)
        return {"flops": times * self.batch * layer.flops, "memory": float(times * moved)}


def gradient_buckets(sizes: Sequence[float], bucket: float) -> list[list[int]]:
    """Layers whose gradients travel together, in the order in which they become ready: the last layer's first.

    sizes [bytes]: gradients of each layer, in forward order. A bucket closes when it holds at least `bucket` bytes; a
    layer is not split, since its gradients become ready together.
    """
    buckets, current, filled = [], [], 0.0
    for index in reversed(range(len(sizes))):
        if sizes[index] > 0:
            current.append(index)
            filled += sizes[index]
        if current and filled >= bucket:
            buckets.append(current)
            current, filled = [], 0.0
    return [*buckets, current] if current else buckets
