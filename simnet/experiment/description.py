"""The description of one run, as YAML has it: topology, network, jobs, and what to write about them."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, create_model, field_validator, model_validator
from pydantic.json_schema import GenerateJsonSchema

from simnet import reader
from simnet.experiment.placements import PLACEMENTS
from simnet.network import NETWORK_MODELS, Policies
from simnet.network.model import MAX_PROBES
from simnet.params import Name, Params, inside, row_name, tagged
from simnet.topology import TopologyFile
from simnet.topology.builders import BUILDERS
from simnet.units import Rate, Time
from simnet.workload import WORKLOADS, WorkloadFile

MAX_SAMPLES = 2000


class Change(Params):
    """From a time on, links have another rate, have failed, or are back at their nominal rate."""

    time: Time = Field(description="when it happens, in simulated time")
    link: tuple[str, str] | None = Field(None, description="two devices: both directions of all links between them")
    switch: str | None = Field(None, description="a device: all its links")
    rate: Rate | None = Field(None, description="the new rate of each of these links")
    fail: bool | None = Field(None, description="true: the links carry nothing from now on")
    restore: bool | None = Field(None, description="true: the links have their nominal rate again")

    @model_validator(mode="after")
    def _one_of_each(self):
        for choices in (("link", "switch"), ("rate", "fail", "restore")):
            given = [name for name in choices if getattr(self, name)]
            if len(given) != 1:
                raise ValueError(f"needs exactly one of {', '.join(choices)}; got {' and '.join(given) or 'none'}")
        return self


class Network(Policies):
    """How bytes travel."""

    model: row_name(NETWORK_MODELS) = Field("flow", description="how links are shared")
    changes: tuple[Change, ...] = Field((), description="links that change their rate, fail and return")

    @model_validator(mode="after")
    def _shown_by_the_model(self):
        places = {("load_balancing", "kind"): self.load_balancing}
        places |= {("classes", name, "load_balancing", "kind"): c.load_balancing for name, c in self.classes.items()}
        for place, balancer in places.items():
            if self.model != "packet" and balancer and balancer.kind not in self.fluid_balancers:
                known = ", ".join(self.fluid_balancers)
                raise inside(place, f"'{balancer.kind}' needs model: packet; the {self.model} model knows {known}")
        return self


class Job(Params):
    """One workload on some of the GPUs."""

    name: Name | None = Field(None, description="unique among the jobs; default job0, job1, ...")
    workload: tagged(WORKLOADS, WorkloadFile) = Field(description="what every rank computes and exchanges")
    ranks: int | None = Field(
        None, ge=1, description="number of ranks; default what the workload's file says, else one on each GPU left"
    )
    placement: row_name(PLACEMENTS) | Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        "packed", description="how ranks are put on GPUs, or the names of the GPUs in the order of ranks"
    )
    traffic_class: str | None = Field(
        None, description="one of `network.classes`, whose policies its traffic has; default the network's own"
    )
    start: Time = Field(0.0, description="when the job begins, in simulated time")
    stop: Time | None = Field(
        None, description="no task of the job begins from then on, those under way finish; default never"
    )
    iterations: int = Field(1, ge=1, description="how often the workload runs, back to back")

    @model_validator(mode="after")
    def _stops_after_start(self):
        if self.stop is not None and self.stop <= self.start:
            raise inside(("stop",), "must be later than the job's start")
        return self


Probe = create_model(
    "Probe",
    __base__=Params,
    __doc__="A pair of ranks between which windows and rates are sampled.",
    job=(str | None, Field(None, description="the job of the ranks; needed where there are several jobs")),
    **{"from": (NonNegativeInt, Field(description="rank that sends"))},
    to=(NonNegativeInt, Field(description="rank that receives")),
)


class Output(Params):
    """What a result holds."""

    messages: bool = Field(False, description="write every single flow of a collective, too")
    samples: int = Field(200, ge=1, le=MAX_SAMPLES, description="number of time bins of the links' utilization")
    probes: Annotated[int, Field(ge=0, le=MAX_PROBES)] | tuple[Probe, ...] = Field(
        0,
        description="connections whose window, rate and round-trip time are sampled, too (model: packet): "
        "how many, the first ones that send, or those between pairs of ranks",
    )
    queues: Annotated[int, Field(ge=1, le=12)] | tuple[tuple[str, str], ...] = Field(
        4,
        description="ports whose queues `queues.png` shows (model: packet): how many, those with the longest queues, "
        "or links by their two devices",
    )


class Provenance(Params):
    """What a stored experiment was run with; simnet writes it and does not read it."""

    simnet: str = Field(description="version of simnet")
    inputs: dict[str, str] = Field({}, description="SHA-256 of every file that the experiment names")


class Experiment(Params):
    """One run of simnet: a cluster, the jobs on it, and how its network is modelled."""

    name: Name = Field("experiment", description="names the result; default the name of the file")
    description: str = Field("", description="free text: what the experiment shows")
    seed: int = Field(1, ge=0, lt=2**63, description="of all random choices; the same seed gives the same result")
    topology: tagged(BUILDERS, TopologyFile) = Field(description="the cluster: a kind with its parameters, or a file")
    network: Network = Field(Network(), description="how bytes travel")
    stragglers: dict[str, Annotated[float, Field(ge=1)]] = Field(
        {}, description="GPUs that compute slower, each with the factor on its compute times"
    )
    jobs: tuple[Job, ...] = Field(min_length=1, description="the workloads that run, sharing the cluster")
    output: Output = Field(Output(), description="what the result holds")
    provenance: Provenance | None = Field(None, description="written by simnet into a result, not read")

    @property
    def policies(self) -> Policies:
        """The network's, without the classes of traffic that no job or task names. Raises InputError."""
        named = {job.traffic_class for job in self.jobs}
        for job in self.jobs:
            named.update(job.workload.traffic_classes if isinstance(job.workload, WorkloadFile) else ())
        used = {name: chosen for name, chosen in self.network.classes.items() if name in named}
        return self.network.model_copy(update={"classes": used})

    @field_validator("jobs")
    @classmethod
    def _named(cls, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        names: dict[str, int] = {}
        for i, job in enumerate(jobs):
            name = job.name or f"job{i}"
            if name in names:
                raise inside((i, "name"), f"'{name}' is the name of job {names[name]} already")
            names[name] = i
        return tuple(job.model_copy(update={"name": name}) for job, name in zip(jobs, names))


def load(path: str | Path, overrides: tuple[str, ...] | list[str] = ()) -> tuple[Experiment, reader.Source]:
    """The experiment of a YAML file, with 'a.b=c' overrides in it, and where each of its values stands.

    Raises InputError with all problems.
    """
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(path).stem)
    return reader.load(path, Experiment, overrides, {"name": stem or "experiment"})


def schema() -> dict[str, Any]:
    """JSON Schema of an experiment, for editors that complete and check YAML."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Experiment.model_json_schema(schema_generator=_WithTextDefaults),
        "title": "simnet experiment",
    }


class _WithTextDefaults(GenerateJsonSchema):
    """Shows the default of a quantity as YAML has it, with its unit."""

    def default_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        shown = super().default_schema(schema)
        writer = schema["schema"].get("serialization", {})
        if "default" in shown and writer.get("type") == "function-plain":
            shown["default"] = writer["function"](schema["default"])
        return shown
