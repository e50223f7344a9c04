"""Verdicts as plain rows, as words and numbers for people, and as the page docs/validation.md."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simnet.validation.cases import Verdict
from simnet.validation.statistics import Aim, Spread, groups, spread

if TYPE_CHECKING:
    from simnet.figures.validation import Panel

Aims = Mapping[str, Mapping[str, Aim]]  # suite -> group -> aim
SUMMARY = ("of", "numbers", "cases", "median", "aim", "90th percentile", "aim", "worst")


def rows(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """One object per verdict: suite, case, quantity, unit, reference, simulated, error, source."""
    names = ("suite", "case", "quantity", "unit", "reference")
    return [
        {name: getattr(verdict.case, name) for name in names}
        | {"simulated": verdict.simulated, "error": verdict.error, "source": verdict.case.source}
        for verdict in verdicts
    ]


def panels(verdicts: Sequence[Verdict]) -> list["Panel"]:
    """What a picture of a suite shows: a panel per group of numbers of one unit."""
    from simnet.figures.validation import Panel  # pictures take a while to import

    found: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.simulated and verdict.simulated > 0 and verdict.case.reference > 0:
            found.setdefault((verdict.case.group, verdict.case.unit), []).append(verdict)
    return [
        Panel(
            group,
            unit,
            np.array([verdict.case.reference for verdict in members]),
            np.array([verdict.simulated for verdict in members]),
            np.array([verdict.case.counted for verdict in members]),
        )
        for (group, unit), members in found.items()
    ]


# -- words and numbers ----------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """A number with four digits, '-' where there is none."""
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def percent(value: float | None, sign: str = "+") -> str:
    """An error in percent, '-' where there is none."""
    return "-" if value is None or value != value else f"{value:{sign}.1%}"


def sentence(verdict: Verdict) -> str:
    """A verdict in one line."""
    case = verdict.case
    if verdict.failure:
        return f"{case.case}, {case.quantity}: {verdict.failure}"
    limit = f", {case.limit} {case.tolerance:.1%} promised" if case.tolerance is not None else ""
    return (
        f"{case.case}, {case.quantity}: {number(verdict.simulated)} {case.unit} against "
        f"{number(case.reference)}, {percent(verdict.error)}{limit}"
    ).replace("about ", "")


def summary_cells(group: str, verdicts: Sequence[Verdict], aim: Aim | None) -> tuple[str, ...]:
    """A row of SUMMARY."""
    found, aim = spread(verdicts), aim or Aim()
    worst = (
        f"{percent(found.worst.error)} ({found.worst.case.case}, {found.worst.case.quantity})" if found.worst else "-"
    )
    return (
        group or "all", str(found.count), str(found.cases),
        percent(found.median, ""), _aim(aim.median, found.median),
        percent(found.p90, ""), _aim(aim.p90, found.p90), worst,
    )  # fmt: skip


def _aim(most: float | None, value: float) -> str:
    return "-" if most is None else f"{most:.0%}{'' if value <= most else ', missed'}"


def left_out(verdicts: Sequence[Verdict]) -> list[str]:
    """A sentence for every reason why cases are in no statistics, and one about single numbers."""
    counted = {verdict.case.case for verdict in verdicts if verdict.case.counted}
    whole: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        if verdict.case.case not in counted:
            whole.setdefault(verdict.case.note, {})[verdict.case.case] = None
    single = [verdict for verdict in verdicts if not verdict.case.counted and verdict.case.case in counted]
    sentences = [f"in no statistics: {', '.join(names)}: {note}" for note, names in whole.items()]
    if single:
        names = ", ".join(f"{verdict.case.case} {verdict.case.quantity}" for verdict in single)
        sentences.append(f"in no statistics, as the first row is above twice the second: {names}")
    return sentences


# -- the page -------------------------------------------------------------------------------------------------

_ABOUT = """\
# How close simnet comes

`simnet validate` replays published numbers and writes this page; nothing on it is written by hand. An error is
simulated / reference - 1. In medians and percentiles, of |error|, every case weighs the same, however many numbers it
has. What is missed stands here as missed.

```sh
simnet validate                          # every suite, without what takes long (--all)
simnet validate nccl --json errors.json  # every number of a suite as data
simnet validate --plot pictures          # simulated against reference
simnet validate nccl nccl_unseen network --all --write docs/validation.md
```

Your own measurements, the output of a program of nccl-tests, are compared with a topology of yours in the same way. The
ranks sit on its first GPUs; collective and number of ranks come from the log, or from `--collective` and `--ranks`:

```sh
simnet validate --measured all_reduce.log --topology my_cluster.yaml
```

"""


def page(suites: Mapping[str, Sequence[Verdict]], titles: Mapping[str, str], aims: Aims) -> str:
    """The page about the verdicts of some suites; aims: of each of them."""
    sections = [_ABOUT, *(_section(name, titles[name], found, aims[name]) for name, found in suites.items())]
    return "\n".join(sections)


def _section(name: str, title: str, verdicts: Sequence[Verdict], aims: Mapping[str, Aim]) -> str:
    summary = [summary_cells(group, found, aims.get(group)) for group, found in groups(verdicts).items()]
    lines = [f"## {name}", "", title, "", *_markdown(SUMMARY, summary), ""]
    lines += [f"![{name}: simulated against reference](pictures/validation_{name}.png)", ""]
    if out := left_out(verdicts):
        lines += [*(f"- {sentence}" for sentence in out), ""]
    cases: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        cases.setdefault(verdict.case.case, []).append(verdict)
    lines += _by_case(cases, list(groups(verdicts))) if aims else _by_number(verdicts)
    return "\n".join([*lines, "", *_sources(verdicts)])


def _by_case(cases: Mapping[str, Sequence[Verdict]], names: list[str]) -> list[str]:
    """A row per case, with the median and the worst error of each group."""
    header = ["case", *(f"{name}: {what}" for name in names for what in ("median", "worst")), "source"]
    numbers = _source_numbers([verdict for found in cases.values() for verdict in found])
    table = []
    for case, verdicts in cases.items():
        found = {name: _whole(members) for name, members in groups(verdicts).items()}
        cells = [cell for name in names for cell in _case_cells(found.get(name))]
        table.append((case, *cells, f"[{numbers[verdicts[0].case.source]}]"))
    return _markdown(header, table)


def _whole(verdicts: Sequence[Verdict]) -> Spread:
    """The spread of a case, of those in no statistics, too."""
    counted = [verdict for verdict in verdicts if verdict.case.counted]
    return spread(counted or [replace(verdict, case=replace(verdict.case, counted=True)) for verdict in verdicts])


def _case_cells(found: Spread | None) -> tuple[str, str]:
    if found is None or found.worst is None:
        return "", ""
    return percent(found.median, ""), percent(found.worst.error)


def _by_number(verdicts: Sequence[Verdict]) -> list[str]:
    """A row per number."""
    numbers = _source_numbers(verdicts)
    return _markdown(
        ("case", "quantity", "reference", "simulated", "error", "tolerance", "source"),
        [
            (
                verdict.case.case, verdict.case.quantity, f"{number(verdict.case.reference)} {verdict.case.unit}",
                f"{number(verdict.simulated)} {verdict.case.unit}", percent(verdict.error), _tolerance(verdict),
                f"[{numbers[verdict.case.source]}]",
            )
            for verdict in verdicts
        ],
    )  # fmt: skip


def _tolerance(verdict: Verdict) -> str:
    case = verdict.case
    if case.tolerance is None:
        return verdict.failure
    side = "" if case.limit == "about" else f"{case.limit} "
    return f"{side}{case.tolerance:.1%}" + (", missed" if verdict.missed else "")


def _source_numbers(verdicts: Sequence[Verdict]) -> dict[str, int]:
    return {source: i for i, source in enumerate(dict.fromkeys(verdict.case.source for verdict in verdicts), 1)}


def _sources(verdicts: Sequence[Verdict]) -> list[str]:
    """Sources by number, and the notes of cases."""
    notes = {
        f"{verdict.case.case}: {verdict.case.note}"
        for verdict in verdicts
        if verdict.case.note and verdict.case.counted
    }
    numbered = [f"{i}. {source}" for source, i in _source_numbers(verdicts).items()]
    return ["Sources:", "", *numbered, "", *(f"- {note}" for note in sorted(notes))]


def _markdown(header: Sequence[str], table: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return lines + [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in table]
