"""Schedules of an MoE layer: who sends what to whom in which order, each with its alpha-beta cost beside it.

Adding one: a file with `forward` and `backward`, which add the steps of a pass, `communication_time` (its cost
formula), `activations` (bytes kept for the backward pass) and `dropped`, and a row here. `problem` says why a layer
cannot have it, `note` what was decided.
"""

from types import ModuleType

from simnet.errors import InputError
from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import (
    deepspeed_moe,
    deepspeed_moe_training,
    parm_auto,
    parm_s1,
    parm_s2,
    parm_s2_no_overlap,
    pipelined,
    two_level_all_to_all,
)

SCHEDULES: dict[str, ModuleType] = {
    "deepspeed_moe": deepspeed_moe,
    "deepspeed_moe_training": deepspeed_moe_training,
    "parm_s1": parm_s1,
    "parm_s2": parm_s2,
    "parm_auto": parm_auto,
    "parm_s2_no_overlap": parm_s2_no_overlap,
    "two_level_all_to_all": two_level_all_to_all,
    "pipelined": pipelined,
}


def predict(schedule: str, layer: Layer, calibration: Calibration) -> float:
    """Communication time [s] of one pass, forward or backward, by the schedule's formula. Raises InputError."""
    return SCHEDULES[schedule].communication_time(layer, calibration)


def check(schedule: str, layer: Layer) -> None:
    """Raises InputError where a layer cannot have a schedule."""
    found = getattr(SCHEDULES[schedule], "problem", lambda layer: None)(layer)
    if found is not None:
        raise InputError(found)
