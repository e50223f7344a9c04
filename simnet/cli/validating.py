"""`simnet validate`: published numbers beside simulated ones, how close they are, and the page that says so."""

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tqdm import tqdm

from simnet.cli.output import bullet, console, heading, show_table, table
from simnet.errors import InputError, SimnetError
from simnet.params import nearest
from simnet.validation import SUITES, Case, Verdict, measured_log, report
from simnet.validation.replay import Progress, replay
from simnet.validation.statistics import Aim, groups


@dataclass(frozen=True)
class Outputs:
    """What is wanted besides the terminal: a file of numbers, a directory of pictures, the page; quiet: only that."""

    json: Path | None = None
    pictures: Path | None = None
    page: Path | None = None
    quiet: bool = False


def validate_and_show(suites: list[str], everything: bool, jobs: int | None, outputs: Outputs) -> None:
    """Replay some suites, or all, print verdicts and write what was asked for. Raises SimnetError.

    everything: slow cases, too. A suite that has no others runs them when it is named.
    """
    for name in suites:
        if name not in SUITES:
            raise InputError(f"unknown suite '{name}'; allowed: {', '.join(SUITES)}{nearest(name, SUITES)}")
    chosen: list[Case] = []
    for name in dict.fromkeys(suites or SUITES):
        cases = SUITES[name].cases()
        asked = everything or (suites and all(case.slow for case in cases))
        chosen += [case for case in cases if asked or not case.slow]
    _replay_and_show(chosen, jobs, outputs)


def compare_log(log: Path, topology: Path | None, collective: str | None, ranks: int | None, outputs: Outputs) -> None:
    """Simulate what nccl-tests measured on a topology, and print both. Raises SimnetError."""
    if topology is None:
        raise InputError("--measured needs --topology FILE, the machine on which it was measured")
    if outputs.page is not None:
        raise InputError("--write is of the suites; --json and --plot keep what --measured gives")
    _replay_and_show(measured_log.cases(measured_log.read(log, collective, ranks), topology), 1, outputs)


def _replay_and_show(cases: list[Case], jobs: int | None, outputs: Outputs) -> None:
    with _progress(outputs.quiet) as update:
        verdicts = replay(cases, jobs, update)
    suites: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        suites.setdefault(verdict.case.suite, []).append(verdict)
    if not outputs.quiet:
        for name, found in suites.items():
            _show(console(), name, found)
    try:
        _write(suites, outputs)
    except OSError as error:
        raise SimnetError(f"could not write {error.filename}: {error.strerror or error}") from error


def _write(suites: dict[str, list[Verdict]], outputs: Outputs) -> None:
    if outputs.json:
        rows = report.rows([verdict for found in suites.values() for verdict in found])
        outputs.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if outputs.pictures:
        _plot(suites, outputs.pictures, "{}.png")
    if outputs.page:
        titles, aims = ({name: of(name) for name in suites} for of in (_title, _aims))
        outputs.page.write_text(report.page(suites, titles, aims), encoding="utf-8")
        _plot(suites, outputs.page.parent / "pictures", "validation_{}.png")


def _aims(suite: str) -> Mapping[str, Aim]:
    return getattr(SUITES.get(suite), "AIMS", {})


def _title(suite: str) -> str:
    module = SUITES[suite]
    about = module.about() if hasattr(module, "about") else ""
    return " ".join(f"{inspect.getdoc(module)} {about}".split())


def _plot(suites: dict[str, list[Verdict]], directory: Path, name: str) -> None:
    from simnet.figures import to_png, validation

    directory.mkdir(parents=True, exist_ok=True)
    for suite, verdicts in suites.items():
        picture = validation.draw(report.panels(verdicts), f"{suite}: simulated against reference")
        (directory / name.format(suite)).write_bytes(to_png(picture))


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """Yield a callback that counts runs on stderr, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with tqdm(file=sys.stderr, leave=False, bar_format="{n_fmt} of {total_fmt} runs {postfix}", total=0) as bar:

        def update(done: int, of: int, latest: str) -> None:
            bar.total = of
            bar.set_postfix_str(latest)
            bar.update(done - bar.n)

        yield update


# -- the terminal ---------------------------------------------------------------------------------------------


def _show(out: Console, suite: str, verdicts: list[Verdict]) -> None:
    """All verdicts of a suite by case, then what they come to."""
    cases: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        cases.setdefault(verdict.case.case, []).append(verdict)
    for name, found in cases.items():
        _show_case(out, f"{suite}: {name}", found)
    aims = _aims(suite)
    heading(out, f"{suite}: |simulated / reference - 1|, every case weighing the same")
    grid = table("of<", "numbers", "cases", "median", "aim", "90th", "aim", "worst<")
    for group, found in groups(verdicts).items():
        grid.add_row(*report.summary_cells(group, found, aims.get(group)))
    show_table(out, grid)
    if hasattr(SUITES.get(suite), "about"):
        bullet(out, SUITES[suite].about())
    for sentence in report.left_out(verdicts):
        bullet(out, sentence)
    missed = [verdict for verdict in verdicts if verdict.case.counted and verdict.missed]
    if missed:
        heading(out, f"{suite}: missed")
        for verdict in missed:
            bullet(out, report.sentence(verdict))


def _show_case(out: Console, title: str, verdicts: list[Verdict]) -> None:
    out.print()
    out.print(Text.assemble((title, "bold"), (f"  {verdicts[0].case.source}", "dim")))
    if verdicts[0].case.note:
        bullet(out, verdicts[0].case.note)
    grid = table("quantity<", "reference", "simulated", "unit<", "error")
    for verdict in verdicts:
        grid.add_row(
            verdict.case.quantity, report.number(verdict.case.reference), report.number(verdict.simulated),
            verdict.case.unit, Text(report.percent(verdict.error), style="bold red" if verdict.missed else ""),
        )  # fmt: skip
    show_table(out, grid)
    for failure in dict.fromkeys(verdict.failure for verdict in verdicts if verdict.failure):
        bullet(out, failure)
