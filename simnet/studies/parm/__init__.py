"""The Parm study: speedups of S1 and S2 over DeepSpeed-MoE on an 8-GPU server and a 32-GPU cluster, and why.

Runs the grid of MoE layers (`grid`) on the two clusters (`testbeds`), calibrates parm_auto on each of them as `simnet
calibrate` does, and writes tables, pictures and a README that says what the paper gives, what is inferred and how far
each number is from the paper's. No constant is fitted to the paper's results.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from simnet.errors import SimnetError
from simnet.studies.answers import Progress, answers
from simnet.studies.calibration import calibrate
from simnet.studies.parm import models
from simnet.studies.parm.grid import CAPACITY_FACTOR, Configuration, grid, sample
from simnet.studies.parm.runs import BASELINE, COMPARED, S1, S2, SCHEDULES, Item, answer
from simnet.studies.parm.testbeds import COPY, SWEPT, TESTBEDS, Testbed
from simnet.workload.models.moe import LAUNCH
from simnet.workload.moe import Calibration, Layer, predict

Row = dict[str, Any]
_FEWER = 8  # of the fast sample's configurations, one of so many is in its sweep


@dataclass(frozen=True)
class Findings:
    """What the study found. layers: rows of the grid by (GPUs, reading). sweep: of the sampled grid on 8 GPUs, by the
    rate inside the node. models: rows of whole models. out_of_memory: configurations left out, with the bytes that they
    need, by GPUs."""

    layers: dict[tuple[str, str], list[Row]]
    sweep: dict[str, list[Row]]
    models: list[Row]
    out_of_memory: dict[str, list[Row]]
    configurations: int


def study(
    gpus: Sequence[str],
    fast: bool,
    unfinished: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Run everything. gpus: keys of TESTBEDS; fast: one configuration of 20; unfinished: file of answers so far."""
    configurations = sample() if fast else grid()
    plans = {(key, bed.reading): (bed, configurations) for key in gpus for bed in _readings(TESTBEDS[key])}
    few = sample()[::_FEWER] if fast else sample()
    swept = {rate: (replace(TESTBEDS["8"], inside=rate), few) for rate in SWEPT} if "8" in gpus else {}
    wanted = [Item(bed, alike) for bed, chosen in plans.values() for alike in _alike(chosen)]
    wanted += [Item(bed, alike, COMPARED) for bed, chosen in swept.values() for alike in _alike(chosen)]
    real = models.items([bed for bed, _ in plans.values()])
    beds = [bed for bed, _ in [*plans.values(), *swept.values()]]
    wanted = list(dict.fromkeys([*beds, *wanted, *real]))
    found = dict(zip(wanted, answers(_answer, wanted, unfinished, jobs, progress)))
    layers = {name: _rows(bed, chosen, found) for name, (bed, chosen) in plans.items()}
    return Findings(
        layers,
        {rate: _rows(bed, chosen, found, COMPARED) for rate, (bed, chosen) in swept.items()},
        models.rows(real, found),
        {key: _too_large(TESTBEDS[key], configurations, found) for key in gpus},
        len(configurations),
    )


def _answer(item: Testbed | Item | models.ModelItem) -> dict[str, Any]:
    """Of a testbed its calibration, of a layer and a model their times."""
    if isinstance(item, Testbed):
        return calibrate(item.topology())[0].model_dump(mode="json", exclude_none=True)
    return answer(item) if isinstance(item, Item) else models.answer(item)


def _readings(bed: Testbed) -> list[Testbed]:
    """Both readings of the rate inside a node; of the 8-GPU server, whose rate is a guess, the first one."""
    return [bed] if bed.gpus == bed.node else [bed, replace(bed, reading=COPY)]


def _alike(configurations: Sequence[Configuration]) -> list[Configuration]:
    return list(dict.fromkeys(configuration.alike for configuration in configurations))


def _rows(
    bed: Testbed,
    configurations: Sequence[Configuration],
    found: dict[Any, dict],
    schedules: tuple[str, ...] = SCHEDULES,
) -> list[Row]:
    """A row per configuration that fits into memory. Raises SimnetError if one failed."""
    calibration, rows = Calibration.model_validate(found[bed]), []
    for configuration in configurations:
        item = Item(bed, configuration.alike, schedules)
        got = found[item]
        if "error" in got:
            raise SimnetError(f"{configuration} on {bed.gpus} GPUs: {got['error']}")
        if not got["out_of_memory"]:
            rows.append(_row(bed, configuration, got, calibration))
    return rows


def _too_large(bed: Testbed, configurations: Sequence[Configuration], found: dict[Any, dict]) -> list[Row]:
    """The configurations that do not fit into memory, and what they need."""
    asked = [(configuration, found[Item(bed, configuration.alike)]) for configuration in configurations]
    return [_described(configuration, got) for configuration, got in asked if got["out_of_memory"]]


def _described(configuration: Configuration, got: dict[str, Any]) -> Row:
    """What every row says, whether the configuration fits into memory or not."""
    return {**asdict(configuration), "capacity_factor": CAPACITY_FACTOR, "memory": got["memory"]}


def _row(bed: Testbed, configuration: Configuration, got: dict[str, Any], calibration: Calibration) -> Row:
    times = got["times"]
    chosen = min((S1, S2), key=lambda schedule: predict(schedule, _layer(bed, configuration), calibration))
    auto = times[chosen]
    return {
        **_described(configuration, got),
        **times,
        "parm_auto": auto,
        "chosen": chosen,
        "speedup": times[BASELINE] / auto,
        "speedup_s1": times[BASELINE] / times[S1],
        "speedup_s2": times[BASELINE] / times[S2],
        "s2_over_s1": times[S2] / times[S1],
        "share": got["share"],
    }


def _layer(bed: Testbed, c: Configuration) -> Layer:
    experts = bed.gpus // c.expert_sharding
    return Layer(
        bed.gpus, c.batch, c.sequence, c.hidden, c.expert_hidden, experts, c.top_k, CAPACITY_FACTOR,
        c.model_parallel, c.expert_sharding, launch=LAUNCH,
    )  # fmt: skip


__all__ = ["Findings", "study"]
