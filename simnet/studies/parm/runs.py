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
COMPARED = (BASELINE, S1, S2)
"""What speedups are made of."""
TRAINING = "deepspeed_moe_training"
SCHEDULES = (*COMPARED, "parm_s2_no_overlap", "two_level_all_to_all", "pipelined", TRAINING)
"""What is simulated of the grid; parm_auto takes S1 or S2."""


@dataclass(frozen=True)
class Item:
    """A configuration on a testbed, under some schedules."""

    testbed: Testbed
    configuration: Configuration
    schedules: tuple[str, ...] = SCHEDULES


def answer(item: Item) -> dict[str, Any]:
    """Times [s] of a layer's forward and backward pass by schedule, and the baseline's share of communication.

    A schedule that the layer cannot have has no time.

    `memory` [bytes] is what the baseline, which needs most, has to keep on a GPU; where that is more than there is,
    nothing is simulated.
    """
    try:
        memory = layer(item, BASELINE).jobs[0].workload.memory(item.testbed.gpus)
        if memory > GPUS[item.testbed.gpu].memory_size:
            return {"memory": memory, "out_of_memory": True}
        able = [schedule for schedule in item.schedules if _can_run(schedule, item.configuration)]
        runs = {schedule: replayed(build(layer(item, schedule))) for schedule in able}
        times = {name: runs[name].summary["makespan"] if name in runs else None for name in item.schedules}
        share = communication_share(runs[BASELINE])
        return {"memory": memory, "out_of_memory": False, "times": times, "share": share}
    except SimnetError as error:
        return {"error": str(error)}


def _can_run(schedule: str, configuration: Configuration) -> bool:
    """DeepSpeed's training path needs equal inputs in an ESP group."""
    return schedule != TRAINING or configuration.model_parallel % configuration.expert_sharding == 0


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
