"""What an experiment names, found in its built topology: the GPU of every rank, and the links that change."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from simnet.errors import InputError
from simnet.network.model import LinkChange
from simnet.params import nearest
from simnet.reader import Location, Source
from simnet.topology.topology import Topology
from simnet.units import shown
from simnet.workload import WorkloadFile

if TYPE_CHECKING:
    from simnet.experiment.description import Change, Experiment, Job

_LISTED = 8  # names in a message


def packed(topology: Topology, free: list[int]) -> list[int]:
    """Fill one server after the other."""
    return free


def round_robin(topology: Topology, free: list[int]) -> list[int]:
    """Deal the ranks over the servers, one each in turn."""
    servers: dict[str, list[int]] = {}
    for gpu in free:
        device = topology.devices[gpu]
        servers.setdefault(device.server or device.name, []).append(gpu)
    return [gpu for gpu in chain.from_iterable(zip_longest(*servers.values())) if gpu is not None]


PLACEMENTS: dict[str, Callable[[Topology, list[int]], list[int]]] = {"packed": packed, "round_robin": round_robin}
"""Orders in which free GPUs are given to the ranks of a job."""


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


def resolve(experiment: "Experiment", topology: Topology, source: Source | None = None) -> Resolved:
    """Find what `experiment` names in `topology`. Raises InputError with all problems, placed by `source`."""
    finder = _Finder(topology)
    sizes = _sizes(experiment.jobs, finder)
    devices = _place(experiment.jobs, sizes, finder)
    resolved = Resolved(
        devices,
        _changes(experiment.network.changes, finder),
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


class _Finder:
    """Looks names up in a topology and collects problems: (location, sentence) pairs, and those of other files."""

    def __init__(self, topology: Topology):
        self.topology = topology
        self.problems: list[tuple[Location, str]] = []
        self.elsewhere: list[str] = []

    def device(self, name: str, location: Location) -> int | None:
        try:
            return self.topology.id_of(name)
        except KeyError:
            names = [device.name for device in self.topology.devices]
            self.problem(location, f"no device {name!r} in the topology{nearest(name, names) or _some(names)}")
            return None

    def gpu(self, name: str, location: Location) -> int | None:
        device = self.device(name, location)
        if device is not None and self.topology.devices[device].kind != "gpu":
            self.problem(location, f"'{name}' is a {self.topology.devices[device].kind}, not a gpu")
            return None
        return device

    def links(self, names: tuple[str, str], location: Location) -> list[int]:
        ends = [self.device(name, (*location, i)) for i, name in enumerate(names)]
        if None in ends:
            return []
        links = [i for i, k in enumerate(self.topology.links) if sorted((k.source, k.destination)) == sorted(ends)]
        if not links:
            neighbours = [self.topology.links[i].destination for i in self.topology.leaving(ends[:1])]
            around = ", ".join(self.topology.names(dict.fromkeys(neighbours[:_LISTED])))
            joined = f"'{names[0]}' is joined to {around}" if around else f"'{names[0]}' has no links"
            self.problem(location, f"no link between '{names[0]}' and '{names[1]}'; {joined}")
        return links

    def problem(self, location: Location, sentence: str) -> None:
        self.problems.append((location, sentence))


def _some(names: list[str]) -> str:
    return f"; it has {', '.join(names[:_LISTED])}" + (f" and {len(names) - _LISTED} more" if names[_LISTED:] else "")


def _sizes(jobs: "tuple[Job, ...]", finder: _Finder) -> list[int | None]:
    """Number of ranks of every job, as it or its workload's file says; None: neither does."""
    sizes = []
    for i, job in enumerate(jobs):
        written_for = None
        try:
            written_for = job.workload.ranks if isinstance(job.workload, WorkloadFile) else None
        except InputError as error:
            finder.elsewhere.append(str(error))
        if None not in (job.ranks, written_for) and job.ranks != written_for:
            sentence = f"{_count(job.ranks, 'rank')}, but '{job.workload.file.name}' is written for {written_for}"
            finder.problem(("jobs", i, "ranks"), sentence)
        sizes.append(job.ranks or written_for)
    return sizes


def _place(jobs: "tuple[Job, ...]", sizes: list[int | None], finder: _Finder) -> list[list[int]]:
    """The device ids of every job: jobs with a list of GPUs choose first, then those that say how many they need."""
    placed: dict[int, list[int]] = {}
    owners: dict[int, str] = {}  # device id -> the rank that has it
    for i, (job, ranks) in enumerate(zip(jobs, sizes)):
        if not isinstance(job.placement, str):
            placed[i] = _listed(job, ranks, ("jobs", i, "placement"), owners, finder)
    for i in sorted(range(len(jobs)), key=lambda i: sizes[i] is None):
        if i not in placed:
            placed[i] = _dealt(jobs[i], sizes[i], ("jobs", i), owners, finder)
    return [placed[i] for i in range(len(jobs))]


def _listed(job: "Job", ranks: int | None, location: Location, owners: dict[int, str], finder: _Finder) -> list[int]:
    gpus = []
    for rank, name in enumerate(job.placement):
        gpu = finder.gpu(name, (*location, rank))
        if gpu in owners:
            finder.problem((*location, rank), f"'{name}' is taken by {owners[gpu]}")
        elif gpu is not None:
            owners[gpu] = f"rank {rank} of job '{job.name}'"
            gpus.append(gpu)
    if ranks is not None and ranks != len(job.placement):
        finder.problem(location, f"lists {_count(len(job.placement), 'GPU')} for {_count(ranks, 'rank')}")
    return gpus


def _dealt(job: "Job", ranks: int | None, location: Location, owners: dict[int, str], finder: _Finder) -> list[int]:
    total = len(finder.topology.gpus)
    free = [gpu for gpu in finder.topology.gpus if gpu not in owners]
    others = f", {total - len(free)} of them taken by other jobs" if len(free) < total else ""
    if ranks is None and not free:
        finder.problem(location, f"no GPU is left for job '{job.name}'; the topology has {total}{others}")
    elif ranks is not None and ranks > len(free):
        finder.problem(
            (*location, "ranks"), f"{_count(ranks, 'rank')}, but the topology has {_count(total, 'GPU')}{others}"
        )
    gpus = PLACEMENTS[job.placement](finder.topology, free)[:ranks]
    owners.update((gpu, f"rank {rank} of job '{job.name}'") for rank, gpu in enumerate(gpus))
    return gpus


def _changes(changes: "tuple[Change, ...]", finder: _Finder) -> list[LinkChange]:
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


def _check_classes(experiment: "Experiment", finder: _Finder) -> None:
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


def _probes(experiment: "Experiment", devices: list[list[int]], finder: _Finder) -> int | list[tuple[int, int]]:
    wanted = experiment.output.probes
    if isinstance(wanted, int):
        return wanted
    names, pairs = [job.name for job in experiment.jobs], []
    for i, probe in enumerate(wanted):
        place = ("output", "probes", i)
        name = probe.job or (names[0] if len(names) == 1 else None)
        if name not in names:
            told = f"unknown {shown(name)}" if name else "missing key"
            finder.problem((*place, "job"), f"{told}; allowed: {', '.join(names)}{nearest(name or '', names)}")
            continue
        gpus = devices[names.index(name)]
        ranks = {key: getattr(probe, key) for key in ("from", "to")}
        for key, rank in ranks.items():
            if rank >= len(gpus):
                finder.problem((*place, key), f"job '{name}' has ranks 0 to {len(gpus) - 1}, got {rank}")
        if ranks["from"] == ranks["to"]:
            finder.problem((*place, "to"), f"rank {ranks['to']} sends to itself")
        elif max(ranks.values()) < len(gpus):
            pairs.append((gpus[ranks["from"]], gpus[ranks["to"]]))
    return pairs


def _stragglers(factors: dict[str, float], finder: _Finder) -> dict[int, float]:
    found = {finder.gpu(name, ("stragglers", name)): factor for name, factor in factors.items()}
    return {gpu: factor for gpu, factor in found.items() if gpu is not None}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
