"""Whole models with experts: BERT-Base and GPT-2, the two that the paper names, under DeepSpeed-MoE, S1 and S2.

The paper says "approximately 3x improvement" on BERT-Base and GPT-2 with experts, and no more: layers, batch and groups
are inferred. Both have 12 layers of M = 768 and H = 3072 and run at their longest sequences. Feed-forward networks
become MoE layers all, as in ScheMoE, or every other one, as in GShard; B = 4, k = 2, f = 1.2 and N_MP = N_ESP = 4 are
those of FSMoE's table 2, on the same cluster.
"""

from dataclasses import asdict, dataclass
from typing import Any

from simnet.errors import SimnetError
from simnet.experiment import Experiment
from simnet.run import build, replayed
from simnet.studies.parm.runs import BASELINE, COMPARED, S1, S2
from simnet.studies.parm.testbeds import Testbed

MODELS = {"bert_base": 512, "gpt2_small": 1024}
"""Model -> tokens per sample, its longest."""
SCHEDULES = (*COMPARED, "parm_s2_no_overlap")
BATCH = 4
DERIVED = {1: (3.4, 4.5), 2: (2.5, 3.6)}
"""Range of speedups on 32 GPUs by moe_every, derived by hand at N_MP = N_ESP = 4."""


@dataclass(frozen=True)
class ModelItem:
    """A model on a testbed."""

    testbed: Testbed
    model: str
    sequence: int
    moe_every: int
    model_parallel: int = 4
    expert_sharding: int = 4
    batch: int = BATCH


def items(testbeds: list[Testbed]) -> list[ModelItem]:
    """Every model on every testbed, with all feed-forward networks or every other one as MoE layer."""
    return [
        ModelItem(bed, model, sequence, every)
        for bed in testbeds
        for model, sequence in MODELS.items()
        for every in DERIVED
    ]


def answer(item: ModelItem) -> dict[str, Any]:
    """Time [s] of an iteration by schedule."""
    try:
        runs = {schedule: replayed(build(experiment(item, schedule))) for schedule in SCHEDULES}
    except SimnetError as error:
        return {"error": str(error)}
    return {schedule: run.summary["makespan"] for schedule, run in runs.items()}


def experiment(item: ModelItem, schedule: str) -> Experiment:
    """One iteration of the model: forward, backward, gradients of what are no experts, optimizer."""
    sizes = {key: value for key, value in asdict(item).items() if key != "testbed"}
    workload = {"kind": "moe_model", "schedule": schedule, **sizes}
    return Experiment.model_validate({"topology": item.testbed.topology(), "jobs": [{"workload": workload}]})


def rows(wanted: list[ModelItem], found: dict[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per item. Raises SimnetError if one failed."""
    table = []
    for item in wanted:
        times = found[item]
        if "error" in times:
            raise SimnetError(f"{item.model} on {item.testbed.gpus} GPUs: {times['error']}")
        best = min(times[S1], times[S2])
        sizes = {key: value for key, value in asdict(item).items() if key != "testbed"}
        bed = item.testbed
        table.append({
            "gpus": bed.gpus, "reading": bed.reading, **sizes, **times, "speedup": times[BASELINE] / best,
        })  # fmt: skip
    return table
