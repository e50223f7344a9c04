"""What happened in a replay, as a result, after a look at whether physics allows it."""

from dataclasses import replace

import numpy as np

from simnet.engine import recorder
from simnet.errors import PhysicsError
from simnet.experiment import Experiment, Network
from simnet.metrics import summarize
from simnet.result import RunResult
from simnet.run.building import Simulation
from simnet.run.provenance import resolved_experiment
from simnet.workload.collectives.bounds import Bounds

# How far below the bound of physics a collective may end before it counts as a bug: rounding.
_ROUNDING = 1e-9
_TICKS = 16  # steps of a float64 time that sums of times may be off by


def gathered(simulation: Simulation, status: str, error: str) -> RunResult:
    """The result of a replay that ended with `status`, and why if it did not complete. Raises PhysicsError."""
    replay, topology = simulation.replay, simulation.topology
    report = simulation.network.report()
    names = [topology.names(devices) for devices in simulation.resolved.devices]
    tasks = recorder.tasks_table(replay.jobs, names)
    flows = recorder.flows_table(replay, report, names)
    until = max(replay.clock.now, report.time)
    links = recorder.links_table(report, topology, until)
    wanted = simulation.experiment.output.messages
    messages = recorder.messages_table(report, replay, topology) if wanted else None
    told = [note for job in replay.jobs for note in job.plan.graph.notes]
    told += [*_without_traffic(simulation.experiment), *_of_packets(simulation.experiment)]
    notes = [*topology.assumptions, *told, *report.notes, *report.unused, *_beaten_bounds(simulation)]
    network = {"model": simulation.experiment.network.model, **report.settings, "unused": report.unused}
    counts = {"tasks": tasks.num_rows, "operations": len(replay.launched), "steps": replay.clock.steps, **report.counts}
    summary = summarize(
        tasks, flows, links, messages, status=status, time=until, counts=counts, notes=notes, network=network,
        transport=report.transport or None,
    )  # fmt: skip
    if report.priorities:
        summary["queues"]["priorities"] = report.priorities
    if error:
        summary["error"] = error
    return RunResult(
        summary=summary,
        experiment=resolved_experiment(simulation.experiment, simulation.source),
        tasks=tasks,
        flows=flows,
        links=links,
        samples=recorder.samples_table(report, topology),
        messages=messages,
        probes=recorder.probes_table(report, replay, names, topology) if report.probes else None,
    )


def _of_packets(experiment: Experiment) -> list[str]:
    """What is set and only packets show."""
    network, default = experiment.network, Network()
    keys = ("congestion_control", "transport", "ports", "packets")
    chosen = [key for key in keys if getattr(network, key) != getattr(default, key)]
    if network.model == "packet" or not chosen:
        return []
    return [f"model: {network.model} knows no packets: network.{', network.'.join(chosen)} made no difference"]


def _without_traffic(experiment: Experiment) -> list[str]:
    """Sentences about classes and priorities that have been set up for nothing."""
    empty = [name for name in experiment.network.classes if name not in experiment.policies.classes]
    had = {0, *(chosen.priority for chosen in experiment.policies.classes.values())}
    idle = [number for number in experiment.network.ports.priorities if number not in had]
    return [f"nothing belongs to the traffic class '{name}'" for name in empty] + [
        f"nothing has priority {number}, of which network.ports.priorities tells" for number in idle
    ]


def _beaten_bounds(simulation: Simulation) -> list[str]:
    """The guard of physics: no collective may end before the links could have carried its bytes.

    Raises PhysicsError if one did in a model that knows contention; one that does not is told on in a note.
    """
    rates = simulation.topology.rates.copy()
    for change in simulation.resolved.changes:
        rates[change.link] = max(rates[change.link], change.rate)
    bounds = Bounds(simulation.topology, rates)
    beaten = []
    for job, number, started, ended, lowered in recorder.finished_operations(simulation.replay.jobs):
        operation = job.plan.graph.operations[number]
        if lowered.choice is not None:
            operation = replace(operation, algorithm=lowered.choice.algorithm)
        bound = bounds.lower_bound(operation, tuple(lowered.devices.tolist()))
        clock = _TICKS * np.spacing(ended)  # late times have coarse differences
        if ended - started < bound * (1 - _ROUNDING) - clock:
            beaten.append(
                f"{job.describe(number)} took {ended - started:.6g} s, no links allow less than {bound:.6g} s"
            )
    if beaten and simulation.network.contention:
        raise PhysicsError(f"internal error: {beaten[0]}; please report this experiment")
    if beaten:
        return [f"{len(beaten)} collectives beat what the links can carry, which takes contention to see: {beaten[0]}"]
    return []
