"""DeepSpeed-MoE with two-level all-to-alls: tokens for another node are first collected inside, by who gets them.

Fewer and larger messages cross the network (the hierarchical all-to-all of DeepSpeed-MoE, arXiv 2201.05596, and the 2DH
of Tutel, arXiv 2206.03382). It differs from plain all-to-alls only where EP groups have several ranks in a node.
"""

from functools import partial

from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import deepspeed_moe
from simnet.workload.moe.schedules.deepspeed_moe import activations, dropped

__all__ = ["activations", "backward", "communication_time", "dropped", "forward"]

forward = partial(deepspeed_moe.forward, algorithm="hierarchical")
backward = partial(deepspeed_moe.backward, algorithm="hierarchical")


def communication_time(layer: Layer, cost: Calibration) -> float:
    """AG_ESP(N_ESP X) + 2 A2A2L_EP(N_ESP Y) + AR_ESP(N_ESP Y) [s], of one pass."""
    return deepspeed_moe.communication_time(layer, cost, cost.two_level_time)
