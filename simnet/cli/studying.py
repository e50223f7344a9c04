"""`simnet figures` and `simnet calibrate`: whole studies with their pictures, and the alpha-beta pairs of a cluster."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from tqdm import tqdm

from simnet.cli.output import bullet, console, heading, show_table, table
from simnet.cli.topology import description_of
from simnet.errors import InputError, SimnetError
from simnet.params import nearest
from simnet.studies.answers import Progress
from simnet.units import RATE, TIME

GPUS = {"8": ["8"], "32": ["32"], "all": ["8", "32"]}
STUDIES = ("parm",)
UNFINISHED = "unfinished.jsonl"


def study_and_show(
    study: str, gpus: str, fast: bool, out: Path, overwrite: bool, jobs: int | None, quiet: bool
) -> None:
    """Run a study, write its files and print its page. Raises SimnetError, KeyboardInterrupt."""
    if study not in STUDIES:
        raise InputError(f"unknown study '{study}'; allowed: {', '.join(STUDIES)}{nearest(study, STUDIES)}")
    if gpus not in GPUS:
        raise InputError(f"--gpus: unknown '{gpus}'; allowed: {', '.join(GPUS)}{nearest(gpus, list(GPUS))}")
    from simnet.studies import parm
    from simnet.studies.parm import report

    unfinished = out / UNFINISHED
    try:
        out.mkdir(parents=True, exist_ok=True)
        taken = any(out.iterdir())
    except OSError as error:
        raise InputError(f"cannot write a study to {out}: {error.strerror or error}") from None
    if taken and not (overwrite or unfinished.exists()):
        raise InputError(f"{out} is there already; give --overwrite to replace its files, or --out DIR")
    try:
        with _progress(study, quiet) as update:
            findings = parm.study(GPUS[gpus], fast, unfinished, jobs, update)
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {unfinished}", file=sys.stderr)
        raise
    try:
        names = report.save(findings, out)
        unfinished.unlink()
    except OSError as error:
        raise SimnetError(f"could not write the study to {out}: {error.strerror or error}") from error
    if not quiet:
        print(report.readme(findings))
        heading(console(), f"Study in {out}")
        bullet(console(), ", ".join(sorted(names)))


def calibrate_and_show(topology: str, ranks: int | None, groups: str, out: Path | None) -> None:
    """Calibrate a cluster, print how well the pairs fit, and print or write them as YAML. Raises SimnetError."""
    from simnet.studies.calibration import calibrate

    if out is not None and out.exists():
        raise InputError(f"{out} exists; name another file")
    sizes = _group_sizes(groups)
    try:
        calibration, fits = calibrate(description_of(topology), ranks, model_parallel=sizes, expert_sharding=sizes)
    except InputError as error:
        raise InputError(_with_options(str(error), groups, ranks)) from None
    except ValidationError as error:
        raise InputError("; ".join(problem["msg"] for problem in error.errors())) from None
    grid = table("collective<", "alpha", "rate of a message's bytes", "largest error")
    for fit in fits:
        grid.add_row(fit.name, TIME.format(fit.pair.alpha), RATE.format(fit.pair.rate), f"{fit.error:.2%}")
    show_table(console(), grid)
    plain = {"calibration": calibration.model_dump(mode="json", exclude_none=True)}
    text = yaml.safe_dump(_with_numbers(plain), sort_keys=False)
    if out is None:
        print(text, end="")
    else:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SimnetError(f"could not write {out}: {error.strerror or error}") from None
        bullet(console(), f"{out}: name it in a workload as calibration: {{file: {out}}}")


def _with_options(text: str, groups: str, ranks: int | None) -> str:
    """What is wrong with the experiment that a calibration is, told of the options that it comes from."""
    options = {"ranks": f"--ranks {ranks}"}
    options |= dict.fromkeys(("workload.model_parallel", "workload.expert_sharding"), f"--groups {groups}")
    for key, option in options.items():
        text = text.replace(f"jobs.0.{key}: ", f"{option}: ")
    return text


def _with_numbers(tree: Any) -> Any:
    """The tree with keys that are numbers as such, which JSON has as text."""
    if not isinstance(tree, dict):
        return tree
    return {int(key) if key.isdigit() else key: _with_numbers(value) for key, value in tree.items()}


def _group_sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) for part in parts):
        raise InputError(f"--groups {text}: write sizes as 1,2,4")
    return tuple(sorted({int(part) for part in parts}))


@contextmanager
def _progress(title: str, quiet: bool) -> Iterator[Progress]:
    """A bar of finished runs on stderr, on a terminal only."""
    bar = tqdm(desc=title, file=sys.stderr, disable=quiet or not sys.stderr.isatty(), leave=False, unit="layer")

    def update(done: int, of: int) -> None:
        bar.total = of
        bar.n = done
        bar.refresh()

    with bar:
        yield update
