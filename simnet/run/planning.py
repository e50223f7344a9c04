"""What a job does, ready to replay: its tasks, how long they compute, and how its operations become flows."""

import numpy as np

from simnet.engine.replay import JobPlan
from simnet.errors import InputError
from simnet.experiment import Job
from simnet.hardware import GPUS
from simnet.hardware.roofline import compute_time
from simnet.run.lowering import Lower
from simnet.topology.topology import Topology
from simnet.workload.placed import Placed
from simnet.workload.task_graph import TaskGraph

_LONGEST = 1e9  # [s] of a compute task, 30 years


def plan(job: Job, devices: list[int], topology: Topology, stragglers: dict[int, float], lowered: Lower) -> JobPlan:
    """The plan of a job whose rank r is devices[r]. Raises InputError.

    stragglers: devices that take so many times as long to compute.
    """
    if hasattr(job.workload, "check_placement"):  # only some workloads care where their ranks are
        job.workload.check_placement(_placed(topology, devices))
    graph = job.workload.build(len(devices))
    durations = _durations(graph, devices, topology, stragglers)
    for operation in dict.fromkeys(graph.operations):
        lowered(operation)  # whatever is wrong with it is found before the simulation starts
    return JobPlan(
        job.name,
        graph.repeat(job.iterations),
        np.tile(durations, job.iterations),
        lowered,
        job.start,
        float("inf") if job.stop is None else job.stop,
    )


def _placed(topology: Topology, devices: list[int]) -> Placed:
    at = [topology.devices[device] for device in devices]
    return Placed(
        tuple(device.server or device.name for device in at),
        tuple(device.model for device in at),
        tuple(GPUS[device.model].memory_size if device.model in GPUS else float("inf") for device in at),
    )


def _durations(graph: TaskGraph, devices: list[int], topology: Topology, stragglers: dict[int, float]) -> np.ndarray:
    """Compute time of every task [s]: given, or on the roofline of its rank's GPU; 0 for communication."""
    durations = np.where(graph.operation < 0, graph.duration, 0.0)
    for rank, device in enumerate(devices):
        tasks = np.flatnonzero((graph.rank == rank) & (graph.operation < 0))
        timed = tasks[np.isnan(graph.duration[tasks])]
        needed = timed[(graph.flops[timed] > 0) | (graph.memory[timed] > 0)]
        durations[timed] = 0.0
        if len(needed):
            gpu = _gpu(topology, device, graph.names[graph.name[needed[0]]])
            durations[needed] = compute_time(gpu, graph.flops[needed], graph.memory[needed], graph.precision)
        durations[tasks] *= stragglers.get(device, 1.0)
        if len(long := tasks[durations[tasks] > _LONGEST]):
            name = graph.names[graph.name[long[0]]]
            raise InputError(f"task '{name}' takes {durations[long[0]]:.3g} s, more than {_LONGEST:g} s")
    return durations


def _gpu(topology: Topology, device: int, task: str):
    at = topology.devices[device]
    if at.model not in GPUS:
        known = f"of unknown model '{at.model}'" if at.model else "of no known model"
        raise InputError(
            f"task '{task}' gives FLOPs or bytes, but {at.name} is {known}, so they take no known time; "
            f"name the GPU's model in the topology (one of {', '.join(GPUS)}) or give the task a duration"
        )
    return GPUS[at.model]
