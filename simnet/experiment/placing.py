"""The GPU of every rank: jobs with a list of GPUs choose first, then those that say how many they need."""

from simnet.errors import InputError
from simnet.experiment.description import Job
from simnet.experiment.finding import Finder, count
from simnet.experiment.placements import PLACEMENTS
from simnet.reader import Location
from simnet.workload import WorkloadFile


def place(jobs: tuple[Job, ...], finder: Finder) -> list[list[int]]:
    """Device ids of the ranks of every job."""
    sizes = _sizes(jobs, finder)
    placed: dict[int, list[int]] = {}
    owners: dict[int, str] = {}  # device id -> the rank that has it
    for i, (job, ranks) in enumerate(zip(jobs, sizes)):
        if not isinstance(job.placement, str):
            placed[i] = _listed(job, ranks, ("jobs", i, "placement"), owners, finder)
    for i in sorted(range(len(jobs)), key=lambda i: sizes[i] is None):
        if i not in placed:
            placed[i] = _dealt(jobs[i], sizes[i], ("jobs", i), owners, finder)
    return [placed[i] for i in range(len(jobs))]


def _sizes(jobs: tuple[Job, ...], finder: Finder) -> list[int | None]:
    """Number of ranks of every job, as it or its workload's file says; None: neither does."""
    sizes = []
    for i, job in enumerate(jobs):
        written_for = None
        try:
            written_for = job.workload.ranks if isinstance(job.workload, WorkloadFile) else None
        except InputError as error:
            finder.elsewhere.append(str(error))
        if None not in (job.ranks, written_for) and job.ranks != written_for:
            sentence = f"{count(job.ranks, 'rank')}, but '{job.workload.file.name}' is written for {written_for}"
            finder.problem(("jobs", i, "ranks"), sentence)
        sizes.append(job.ranks or written_for)
    return sizes


def _listed(job: Job, ranks: int | None, location: Location, owners: dict[int, str], finder: Finder) -> list[int]:
    gpus = []
    for rank, name in enumerate(job.placement):
        gpu = finder.gpu(name, (*location, rank))
        if gpu in owners:
            finder.problem((*location, rank), f"'{name}' is taken by {owners[gpu]}")
        elif gpu is not None:
            owners[gpu] = f"rank {rank} of job '{job.name}'"
            gpus.append(gpu)
    if ranks is not None and ranks != len(job.placement):
        finder.problem(location, f"lists {count(len(job.placement), 'GPU')} for {count(ranks, 'rank')}")
    return gpus


def _dealt(job: Job, ranks: int | None, location: Location, owners: dict[int, str], finder: Finder) -> list[int]:
    total = len(finder.topology.gpus)
    free = [gpu for gpu in finder.topology.gpus if gpu not in owners]
    others = f", {total - len(free)} of them taken by other jobs" if len(free) < total else ""
    if ranks is None and not free:
        finder.problem(location, f"no GPU is left for job '{job.name}'; the topology has {total}{others}")
    elif ranks is not None and ranks > len(free):
        finder.problem(
            (*location, "ranks"), f"{count(ranks, 'rank')}, but the topology has {count(total, 'GPU')}{others}"
        )
    gpus = PLACEMENTS[job.placement](finder.topology, free)[:ranks]
    owners.update((gpu, f"rank {rank} of job '{job.name}'") for rank, gpu in enumerate(gpus))
    return gpus
