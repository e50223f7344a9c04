"""Mixture-of-Experts layers under model, expert and expert-sharding parallelism: sizes, routing, schedules, costs."""

from simnet.workload.moe.calibration import AlphaBeta, Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import SCHEDULES, predict

__all__ = ["SCHEDULES", "AlphaBeta", "Calibration", "Layer", "predict"]
