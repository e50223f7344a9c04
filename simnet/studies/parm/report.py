"""What the study leaves: tables, pictures, timelines, and the page."""

import re
from pathlib import Path

from simnet import figures, timeline
from simnet.figures import moe_study, side_by_side
from simnet.result import RunResult
from simnet.run import build, replayed
from simnet.studies.parm import Findings
from simnet.studies.parm.grid import Configuration
from simnet.studies.parm.page import clusters, readme, slug
from simnet.studies.parm.runs import BASELINE, S1, S2, Item, layer
from simnet.studies.parm.tables import PUBLISHED, to_csv
from simnet.studies.parm.testbeds import COPY, INSIDE, LINK, TESTBEDS
from simnet.units import RATE

_SHOWN = Configuration(2, 2, 4, 1024, 2048, 4096, 2)  # in the middle of the grid
_KINDS = {"traffic": "SAA: all_to_all and all_gather at once"}
# names of the files of one cluster
_OURS = re.compile(r"(layers|speedups|communication|s1_or_s2|timelines?)_\d+gpus(_[a-z0-9_]+)?\.(csv|png|json\.gz)")
_BANDS = {BASELINE: "DeepSpeed-MoE", S1: "Parm S1", S2: "Parm S2"}


def files(findings: Findings) -> dict[str, str | bytes]:
    """Name -> contents of everything the study leaves."""
    made: dict[str, str | bytes] = {"README.md": readme(findings)}
    for (gpus, reading), rows in findings.layers.items():
        made[f"layers_{slug(findings, gpus, reading)}.csv"] = to_csv([*rows, *findings.out_of_memory[gpus]])
    made["models.csv"] = to_csv(findings.models)
    for gpus in clusters(findings):
        made |= _pictures(findings, gpus)
    return made


def _pictures(findings: Findings, gpus: str) -> dict[str, str | bytes]:
    published = PUBLISHED["smallest"], PUBLISHED["largest"]
    made: dict[str, str | bytes] = {}
    readings = {reading: rows for (key, reading), rows in findings.layers.items() if key == gpus}
    for reading, rows in readings.items():
        name, where = slug(findings, gpus, reading), _where(findings, gpus, reading)
        title = f"Speedup of Parm over DeepSpeed-MoE: {len(rows):,} layers on {where}"
        made[f"speedups_{name}.png"] = figures.to_png(moe_study.speedups(rows, title, published))
    share = f"Communication in the DeepSpeed-MoE layer on {gpus} GPUs"
    made[f"communication_{gpus}gpus.png"] = figures.to_png(moe_study.shares(readings[LINK], share, PUBLISHED["share"]))
    titles = {_reading(reading): rows for reading, rows in readings.items()}
    picture = moe_study.choice_map(titles, f"Where S1 and where S2 is the faster one, {gpus} GPUs")
    made[f"s1_or_s2_{gpus}gpus.png"] = figures.to_png(picture)
    results = timelines(gpus)
    size = f"B {_SHOWN.batch}, L {_SHOWN.sequence}, M {_SHOWN.hidden}, H {_SHOWN.expert_hidden}, top-{_SHOWN.top_k}"
    title = f"One layer on {gpus} GPUs, forward and backward, N_MP = N_ESP = 2 ({size}): rank 0"
    named = {_BANDS[schedule]: result for schedule, result in results.items()}
    made[f"timelines_{gpus}gpus.png"] = figures.to_png(side_by_side.draw(named, title, _KINDS))
    for schedule, result in results.items():
        made[f"timeline_{gpus}gpus_{schedule}.json.gz"] = timeline.to_json(result)
    return made


def _where(findings: Findings, gpus: str, reading: str) -> str:
    extra = f" ({_reading(reading)})" if (gpus, COPY) in findings.layers else ""
    return f"{gpus} GPUs{extra}"


def _reading(reading: str) -> str:
    return f"{RATE.format(RATE.parse(INSIDE))} taken for the rate of a {reading}"


def timelines(gpus: str) -> dict[str, RunResult]:
    """The same layer under the baseline, S1 and S2."""
    item = Item(TESTBEDS[gpus], _SHOWN)
    return {schedule: replayed(build(layer(item, schedule))) for schedule in _BANDS}


def save(findings: Findings, directory: Path) -> list[str]:
    """Write all files, in the place of those that an earlier study has left there; returns their names."""
    made = files(findings)
    directory.mkdir(parents=True, exist_ok=True)
    for old in sorted(directory.iterdir()):
        if _OURS.fullmatch(old.name) and old.name not in made:  # of another cluster or reading, which the page lacks
            old.unlink()
    for name, contents in made.items():
        data = contents.encode() if isinstance(contents, str) else contents
        (directory / name).write_bytes(data)
    return list(made)
