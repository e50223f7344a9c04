"""The grid of MoE layers: which configurations the study runs, and why these.

The Parm paper (arXiv 2407.00599) says that it ran 1,296 layers on an 8-GPU server and a 32-GPU cluster and that its
speedups are from 1.13 to 5.77; its ranges could not be read. The grid is inferred: (N_MP, N_ESP) = (1, 1) gives no
speedup at all, and 8 on one node more than 5.77, so both are from {1, 2, 4} without (1, 1), 8 combinations; 1,296 is 8
times 162 = 3 x 3 x 3 x 3 x 2, and sibling papers vary B {2, 4, 8} and L {512, 1024, 2048} (ScheMoE, EuroSys 2024) and
M {1024, 2048, 4096} and H / M in three steps (FSMoE, ASPLOS 2025).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product

GIVEN = {
    "GPUs": "8 in one server, 32 in a cluster",
    "configurations": "1,296 layers",
    "baseline": "DeepSpeed-MoE",
    "speedups": "1.13 to 5.77 on layers, about 3 on models",
}
"""What the paper says."""

INFERRED = {
    "N_MP, N_ESP": "{1, 2, 4} each without (1, 1): (1, 1) gives exactly 1, and 8 more than 5.77",
    "B": "{2, 4, 8} samples a GPU, as in ScheMoE",
    "L": "{512, 1024, 2048} tokens a sample, as in ScheMoE and FSMoE",
    "M": "{1024, 2048, 4096}, as in FSMoE",
    "H / M": "{1, 2, 4}: three steps, so that the grid has 1,296 points",
    "k f": "{1.2, 2.4}: top-1 and top-2 with a capacity factor of 1.2, as in FSMoE",
    "experts": "one a node of the EP group, E = N_EP = P / N_ESP, as in FSMoE",
    "precision": "fp32, as the message sizes of ScheMoE and FSMoE",
}
"""What it does not say, and what is taken instead."""

BATCH, SEQUENCE, HIDDEN, RATIO = (2, 4, 8), (512, 1024, 2048), (1024, 2048, 4096), (1, 2, 4)
CAPACITY_FACTOR, TOP_K = 1.2, (1, 2)
GROUPS = tuple(pair for pair in product((1, 2, 4), repeat=2) if pair != (1, 1))
SAMPLED = 20  # one configuration of so many is in the fast sample
_STEP = 41


@dataclass(frozen=True)
class Configuration:
    """One MoE layer: sizes of its groups (N_MP, N_ESP), B, L, M, H, top-k; the capacity factor is always the same."""

    model_parallel: int
    expert_sharding: int
    batch: int
    sequence: int
    hidden: int
    expert_hidden: int
    top_k: int

    @property
    def alike(self) -> "Configuration":
        """The configuration that stands for all with as many tokens: B and L enter a layer as their product alone."""
        return Configuration(**{**asdict(self), "batch": 1, "sequence": self.batch * self.sequence})


def grid() -> list[Configuration]:
    """All 1,296 configurations."""
    return list(_grid())


def _grid() -> Iterator[Configuration]:
    for (model_parallel, expert_sharding), batch, sequence, hidden, ratio, top_k in product(
        GROUPS, BATCH, SEQUENCE, HIDDEN, RATIO, TOP_K
    ):
        yield Configuration(model_parallel, expert_sharding, batch, sequence, hidden, ratio * hidden, top_k)


def sample() -> list[Configuration]:
    """One configuration of 20; steps of 41, prime to 1,296, give each pair of groups as often and reach every value."""
    configurations = grid()
    return [configurations[i * _STEP % len(configurations)] for i in range(len(configurations) // SAMPLED)]
