"""One MoE layer on a number of ranks: its groups, the sizes of its messages, and the work of its parts.

Notation of FSMoE (ASPLOS 2025, table 1): P ranks are N_EP x N_ESP; MP and ESP groups are consecutive ranks, an EP group
has the ranks that are equal modulo N_ESP. The N_MP ranks of an MP group have the same B samples of L tokens of M
elements. E experts of two matrices, (M, H) and (H, M), are dealt over the EP ranks, each cut into N_ESP shards. A token
goes to k experts, an expert takes T = k f B L / E tokens of every input, and sizes in bytes are

    X = B L M w     the input of a rank        Y = E T M w = k f X     its tokens, ordered by expert
    y = N_ESP Y / N_MP     what a rank sends in the fused all-to-all once the MP group has shared its tokens out
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simnet.errors import InputError
from simnet.workload.moe.calibration import Calibration

Groups = list[tuple[int, ...]]


@dataclass(frozen=True)
class Layer:
    """The layer as its schedules see it.

    batch B, sequence L, hidden M, expert_hidden H, experts E, top_k k, capacity_factor f, model_parallel N_MP,
    expert_sharding N_ESP, matrices of an expert (3: gated, as
    Mixtral's), element w [bytes]. gemm_rate [FLOP/s] of the experts' GEMMs, None: the roofline of the GPU.
    launch [s]: of one communication kernel. chunks: of a pipelined schedule. calibration: what parm_auto chooses by.
    Raises InputError where the numbers do not go together.
    """

    ranks: int
    batch: int
    sequence: int
    hidden: int
    expert_hidden: int
    experts: int
    top_k: int = 2
    capacity_factor: float = 1.2
    model_parallel: int = 1
    expert_sharding: int = 1
    matrices: int = 2
    element: int = 4
    gemm_rate: float | None = None
    launch: float = 0.0
    chunks: int = 2
    calibration: Calibration | None = None

    def __post_init__(self):
        for name in ("model_parallel", "expert_sharding"):
            if self.ranks % (size := getattr(self, name)):
                raise InputError(f"{name}: {size} does not divide the job's {self.ranks} ranks into groups")
        if self.experts % self.expert_parallel:
            ranks, sharding = self.ranks, self.expert_sharding
            few = "is fewer than" if self.experts < self.expert_parallel else "is no multiple of"
            raise InputError(
                f"experts: {self.experts} {few} the {self.expert_parallel} EP ranks ({ranks} ranks / expert_sharding "
                f"{sharding}), each of which holds equally many"
            )
        if self.top_k > self.experts:
            raise InputError(
                f"top_k: {self.top_k} is more than the number of experts, {self.experts} (by default one per EP rank: "
                f"{self.ranks} ranks / expert_sharding {self.expert_sharding})"
            )
        if self.capacity < 1:
            raise InputError(
                f"capacity_factor: an expert's capacity is {self.capacity:.3g} tokens of {self.tokens}, below one "
                "(top_k x capacity_factor x batch x sequence / experts)"
            )

    @property
    def expert_parallel(self) -> int:
        """N_EP = P / N_ESP."""
        return self.ranks // self.expert_sharding

    @property
    def tokens(self) -> int:
        """B L, of one input."""
        return self.batch * self.sequence

    @property
    def capacity(self) -> float:
        """T, tokens that one expert takes of one input; not rounded, so that Y = k f X holds exactly."""
        return self.top_k * self.capacity_factor * self.tokens / self.experts

    @property
    def token_size(self) -> float:
        """M w [bytes]."""
        return float(self.hidden * self.element)

    @property
    def input_size(self) -> float:
        """X [bytes]."""
        return self.tokens * self.token_size

    @property
    def ordered_size(self) -> float:
        """Y [bytes]."""
        return self.experts * self.capacity * self.token_size

    @property
    def fused_size(self) -> float:
        """y [bytes]."""
        return self.expert_sharding * self.ordered_size / self.model_parallel

    @property
    def everybody(self) -> tuple[int, ...]:
        """All ranks."""
        return tuple(range(self.ranks))

    @cached_property
    def mp_groups(self) -> Groups:
        """Ranks with the same input."""
        return _consecutive(self.ranks, self.model_parallel)

    @cached_property
    def esp_groups(self) -> Groups:
        """Ranks with the shards of the same experts."""
        return _consecutive(self.ranks, self.expert_sharding)

    @cached_property
    def ep_groups(self) -> Groups:
        """Ranks with the same shard of different experts."""
        return [tuple(range(shard, self.ranks, self.expert_sharding)) for shard in range(self.expert_sharding)]

    # -- work of the parts, as flops [FLOP] and bytes moved in the GPU's memory --------------------------------

    def gate(self, tokens: float) -> dict[str, float]:
        """Scores of `tokens` tokens for E experts, and their softmax."""
        moved = tokens * self.token_size + self.element * self.experts * (self.hidden + 2 * tokens)
        return {"flops": 2.0 * tokens * self.hidden * self.experts, "memory": moved}

    def expert_work(self, tokens: np.ndarray) -> dict[str, np.ndarray]:
        """The shards of a rank's experts on `tokens` tokens (by rank); weights and activations are moved once."""
        width = self.expert_hidden / self.expert_sharding
        moved = self.element * tokens * (2 * self.hidden + self.matrices * width)
        return {
            "flops": 2.0 * self.matrices * tokens * self.hidden * width,
            "memory": moved + self.element * self.weights,
        }

    @property
    def weights(self) -> float:
        """Elements of the expert shards of a rank."""
        local = self.experts // self.expert_parallel
        return float(local * self.matrices) * self.hidden * self.expert_hidden / self.expert_sharding


def _consecutive(ranks: int, size: int) -> Groups:
    return [tuple(range(first, first + size)) for first in range(0, ranks, size)]
