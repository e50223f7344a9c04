"""From a description to all its parts, ready to replay."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from simnet.engine.replay import Replay
from simnet.errors import InputError
from simnet.experiment import Experiment, Resolved, resolve
from simnet.network import Scenario, network_model
from simnet.network.model import NetworkModel, Progress
from simnet.params import FileParams, Params
from simnet.reader import Location, Source
from simnet.run import times
from simnet.run.lowering import Lowering
from simnet.run.planning import plan
from simnet.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Simulation:
    """An experiment with all its parts built, ready to replay."""

    experiment: Experiment
    source: Source
    topology: Topology
    resolved: Resolved
    network: NetworkModel
    replay: Replay


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
    with _at(source, ("topology",)):
        network = network_model(experiment.network.model)(scenario)
    lowering = Lowering(scenario.router)
    plans, problems = [], []
    for number, (job, devices) in enumerate(zip(experiment.jobs, resolved.devices)):
        try:
            with _moderate():
                lower_for = lowering.for_job(job, devices, policies)
                plans.append(plan(job, devices, topology, resolved.stragglers, lower_for))
        except InputError as error:
            # a workload's file names its own lines; what its parameters ask for is said where they stand
            named = isinstance(job.workload, FileParams)
            place, sentence = _in_workload(job.workload, str(error))
            problems.append(sentence if named else source.say(("jobs", number, "workload", *place), sentence))
    if problems:
        raise InputError("\n".join(problems))
    if late := times.problems(experiment, network, lowering.lowered):
        raise source.error(late)
    return Simulation(experiment, source, topology, resolved, network, Replay(network, plans, progress))


def _topology(experiment: Experiment, source: Source) -> Topology:
    if isinstance(experiment.topology, FileParams):  # which names its own lines
        with _moderate():
            return experiment.topology.build()
    with _at(source, ("topology",)), _moderate():
        return experiment.topology.build()


@contextmanager
def _at(source: Source, location: Location) -> Iterator[None]:
    """What is wrong inside is said at that location."""
    try:
        yield
    except InputError as error:
        raise InputError(source.say(location, str(error))) from None


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
