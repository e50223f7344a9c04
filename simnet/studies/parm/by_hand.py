"""The speedups of the 32-GPU grid by formula: alpha-beta costs without their alpha, SAA wholly hidden.

An oracle for the simulation, and the reason why it differs from what others derive: the all-to-all among all 32 ranks
costs 3.55e-10 s/B by PipeMoE's fit on such a cluster, and 28/32 x 4 / 11.4 GB/s = 3.07e-10 s/B if nothing but the NIC,
at the rate that FSMoE's all-to-all of one rank a node implies, limits it.
"""

import numpy as np

from simnet.studies.parm.grid import CAPACITY_FACTOR, Configuration, grid

FITTED, NIC_ONLY = 3.55e-10, 28 / 32 * 4 / 11.4e9  # [s/B]
_INSIDE = 4.46e9  # [bytes/s] of a ring inside a node
_GEMM = 2 / 13.45e12  # [s] of a multiply-add on an RTX 2080 Ti


def speedup(configuration: Configuration, all_to_all: float, copies: int = 1) -> float:
    """Layer time of DeepSpeed-MoE / of the faster of S1 and S2.

    all_to_all [s/B]: among all ranks; copies: how many the SAA of a rank makes at the same time at the full rate of
    one, where that is not the rate of a link.
    """
    c = configuration
    x = c.batch * c.sequence * c.hidden * 4.0
    y = c.top_k * CAPACITY_FACTOR * x
    n_mp, n_esp = c.model_parallel, c.expert_sharding
    base = _gather(n_esp, n_esp * x) + 2 * NIC_ONLY * n_esp * y + 2 * _gather(n_esp, n_esp * y)
    fused = all_to_all * n_esp * y / n_mp
    s1 = 2 * fused + _gather(n_mp, x)
    s2 = fused + max(fused, _gather(n_mp, y) / copies)
    experts = 2 * _GEMM * y / 4 * c.expert_hidden
    return (2 * base + 3 * experts) / (2 * min(s1, s2) + 3 * experts / n_mp)


def averages(all_to_all: float) -> dict[tuple[int, int], float]:
    """Mean speedup over the grid by (N_MP, N_ESP)."""
    groups: dict[tuple[int, int], list[float]] = {}
    for c in grid():
        groups.setdefault((c.model_parallel, c.expert_sharding), []).append(speedup(c, all_to_all))
    return {group: float(np.mean(values)) for group, values in groups.items()}


def _gather(members: int, size: float) -> float:
    return (members - 1) / members * size / _INSIDE
