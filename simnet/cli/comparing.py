"""`simnet compare`: run all combinations, print them as one table, and keep the numbers as CSV and a picture."""

import sys
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tqdm import tqdm

from simnet.cli.output import bullet, console, heading, show_table, table
from simnet.cli.running import COMPILE_TIME
from simnet.errors import InputError, SimnetError
from simnet.jit import compiled_before
from simnet.metrics.comparison import MEASURES, Row, best_rows, to_csv
from simnet.result import next_directory
from simnet.sweep import Comparison, Outcome, compare, parse_vary
from simnet.units import SIZE, TIME

_VISIBLE = 0.0005  # smaller spreads would print as 0.0 %
_FILES = ("comparison.csv", "comparison.png", "runs")


def compare_and_show(
    path: Path, vary: list[str], overrides: list[str], seeds: int, out: Path | None, jobs: int | None, quiet: bool
) -> bool:
    """Compare variants of an experiment; True if every run completed. Raises SimnetError, KeyboardInterrupt."""
    varied = parse_vary(vary)
    for override in overrides:
        if override.partition("=")[0].strip() in varied:
            raise InputError(f"--set {override}: is varied already")
    directory = _ours(out) if out else next_directory("results", f"compare-{path.stem}")
    if not (quiet or compiled_before()):
        print(f"compiling kernels (first run on this machine, about {COMPILE_TIME} s) ...", file=sys.stderr)
    try:
        with _progress(path.stem, quiet) as update:
            comparison = compare(path, varied, overrides, seeds, directory / "runs", jobs, update)
    except KeyboardInterrupt:
        if directory.exists():
            print(f"interrupted; go on with --out {directory}, where the finished runs are", file=sys.stderr)
        raise
    _save(directory, comparison, _title(path, varied))
    if not quiet:
        _show(console(), comparison, varied, seeds)
        heading(console(), f"Comparison in {directory}")
        bullet(console(), "comparison.csv: this table; comparison.png: a picture of it; runs: every result")
    return all(not outcome.error for outcome in comparison.outcomes)


def _ours(out: Path) -> Path:
    """The directory, if it is new, empty, or from an earlier comparison. Raises InputError."""
    try:
        if out.is_dir() and (strangers := sorted({p.name for p in out.iterdir()} - set(_FILES))):
            raise InputError(f"{out} holds {strangers[0]}, which is of no comparison; name another directory")
        if out.exists() and not out.is_dir():
            raise InputError(f"{out} is no directory; name another one")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write a comparison to {out}: {error.strerror or error}") from None
    return out


def _save(directory: Path, comparison: Comparison, title: str) -> None:
    from simnet.figures import comparison as figure
    from simnet.figures import to_png

    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "comparison.csv").write_text(to_csv(comparison.rows), encoding="utf-8")
        (directory / "comparison.png").write_bytes(to_png(figure.draw(comparison.rows, title)))
    except OSError as error:
        raise SimnetError(f"could not write the comparison to {directory}: {error.strerror or error}") from error


def _title(path: Path, varied: dict[str, list[str]]) -> str:
    return f"{path.stem} by {' and '.join(short_names(varied))}"


@contextmanager
def _progress(title: str, quiet: bool):
    """Yield a callback for `sweep` that counts finished runs on stderr, on a terminal only."""
    bar = tqdm(
        desc=title, file=sys.stderr, disable=quiet or not sys.stderr.isatty(), leave=False,
        bar_format="{desc}: {n_fmt} runs done {postfix}",
    )  # fmt: skip

    def update(_: int, outcome: Outcome) -> None:
        bar.set_postfix_str(
            f"{outcome.case.name}{' failed' if outcome.error else ''} ({bar.format_dict['elapsed']:.0f} s)"
        )
        bar.update()

    with bar:
        yield update


# -- the table ------------------------------------------------------------------------------------------------


def short_names(keys) -> list[str]:
    """Names of varied keys that fit over a column: without network and kind, if that leaves them distinct."""
    short = [key.removeprefix("network.").removesuffix(".kind") for key in keys]
    return short if len(set(short)) == len(short) else list(keys)


def _show(out: Console, comparison: Comparison, varied: dict[str, list[str]], seeds: int) -> None:
    rows = comparison.rows
    over = f", means ± standard deviations of {seeds} seeds" if seeds > 1 else ""
    marks = "; * best of its column" if any(best_rows(rows, name) for name in MEASURES) else ""
    out.print(Text.assemble((f"{len(rows)} variants", "bold"), f"{over}{marks}"))
    names = short_names(varied)
    zero = [name for name in MEASURES if all(row.mean(name) in (None, 0) for row in rows)]
    seen = [name for name in zero if any(row.mean(name) == 0 for row in rows)]
    columns = {name: _column(rows, name) for name in MEASURES if name not in zero}
    for chunk in _chunks(names, rows, columns, out.width):
        out.print()
        grid = table(*(f"{name}<" for name in names), *(MEASURES[name].title for name in chunk))
        for i, row in enumerate(rows):
            grid.add_row(*row.labels.values(), *(columns[name][i] for name in chunk))
        show_table(out, grid)
    if seen:
        bullet(out, f"none in any row: {', '.join(MEASURES[name].title for name in seen)}")
    _errors(out, rows)
    _settings(out, rows, names)
    if comparison.notes:
        heading(out, "Notes")
        for note in comparison.notes:
            bullet(out, note)


def _column(rows: list[Row], name: str) -> list[Text]:
    """Cells of a measure, the best one marked."""
    best = best_rows(rows, name)
    return [
        Text(f"{_cell(row, name)}{'*' if i in best else ' '}", style="bold green" if i in best else "")
        for i, row in enumerate(rows)
    ]


def _cell(row: Row, name: str) -> str:
    mean = row.mean(name)
    if mean is None:
        return "-"
    relative = row.spread(name) / abs(mean) if mean else 0.0
    return _formatted(mean, MEASURES[name].unit) + (f" ±{relative:.1%}" if relative >= _VISIBLE else "")


def _formatted(value: float, unit: str) -> str:
    if unit == "s":
        return TIME.format(value) if value else "0 s"
    if unit == "B":
        return SIZE.format(value)
    return f"{value:.4f}" if unit else f"{value:,.0f}"


def _chunks(names: list[str], rows: list[Row], columns: dict[str, list[Text]], width: int) -> list[list[str]]:
    """Measures that fit beside the labels, block by block."""
    labels = zip(names, *(row.labels.values() for row in rows))
    room = width - 2 - sum(max(4, *map(len, column)) + 2 for column in labels)
    chunks, used = [[]], 0
    for name, cells in columns.items():
        needed = max(4, len(MEASURES[name].title), *(len(cell) for cell in cells)) + 2
        if chunks[-1] and used + needed > room:
            chunks.append([])
            used = 0
        chunks[-1].append(name)
        used += needed
    return [chunk for chunk in chunks if chunk]


def _errors(out: Console, rows: list[Row]) -> None:
    failed = [(row.name, error) for row in rows for error in dict.fromkeys(row.errors)]
    if failed:
        heading(out, "Rows without numbers")
        for name, error in failed:
            bullet(out, f"{name}: {error}")


def _settings(out: Console, rows: list[Row], names: list[str]) -> None:
    """What held in every row: of the user, or brought along by the congestion control."""
    known = [row for row in rows if row.settings]
    keys = list(dict.fromkeys(key for row in known for key in row.settings))
    keys = [key for key in keys if key not in names]
    values = {key: list(dict.fromkeys(row.settings.get(key, "-") for row in known)) for key in keys}
    differing = [key for key in keys if len(values[key]) > 1]
    if not keys:
        return
    heading(out, "What held (what the user does not set comes with the congestion control)")
    if differing:
        grid = table(*(f"{name}<" for name in names), *(f"{key.replace('_', ' ')}<" for key in differing))
        for row in known:
            grid.add_row(*row.labels.values(), *(row.settings.get(key, "-") for key in differing))
        show_table(out, grid)
    same = [f"{key.replace('_', ' ')} {values[key][0]}" for key in keys if key not in differing]
    if same:
        bullet(out, f"all rows: {', '.join(same)}")
