"""A Mixture-of-Experts layer under one of the schedules of Parm's study, forward and backward."""

from pydantic import Field, PositiveFloat, PositiveInt

from simnet.errors import InputError
from simnet.params import Params, row_name, tagged
from simnet.units import SIZE, ComputeRate, Time
from simnet.workload.models.precision import ELEMENT_SIZE, Precision
from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.routing import ROUTINGS
from simnet.workload.moe.schedules import SCHEDULES, check
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens
from simnet.workload.placed import Placed
from simnet.workload.task_graph import TaskGraph, TaskGraphBuilder
from simnet.workload.training import state_bytes

LAUNCH = 20e-6
"""Seconds to launch a communication kernel: NCCL's send and receive start in 20 to 50 us. An assumption."""


class MoeParams(Params):
    """What layers and models of experts have in common."""

    schedule: row_name(SCHEDULES) = Field("deepspeed_moe", description="who sends what to whom in which order")
    batch: PositiveInt = Field(description="samples per GPU; all GPUs of an MP group have the same ones")
    sequence: PositiveInt = Field(description="tokens per sample")
    experts: PositiveInt | None = Field(None, description="number of experts; default one per EP rank")
    top_k: PositiveInt = Field(2, description="experts that a token goes to")
    capacity_factor: PositiveFloat = Field(
        1.2, description="an expert takes top_k x capacity_factor x tokens / experts of every input"
    )
    model_parallel: PositiveInt = Field(1, description="GPUs of an MP group, consecutive ranks of one server")
    expert_sharding: PositiveInt = Field(
        1, description="GPUs of an ESP group, consecutive ranks of one server, which share the experts' weights out"
    )
    precision: Precision = Field("fp32", description="format of weights, activations and gradients")
    routing: tagged(ROUTINGS) = Field(
        {"kind": "balanced"}, validate_default=True, description="how tokens choose experts"
    )
    steps: PositiveInt = Field(1, description="how many steps run, one after the other, each routed anew")
    launch: Time = Field(
        LAUNCH, description="to launch a communication kernel; SAA launches one per step and stream [assumption]"
    )
    chunks: PositiveInt = Field(2, description="parts of the tokens in schedule pipelined")
    gemm_rate: ComputeRate | None = Field(
        None, description="rate at which experts compute, whatever the GPU; default its roofline"
    )
    calibration: Calibration | None = Field(
        None, description="alpha-beta pairs of the cluster, by which parm_auto chooses (simnet calibrate)"
    )

    def layer(self, ranks: int, hidden: int, expert_hidden: int) -> Layer:
        """The layer on so many ranks. Raises InputError where the numbers do not go together."""
        if ranks % self.expert_sharding:
            raise InputError(f"expert_sharding: {self.expert_sharding} does not divide the job's {ranks} ranks")
        layer = Layer(
            ranks, self.batch, self.sequence, hidden, expert_hidden,
            self.experts or ranks // self.expert_sharding,
            self.top_k, self.capacity_factor, self.model_parallel, self.expert_sharding,
            ELEMENT_SIZE[self.precision], self.gemm_rate, self.launch, self.chunks, self.calibration,
        )  # fmt: skip
        check(self.schedule, layer)
        return layer


class MoeLayer(MoeParams):
    """A Mixture-of-Experts layer with model, expert and expert-sharding parallelism, as in Parm (arXiv 2407.00599)."""

    hidden: PositiveInt = Field(description="elements of a token")
    expert_hidden: PositiveInt = Field(description="elements of the hidden layer of an expert")
    backward: bool = Field(True, description="false: the forward pass only")

    def build(self, ranks: int) -> TaskGraph:
        """The task graph: gate, order, dispatch, experts, combine, and the same backwards. Raises InputError."""
        layer = self.layer(ranks, self.hidden, self.expert_hidden)
        tasks = TaskGraphBuilder(ranks, self.precision)
        schedule, last, dropped = SCHEDULES[self.schedule], None, 0.0
        for step in range(self.steps):
            steps = LayerSteps(tasks, Tokens(layer, self.routing.counts(layer, step)), last=last)
            schedule.forward(steps)
            if self.backward:
                schedule.backward(steps)
            last, dropped = steps.last, dropped + schedule.dropped(steps)
        tell(tasks, self, layer, dropped, self.steps)
        return tasks.build()

    def memory(self, ranks: int) -> float:
        """Bytes that the layer needs on each GPU: weights, gradients, moments of Adam and kept activations."""
        layer = self.layer(ranks, self.hidden, self.expert_hidden)
        if not self.backward:
            return layer.weights * layer.element + SCHEDULES[self.schedule].activations(layer)
        return state_bytes(layer.weights, layer.element) + SCHEDULES[self.schedule].activations(layer)

    def check_placement(self, placed: Placed) -> None:
        """Raises InputError where groups cross servers, or a GPU has too little memory."""
        layer = self.layer(len(placed.servers), self.hidden, self.expert_hidden)
        check_groups(layer, placed)
        check_memory(self.memory(layer.ranks), placed)


def tell(tasks: TaskGraphBuilder, params: MoeParams, layer: Layer, dropped: float, passes: int) -> None:
    """Notes on what a schedule decided and on tokens that were dropped in so many forward passes."""
    note = getattr(SCHEDULES[params.schedule], "note", None)
    if note is not None:
        tasks.note(note(layer))
    if dropped > 0:
        choices = passes * layer.top_k * layer.tokens * layer.ranks / layer.model_parallel
        tasks.note(f"{dropped:.6g} of {choices:.6g} tokens for experts were dropped ({dropped / choices:.1%}).")


def check_groups(layer: Layer, placed: Placed) -> None:
    """Raises InputError where an MP or ESP group is in several servers."""
    for name, groups in (("model_parallel", layer.mp_groups), ("expert_sharding", layer.esp_groups)):
        for group in groups:
            servers = dict.fromkeys(placed.servers[rank] for rank in group)
            if len(servers) > 1:
                raise InputError(
                    f"{name}: ranks {group[0]} to {group[-1]} are in {len(servers)} servers ({', '.join(servers)}), "
                    f"but a group must lie in one; {len(group)} has to divide the ranks of a server"
                )


def check_memory(needed: float, placed: Placed) -> None:
    """Raises InputError where a rank's GPU has too little memory."""
    for rank, size in enumerate(placed.memory):
        if needed > size:
            raise InputError(
                f"out of memory: needs {needed:.0f} B ({SIZE.format(needed)}) on each GPU, and the "
                f"{placed.models[rank]} of rank {rank} has {size:.0f} B ({SIZE.format(size)})"
            )
