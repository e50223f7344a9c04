"""What an experiment names, found in its built topology: GPUs of ranks, links that change, what is to be sampled."""

from dataclasses import dataclass

from simnet.errors import InputError
from simnet.experiment.description import Change, Experiment, Job
from simnet.experiment.failed_uplinks import failed_links
from simnet.experiment.finding import Finder
from simnet.experiment.placing import place
from simnet.network.model import LinkChange
from simnet.params import nearest
from simnet.reader import Source
from simnet.topology.topology import Topology
from simnet.units import shown
from simnet.workload import WorkloadFile


@dataclass(frozen=True)
class Resolved:
    """What an experiment names, as ids of its topology.

    devices: per job, the device id of every rank. changes: of single links, in the order of time. stragglers: factor on
    the compute times of a device id. probes: number of connections to sample, or (source, destination) device ids.
    """

    devices: list[list[int]]
    changes: list[LinkChange]
    stragglers: dict[int, float]
    probes: int | list[tuple[int, int]]


def resolve(experiment: Experiment, topology: Topology, source: Source | None = None) -> Resolved:
    """Find what `experiment` names in `topology`. Raises InputError with all problems, placed by `source`."""
    finder = Finder(topology)
    devices = place(experiment.jobs, finder)
    resolved = Resolved(
        devices,
        _failed(experiment.jobs, finder) + _changes(experiment.network.changes, finder),
        _stragglers(experiment.stragglers, finder),
        _probes(experiment, devices, finder),
    )
    _check_classes(experiment, finder)
    for i, loss in enumerate(experiment.network.ports.losses):
        finder.links(loss.link, ("network", "ports", "losses", i, "link"))
    if not isinstance(experiment.output.queues, int):
        for i, ends in enumerate(experiment.output.queues):
            finder.links(ends, ("output", "queues", i))
    if experiment.network.model == "packet" and not finder.elsewhere:
        for keys, sentence in experiment.policies.problems():
            finder.problem(("network", *keys), sentence)
    problems = [str((source or Source()).error(finder.problems))] if finder.problems else []
    if problems or finder.elsewhere:
        raise InputError("\n".join([*problems, *finder.elsewhere]))
    return resolved


def _changes(changes: tuple[Change, ...], finder: Finder) -> list[LinkChange]:
    found = []
    for i, change in enumerate(changes):
        location = ("network", "changes", i)
        if change.link is not None:
            links = finder.links(change.link, (*location, "link"))
        else:
            device = finder.device(change.switch, (*location, "switch"))
            links = [n for n, k in enumerate(finder.topology.links) if device in (k.source, k.destination)]
        for link in links:
            rate = 0.0 if change.fail else change.rate or finder.topology.links[link].rate
            found.append(LinkChange(change.time, link, rate))
    return sorted(found, key=lambda change: change.time)


def _failed(jobs: tuple[Job, ...], finder: Finder) -> list[LinkChange]:
    """Links that files of jobs take away from the start."""
    if finder.elsewhere:
        return []
    found: list[int] = []
    for job in jobs:
        imported = job.workload.imported if isinstance(job.workload, WorkloadFile) else None
        try:
            found += failed_links(imported.failed, finder.topology) if imported else []
        except InputError as error:
            finder.elsewhere.append(str(error))
    return [LinkChange(0.0, link, 0.0) for link in dict.fromkeys(found)]


def _check_classes(experiment: Experiment, finder: Finder) -> None:
    known = experiment.network.classes
    for i, job in enumerate(experiment.jobs):
        if isinstance(job.workload, WorkloadFile) and not finder.elsewhere:
            try:
                job.workload.check_traffic_classes(known)
            except InputError as error:
                finder.elsewhere.append(str(error))
        if job.traffic_class not in (None, *known):
            name = job.traffic_class
            allowed = f"allowed: {', '.join(known)}{nearest(name, known)}" if known else "network.classes has none"
            finder.problem(("jobs", i, "traffic_class"), f"unknown {shown(name)}; {allowed}")


def _probes(experiment: Experiment, devices: list[list[int]], finder: Finder) -> int | list[tuple[int, int]]:
    wanted = experiment.output.probes
    if isinstance(wanted, int):
        return wanted
    names, pairs = [job.name for job in experiment.jobs], []
    for i, probe in enumerate(wanted):
        location = ("output", "probes", i)
        name = probe.job or (names[0] if len(names) == 1 else None)
        if name not in names:
            told = f"unknown {shown(name)}" if name else "missing key"
            finder.problem((*location, "job"), f"{told}; allowed: {', '.join(names)}{nearest(name or '', names)}")
            continue
        gpus = devices[names.index(name)]
        ranks = {key: getattr(probe, key) for key in ("from", "to")}
        for key, rank in ranks.items():
            if rank >= len(gpus):
                finder.problem((*location, key), f"job '{name}' has ranks 0 to {len(gpus) - 1}, got {rank}")
        if ranks["from"] == ranks["to"]:
            finder.problem((*location, "to"), f"rank {ranks['to']} sends to itself")
        elif max(ranks.values()) < len(gpus):
            pairs.append((gpus[ranks["from"]], gpus[ranks["to"]]))
    return pairs


def _stragglers(factors: dict[str, float], finder: Finder) -> dict[int, float]:
    found = {finder.gpu(name, ("stragglers", name)): factor for name, factor in factors.items()}
    return {gpu: factor for gpu, factor in found.items() if gpu is not None}
