"""One configuration of the grid under every schedule, simulated: the answer of one item of the study."""

from dataclasses import asdict, dataclass
from typing import Any

from simnet.errors import SimnetError
from simnet.experiment import Experiment
from simnet.hardware import GPUS
from simnet.result import RunResult
from simnet.run import build, replayed
from simnet.studies.parm.grid import CAPACITY_FACTOR, Configuration
from simnet.studies.parm.testbeds import Testbed

BASELINE, S1, S2 = "deepspeed_moe", "parm_s1", "parm_s2"
SCHEDULES = (BASELINE, S1, S2, "parm_s2_no_overlap")
"""What is simulated of every configuration; parm_auto takes S1 or S2."""
ABLATION = "deepspeed_moe_training"
"""Simulated where it can run: it needs equal inputs in an ESP group."""


@dataclass(frozen=True)
class Item:
    """A configuration on a testbed."""

    testbed: Testbed
    configuration: Configuration


def answer(item: Item) -> dict[str, Any]:
    """Times [s] of a layer's forward and backward pass by schedule, and the baseline's share of communication.

    `memory` [bytes] is what the baseline, which needs most, has to keep on a GPU; where that is more than there is,
    nothing is simulated.
    """
    try:
        memory = layer(item, BASELINE).jobs[0].workload.memory(item.testbed.gpus)
        if memory > GPUS[item.testbed.gpu].memory_size:
            return {"memory": memory, "out_of_memory": True}
        runs = {schedule: replayed(build(layer(item, schedule))) for schedule in SCHEDULES}
        times = {schedule: finished.summary["makespan"] for schedule, finished in runs.items()}
        share = communication_share(runs[BASELINE])
        times[ABLATION] = _ablation(item)
        return {"memory": memory, "out_of_memory": False, "times": times, "share": share}
    except SimnetError as error:
        return {"error": str(error)}


def _ablation(item: Item) -> float | None:
    sharding, members = item.configuration.expert_sharding, item.configuration.model_parallel
    if members % sharding:
        return None
    return replayed(build(layer(item, ABLATION))).summary["makespan"]


def layer(item: Item, schedule: str, model: str = "flow", **more: Any) -> Experiment:
    """The experiment of one layer."""
    sizes = asdict(item.configuration)
    workload = {"kind": "moe_layer", "schedule": schedule, "capacity_factor": CAPACITY_FACTOR, **sizes, **more}
    return Experiment.model_validate({
        "topology": item.testbed.topology(), "network": {"model": model}, "jobs": [{"workload": workload}]
    })  # fmt: skip


def communication_share(result: RunResult) -> float:
    """Time that a rank of the result spends on communication with nothing to compute / makespan, mean over ranks."""
    ranks = result.summary["ranks"]
    return sum(row["exposed_communication"] for row in ranks) / len(ranks)
