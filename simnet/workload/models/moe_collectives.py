"""The collectives of Mixture-of-Experts layers, one after the other over message sizes, for calibration."""

from itertools import product

import numpy as np
from pydantic import Field, PositiveInt

from simnet.params import Params
from simnet.units import SIZE, Size, Time
from simnet.workload.models.moe import LAUNCH
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens
from simnet.workload.task_graph import TaskGraph, TaskGraphBuilder

SEPARATOR = " of "
"""Between the name of a collective and its size, in the name of a task."""
_SIZES = tuple(2.0**power for power in range(20, 28))


class MoeCollectives(Params):
    """The collectives of MoE layers by themselves, all groups at once: what `simnet calibrate` runs."""

    model_parallel: tuple[PositiveInt, ...] = Field((1, 2, 4), description="sizes of MP groups, consecutive ranks")
    expert_sharding: tuple[PositiveInt, ...] = Field((1, 2, 4), description="sizes of ESP groups, consecutive ranks")
    sizes: tuple[Size, ...] = Field(
        _SIZES, min_length=2, description="message sizes: buffers of a rank, gathered bytes of all-gather and SAA"
    )
    launch: Time = Field(LAUNCH, description="to launch a communication kernel")

    def build(self, ranks: int) -> TaskGraph:
        """Every collective with every size; tasks are named 'all_gather.2 of 1MiB'. Raises InputError."""
        tasks = TaskGraphBuilder(ranks, "fp32")
        layers = [self._layer(ranks, *pair) for pair in product(self.model_parallel, self.expert_sharding)]
        steps = LayerSteps(tasks, Tokens(layers[0]))
        for layer in layers:
            steps.enter(Tokens(layer))
            for size in self.sizes:
                self._add(steps, size)
        return tasks.build()

    def _layer(self, ranks: int, model_parallel: int, sharding: int) -> Layer:
        return Layer(
            ranks, 1, ranks, 1, 1, max(ranks // sharding, 1), 1, 1.0, model_parallel, sharding, launch=self.launch
        )

    def _add(self, steps: LayerSteps, size: float) -> None:
        """Each collective where it occurs first: some depend on one of the two group sizes, or on none."""
        layer, of = steps.layer, f"{SEPARATOR}{SIZE.exact(size)}"
        members, shards = layer.model_parallel, layer.expert_sharding
        first_members, first_shards = members == self.model_parallel[0], shards == self.expert_sharding[0]
        if first_members and first_shards:
            steps.all_to_all(f"fused_all_to_all{of}", [layer.everybody], _even(layer.ranks, size))
        if first_members:
            matrix = _even(layer.expert_parallel, size)
            steps.all_to_all(f"all_to_all.{shards}{of}", layer.ep_groups, matrix)
            steps.all_to_all(f"two_level_all_to_all.{shards}{of}", layer.ep_groups, matrix, "hierarchical")
            steps.all_reduce(f"all_reduce.{shards}{of}", layer.esp_groups, size)
        if first_members and shards > 1:
            steps.all_gather(f"all_gather.{shards}{of}", layer.esp_groups, size)
        if first_shards and members > 1 and members not in self.expert_sharding:
            steps.all_gather(f"all_gather.{members}{of}", layer.mp_groups, size)
        if members > 1:
            steps.saa(f"saa.{members}.{shards}{of}", _even(layer.ranks, shards * size / members))


def _even(members: int, size: float) -> np.ndarray:
    """Every member sends every member as much, `size` bytes in all."""
    return np.full((members, members), size / members)
