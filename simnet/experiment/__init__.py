"""What was asked: the description of one run, and what it names in the topology it describes."""

from simnet.experiment.description import Change, Experiment, Job, Network, Output, Provenance, load, schema
from simnet.experiment.placements import PLACEMENTS
from simnet.experiment.resolving import Resolved, resolve

__all__ = [
    "PLACEMENTS",
    "Change",
    "Experiment",
    "Job",
    "Network",
    "Output",
    "Provenance",
    "Resolved",
    "load",
    "resolve",
    "schema",
]
