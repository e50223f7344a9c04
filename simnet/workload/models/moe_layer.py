"""A Mixture-of-Experts layer under one of the schedules of Parm's study, forward and backward."""

from pydantic import Field, PositiveInt

from simnet.workload.models.moe import MoeParams, check_groups, check_memory
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import SCHEDULES
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.placed import Placed
from simnet.workload.task_graph import TaskGraph, TaskGraphBuilder
from simnet.workload.training import state_bytes


class MoeLayer(MoeParams):
    """A Mixture-of-Experts layer with model, expert and expert-sharding parallelism, as in Parm (arXiv 2407.00599)."""

    sequence: PositiveInt = Field(description="tokens per sample")
    hidden: PositiveInt = Field(description="elements of a token")
    expert_hidden: PositiveInt = Field(description="elements of the hidden layer of an expert")
    gated: bool = Field(False, description="experts have a third matrix, which gates their hidden layer (as Mixtral's)")

    def layer(self, ranks: int) -> Layer:
        """The layer on so many ranks. Raises InputError where the numbers do not go together."""
        return self.layer_of(ranks, self.sequence, self.hidden, self.expert_hidden, self.gated)

    def build(self, ranks: int) -> TaskGraph:
        """The task graph: gate, order, dispatch, experts, combine, and the same backwards. Raises InputError."""
        layer, schedule = self.layer(ranks), SCHEDULES[self.schedule]
        tasks = TaskGraphBuilder(ranks, self.precision)
        tokens = [self.tokens(layer, step) for step in range(self.steps)]
        steps = LayerSteps(tasks, tokens[0])
        for each in tokens:
            steps.enter(each)
            schedule.forward(steps)
            if self.backward:
                schedule.backward(steps)
        self.tell(tasks, tokens)
        return tasks.build()

    def memory(self, ranks: int) -> float:
        """Bytes that the layer needs on each GPU: weights, gradients, moments of Adam and kept activations."""
        layer = self.layer(ranks)
        weights = state_bytes(layer.weights, layer.element) if self.backward else layer.weights * layer.element
        return weights + SCHEDULES[self.schedule].activations(layer)

    def check_placement(self, placed: Placed) -> None:
        """Raises InputError where groups cross servers, or a GPU has too little memory."""
        check_groups(self.layer(len(placed.servers)), placed)
        check_memory(self.memory(len(placed.servers)), placed)
