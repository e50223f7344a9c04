"""From a description to a result: builds every part of an experiment, replays it, and gathers what happened.

The only room that knows every room, and the Python interface: `simnet.run(path)` and `simnet.save(result, directory)`.
"""

import hashlib
import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from simnet import reader, result
from simnet.engine import recorder
from simnet.engine.replay import JobPlan, Lowered, Replay
from simnet.errors import InputError, PhysicsError, SimnetError, StalledError
from simnet.experiment import Experiment, Job, Provenance, Resolved, load, resolve
from simnet.flow_graph import FlowGraph
from simnet.hardware import GPUS
from simnet.hardware.roofline import compute_time
from simnet.metrics import summarize
from simnet.network import Policies, Scenario, network_model
from simnet.network.model import NetworkModel, Progress
from simnet.params import FileParams, Params, path_beside
from simnet.reader import Source
from simnet.result import RunResult
from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from simnet.workload.collectives import Group, by_library, lower
from simnet.workload.collectives.bounds import Bounds
from simnet.workload.placed import Placed
from simnet.workload.task_graph import Operation, TaskGraph

# How far below the bound of physics a collective may end before it counts as a bug: rounding.
_ROUNDING = 1e-9
_TICKS = 16  # steps of a float64 time that sums of times may be off by

_LONGEST = 1e9  # [s] of a compute task, 30 years

# So many message sizes make a curve worth drawing.
_CURVE = 3

Lower = Callable[[Operation], Lowered]


@dataclass(frozen=True, eq=False)
class Simulation:
    """An experiment with all its parts built, ready to replay."""

    experiment: Experiment
    source: Source
    topology: Topology
    resolved: Resolved
    network: NetworkModel
    replay: Replay


def run(
    experiment: Experiment | Mapping[str, Any] | str | Path,
    overrides: Iterable[str] = (),
    progress: Progress | None = None,
) -> RunResult:
    """Run an experiment, given as a YAML file, as the same in plain data, or as a description; return what happened.

    overrides: 'a.b=c' for a file, as `--set` on the command line. progress: called now and then with the simulated
    time [s] and the number of events. A run that stalls, fails or is interrupted (Ctrl-C) gives a result, too: its
    summary says `status` and `error`. Raises InputError, with all problems of a stage, for what cannot be run.
    """
    if isinstance(experiment, Mapping):
        experiment = reader.validate(dict(experiment), Experiment)
    if isinstance(experiment, Experiment):
        return replayed(build(experiment, Source(), progress))
    return replayed(build(*load(experiment, list(overrides)), progress))


def save(finished: RunResult, directory: str | Path) -> Path:
    """Write a result with its pictures and its timeline to a new directory, whole or not at all; return it."""
    # pictures are wanted by some runs only, and take a while to import
    from simnet import figures, timeline

    files = {"timeline.json.gz": timeline.to_json(finished)}
    sizes = {row["size"] for row in finished.summary["collectives"]}
    queues = finished.summary["queues"]
    pictures = {
        "timeline": True,
        "utilization": True,
        "collectives": len(sizes) >= _CURVE,
        "queues": bool(queues and queues["longest"]),
        "windows": finished.probes is not None,
    }
    for name in (name for name, wanted in pictures.items() if wanted):
        files[f"{name}.png"] = figures.to_png(figures.FIGURES[name](finished))
    return result.write(finished, directory, files)


def build(experiment: Experiment, source: Source | None = None, progress: Progress | None = None) -> Simulation:
    """Build every part of an experiment. Raises InputError."""
    source = source or Source()
    topology = _topology(experiment, source)
    resolved = resolve(experiment, topology, source)
    policies = experiment.policies
    scenario = Scenario(
        topology,
        experiment.seed,
        policies=policies,
        changes=resolved.changes,
        bins=experiment.output.samples + experiment.output.samples % 2,
        probes=resolved.probes,
        record=experiment.output.messages,
        progress=progress,
    )
    network = network_model(experiment.network.model)(scenario)
    lowering = _Lowering(scenario.router)
    plans, problems = [], []
    for number, (job, devices) in enumerate(zip(experiment.jobs, resolved.devices)):
        try:
            with _moderate():
                lower_for = lowering.for_job(job, devices, policies)
                plans.append(_plan(job, devices, topology, resolved.stragglers, lower_for))
        except InputError as error:
            # a workload's file names its own lines; what its parameters ask for is said where they stand
            named = isinstance(job.workload, FileParams)
            place, sentence = _in_workload(job.workload, str(error))
            problems.append(sentence if named else source.say(("jobs", number, "workload", *place), sentence))
    if problems:
        raise InputError("\n".join(problems))
    return Simulation(experiment, source, topology, resolved, network, Replay(network, plans, progress))


def _topology(experiment: Experiment, source: Source) -> Topology:
    try:
        with _moderate():
            return experiment.topology.build()
    except InputError as error:
        if isinstance(experiment.topology, FileParams):  # which names its own lines
            raise
        raise InputError(source.say(("topology",), str(error))) from None


def _in_workload(workload: Params, sentence: str) -> tuple[tuple[str, ...], str]:
    """The key of a workload that a sentence begins with, if it does, and the rest of the sentence."""
    key, _, rest = sentence.partition(": ")
    place = tuple(key.split("."))
    known = place[0] in type(workload).model_fields and not isinstance(workload, FileParams)
    return (place, rest) if known else ((), sentence)


@contextmanager
def _moderate() -> Iterator[None]:
    """Numbers that no cluster or job can have are the user's to mend."""
    try:
        yield
    except (MemoryError, OverflowError):
        raise InputError("some number is too large to be simulated") from None


def replayed(simulation: Simulation) -> RunResult:
    """Replay a built experiment and gather what happened."""
    status, error = "completed", ""
    try:
        simulation.replay.run()
    except KeyboardInterrupt:
        status, error = "aborted", "interrupted"
    except StalledError as stalled:
        status, error = "stalled", str(stalled)
    except PhysicsError:
        raise
    except SimnetError as failed:
        status, error = "failed", str(failed)
    return _gathered(simulation, status, error)


def _plan(
    job: Job,
    devices: list[int],
    topology: Topology,
    stragglers: dict[int, float],
    lowered: Callable[[Operation], Lowered],
) -> JobPlan:
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


class _Lowering:
    """Turns operations into flows between devices; equal operations share one FlowGraph."""

    def __init__(self, router: Router):
        self._topology = router.topology
        self._router = router
        self._groups: dict[tuple[int, ...], Group] = {}
        self._communicators: dict[tuple[str, str], int] = {}

    def for_job(self, job: Job, devices: list[int], policies: Policies) -> Lower:
        """The lower function of one job; rank r is devices[r]."""
        known: dict[Operation, Lowered] = {}

        def lowered(operation: Operation) -> Lowered:
            alike = replace(operation, label="")
            if alike not in known:
                members = tuple(devices[rank] for rank in operation.ranks)
                if members not in self._groups:
                    self._groups[members] = Group(members, self._topology, self._router)
                communicator = (job.name, operation.communicator)
                number = self._communicators.setdefault(communicator, len(self._communicators))
                group = self._groups[members]
                traffic_class = policies.class_number(operation.traffic_class or job.traffic_class)
                flows = replace(lower(operation, group), traffic_class=traffic_class)
                self._check_joined(operation, np.array(members), flows)
                choice = group.library.choose(operation) if by_library(operation) and group.members > 1 else None
                known[alike] = Lowered(flows, np.array(members), number, choice)
            return known[alike]

        return lowered

    def _check_joined(self, operation: Operation, members: np.ndarray, flows: FlowGraph) -> None:
        ends = members[flows.source], members[flows.destination]
        apart = np.flatnonzero(np.not_equal(*self._topology.islands[list(ends)]))
        if len(apart):
            a, b = (self._topology.devices[end[apart[0]]].name for end in ends)
            raise InputError(f"{operation.label or operation.kind}: no link or device joins {a} and {b}")


def _gathered(simulation: Simulation, status: str, error: str) -> RunResult:
    replay, topology = simulation.replay, simulation.topology
    report = simulation.network.report()
    names = [[topology.devices[d].name for d in devices] for devices in simulation.resolved.devices]
    tasks = recorder.tasks_table(replay.jobs, names)
    flows = recorder.flows_table(replay.jobs, names)
    until = max(replay.clock.now, report.time)
    links = recorder.links_table(report, topology, until)
    wanted = simulation.experiment.output.messages
    messages = recorder.messages_table(report, replay, topology) if wanted else None
    told = [note for job in replay.jobs for note in job.plan.graph.notes]
    told += _empty_classes(simulation.experiment)
    notes = [*topology.assumptions, *told, *report.notes, *report.unused, *_beaten_bounds(simulation)]
    network = {"model": simulation.experiment.network.model, **report.settings, "unused": report.unused}
    counts = {"tasks": tasks.num_rows, "operations": len(replay.launched), "steps": replay.clock.steps, **report.counts}
    summary = summarize(
        tasks, flows, links, messages, status=status, time=until, counts=counts, notes=notes, network=network,
        transport=report.transport or None,
    )  # fmt: skip
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


def _empty_classes(experiment: Experiment) -> list[str]:
    empty = [name for name in experiment.network.classes if name not in experiment.policies.classes]
    return [f"nothing belongs to the traffic class '{name}'" for name in empty]


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


def resolved_experiment(experiment: Experiment, source: Source) -> dict[str, Any]:
    """The experiment with all defaults, as plain data that reads back, with the version and digests of its inputs.

    Paths are relative to the experiment's file, so that the same input gives the same bytes anywhere.
    """
    folder = Path(source.name).parent
    digests = {path_beside(p, folder): hashlib.sha256(p.read_bytes()).hexdigest() for p in _input_files(experiment)}
    provenance = Provenance(simnet=importlib.metadata.version("simnet"), inputs=digests)
    whole = experiment.model_copy(update={"provenance": provenance})
    return whole.model_dump(mode="json", exclude_none=True, context={"folder": folder})


def _input_files(value: Any) -> Iterable[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _input_files(item)
    elif hasattr(value, "model_fields_set"):
        for name in type(value).model_fields:
            yield from _input_files(getattr(value, name))
