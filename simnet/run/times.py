"""Times of an experiment that its network model cannot count to, told where they stand."""

from collections.abc import Iterable, Iterator

from simnet.engine.replay import Lowered
from simnet.experiment import Experiment
from simnet.network.model import NetworkModel
from simnet.reader import Location
from simnet.units import TIME


def problems(
    experiment: Experiment, network: NetworkModel, lowered: Iterable[tuple[str, Lowered]]
) -> list[tuple[Location, str]]:
    """(location, sentence) for each time beyond the latest that counts. lowered: with the names of their jobs."""
    lowered = list(lowered)
    latest = network.latest(operation.flows for _, operation in lowered)
    starts = {job.name: job.start for job in experiment.jobs}
    delays = dict.fromkeys(starts, 0.0)
    for name, operation in lowered:
        delays[name] = max(delays[name], float(operation.flows.delay.max(initial=0.0)))
    model = experiment.network.model
    return [
        (location, f"{what} {TIME.format(time)}, model: {model} counts no further than {TIME.format(latest)} here")
        for location, what, time in _times(experiment, delays)
        if time > latest
    ]


def _times(experiment: Experiment, delays: dict[str, float]) -> Iterator[tuple[Location, str, float]]:
    """Location, words and value of what happens at a time of its own [s]."""
    for number, job in enumerate(experiment.jobs):
        larger = "start" if job.start >= delays[job.name] else "workload"
        yield ("jobs", number, larger), "has flows that begin at", job.start + delays[job.name]
    for number, change in enumerate(experiment.network.changes):
        yield ("network", "changes", number, "time"), "is at", change.time
