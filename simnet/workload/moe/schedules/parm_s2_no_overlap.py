"""Parm S2 without SAA: one all-to-all of all pairs, and the all-gather after it.

What the overlap of S2 is worth, and what it costs: SAA launches a kernel for every step, this one for each collective.
"""

from functools import partial

import numpy as np

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import parm_s2
from simnet.workload.moe.schedules.parm_s2 import activations, dropped
from simnet.workload.moe.steps import LayerSteps

__all__ = ["activations", "backward", "communication_time", "dropped", "forward"]


def serial(steps: LayerSteps, name: str, matrix: np.ndarray, ordered: np.ndarray) -> None:
    """The all-to-all, then the all-gather."""
    layer = steps.layer
    steps.all_to_all(name, [layer.everybody], matrix)
    steps.all_gather(f"{name} MP all-gather", layer.mp_groups, ordered[:: layer.model_parallel])


forward = partial(parm_s2.forward, gather=serial)
backward = partial(parm_s2.backward, gather=serial)


def communication_time(layer: Layer, cost: Calibration) -> float:
    """2 A2A_P(y) + AG_MP(Y) [s], of one pass."""
    gathered = cost.all_gather_time(layer.model_parallel, layer.ordered_size)
    return 2 * cost.fused_time(layer.fused_size) + gathered
