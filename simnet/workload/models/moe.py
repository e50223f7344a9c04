"""What MoE layers and whole models with them have in common: parameters, and what can be wrong with their placement."""

from collections.abc import Sequence

from pydantic import Field, PositiveFloat, PositiveInt

from simnet.errors import InputError
from simnet.params import Params, row_name, tagged
from simnet.units import SIZE, ComputeRate, Time
from simnet.workload.models.precision import ELEMENT_SIZE, Precision
from simnet.workload.moe.calibration import CalibrationOrFile
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.routing import ROUTINGS
from simnet.workload.moe.schedules import SCHEDULES, check
from simnet.workload.moe.tokens import Tokens
from simnet.workload.placed import Placed
from simnet.workload.task_graph import TaskGraphBuilder

LAUNCH = 20e-6
"""Seconds to launch a communication kernel: NCCL's send and receive start in 20 to 50 us. An assumption."""


class MoeParams(Params):
    """Parallelism, routing and schedule of Mixture-of-Experts layers."""

    schedule: row_name(SCHEDULES) = Field("deepspeed_moe", description="who sends what to whom in which order")
    batch: PositiveInt = Field(description="samples per GPU; all GPUs of an MP group have the same ones")
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
    backward: bool = Field(True, description="false: the forward pass only")
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
    calibration: CalibrationOrFile | None = Field(
        None, description="alpha-beta pairs of the cluster (simnet calibrate), by which parm_auto chooses"
    )

    def layer_of(self, ranks: int, sequence: int, hidden: int, expert_hidden: int, gated: bool) -> Layer:
        """The layer on so many ranks. Raises InputError where the numbers do not go together."""
        if ranks % self.expert_sharding:
            raise InputError(f"expert_sharding: {self.expert_sharding} does not divide the job's {ranks} ranks")
        layer = Layer(
            ranks=ranks,
            batch=self.batch,
            sequence=sequence,
            hidden=hidden,
            expert_hidden=expert_hidden,
            experts=self.experts or ranks // self.expert_sharding,
            top_k=self.top_k,
            capacity_factor=self.capacity_factor,
            model_parallel=self.model_parallel,
            expert_sharding=self.expert_sharding,
            matrices=3 if gated else 2,
            element=ELEMENT_SIZE[self.precision],
            gemm_rate=self.gemm_rate,
            launch=self.launch,
            chunks=self.chunks,
            calibration=None if self.calibration is None else self.calibration.pairs,
        )
        check(self.schedule, layer)
        return layer

    def tokens(self, layer: Layer, step: int) -> Tokens:
        """Where the tokens of a step go. Raises InputError."""
        return Tokens(layer, self.routing.counts(layer, step))

    def tell(self, tasks: TaskGraphBuilder, passes: Sequence[Tokens]) -> None:
        """Note what the schedule decided, and how many tokens were dropped in these forward passes."""
        schedule, layer = SCHEDULES[self.schedule], passes[0].layer
        if hasattr(schedule, "note"):
            tasks.note(schedule.note(layer))
        choices = len(passes) * layer.top_k * layer.tokens * layer.ranks / layer.model_parallel
        if dropped := sum(schedule.dropped(tokens) for tokens in passes):
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
