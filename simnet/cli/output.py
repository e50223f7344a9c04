"""What the terminal shows of a result: the summary as a few tables that fit 80 columns and survive a pipe."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from simnet.errors import InputError
from simnet.units import RATE, SIZE, TIME

_UNWRAPPED = 10_000  # columns of a pipe or file: one row stays one line for grep
_MOST_COLLECTIVES = 24
_SKEW_WORTH_A_LINE = 1.05
_GIGA = 1e9
_COUNTED = ("tasks", "operations", "events")


def console(stream=None) -> Console:
    """A console that colours and wraps on a terminal only."""
    stream = stream or sys.stdout
    return Console(
        file=stream, width=None if stream.isatty() else _UNWRAPPED, highlight=False, markup=False, emoji=False
    )


def show_result(out: Console, summary: dict[str, Any], experiment: dict[str, Any]) -> None:
    """Print the summary of a run: what ran and how it ended, collectives, ranks, links and notes."""
    _headline(out, summary, experiment)
    _collectives(out, summary["collectives"])
    _ranks(out, summary)
    _links(out, summary["busiest_links"])
    _queues(out, summary)
    if summary["notes"]:
        heading(out, "Notes")
        for note in summary["notes"]:
            bullet(out, note)


def check_picture(option: str, to: Path) -> None:
    """InputError where a picture cannot go; option: that names it."""
    if to.suffix.lower() != ".png":
        raise InputError(f"{option} {to}: pictures are PNG files, whose names end in .png")
    if not to.parent.is_dir():
        raise InputError(f"{option} {to}: there is no directory '{to.parent}'")


def heading(out: Console, text: str) -> None:
    """Print a heading with a line before it."""
    out.print()
    out.print(Text(text, style="bold"))


def bullet(out: Console, text: str) -> None:
    """Print one sentence, indented."""
    out.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def table(*columns: str) -> Table:
    """A plain table. Names that end in '<' are of words, which fold on a narrow terminal; the others of numbers."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        words = name.endswith("<")
        grid.add_column(
            name.rstrip("<"), justify="left" if words else "right", no_wrap=not words, overflow="fold", min_width=4
        )
    return grid


def show_table(out: Console, grid: Table) -> None:
    """Print a table below its heading."""
    out.print(Padding(grid, (0, 0, 0, 2), expand=False))


def time(value: float | None) -> str:
    """A time [s] for people; '-' where it is not defined."""
    return "-" if value is None else TIME.format(value) if value else "0 s"


def _headline(out: Console, summary: dict, experiment: dict) -> None:
    name = experiment.get("name", "experiment")
    style = "bold green" if summary["status"] == "completed" else "bold red"
    line = Text.assemble((name, "bold"), ": ", (summary["status"], style), f", makespan {time(summary['makespan'])}")
    out.print(line)
    counts = summary["simulated"]
    bullet(out, "simulated " + ", ".join(f"{counts[what]:,} {what}" for what in _COUNTED if what in counts))
    for job in summary["jobs"]:
        bullet(out, _job(job))


def _job(job: dict) -> str:
    line = f"job {job['job']}: {job['ranks']} ranks, {time(job['start'])} to {time(job['end'])}"
    if job["overlap_fraction"]:
        line += f", {job['overlap_fraction']:.0%} of its communication hidden behind compute"
    return line


def _collectives(out: Console, rows: list[dict]) -> None:
    if not rows:
        return
    heading(out, "Collectives and transfers (mean times; bandwidths in GB/s as nccl-tests counts them)")
    several = len({row["job"] for row in rows}) > 1
    grid = table("operation<", "algorithm<", "size", "ranks", "runs", "time", "algbw", "busbw")
    for row in rows[:_MOST_COLLECTIVES]:
        name = _operation(row)
        grid.add_row(
            f"{row['job']}: {name}" if several else name,
            _algorithm(row), SIZE.format(row["size"]), str(row["ranks"]), str(row["count"]),
            time(row["time_mean"]), _giga(row["algorithm_bandwidth"]), _giga(row["bus_bandwidth"]),
        )  # fmt: skip
    show_table(out, grid)
    if len(rows) > _MOST_COLLECTIVES:
        bullet(out, f"... and {len(rows) - _MOST_COLLECTIVES} more in summary.json")


def _algorithm(row: dict) -> str:
    """The algorithm, with what a library made of it."""
    chosen = row["choice"].partition(":")[0]
    return row["algorithm"] if not chosen else chosen if row["algorithm"] != "auto" else f"auto: {chosen}"


def _operation(row: dict) -> str:
    """Kind and label, without what the label repeats of kind and size."""
    label = row["label"].removeprefix(row["kind"]).removesuffix(SIZE.format(row["size"])).strip()
    return f"{row['kind']} {label}".strip()


def _ranks(out: Console, summary: dict) -> None:
    rows = summary["ranks"]
    if not rows:
        return
    heading(out, f"How the {len(rows)} ranks spent the makespan, and what each put on the wire")
    grid = table("share<", "min", "mean", "max")
    for key, name in (
        ("compute", "compute"),
        ("exposed_communication", "exposed communication"),
        ("idle", "idle"),
    ):
        values = [row[key] for row in rows]
        grid.add_row(name, *(f"{v:.1%}" for v in (min(values), sum(values) / len(values), max(values))))
    for key in ("sent", "received"):
        values = [row[key] for row in rows]
        grid.add_row(f"bytes {key}", *(SIZE.format(v) for v in (min(values), sum(values) / len(values), max(values))))
    show_table(out, grid)
    hottest = summary["hottest_receiver"]
    several = [job["job"] for job in summary["jobs"] if job["ranks"] > 2]  # of two ranks, one may only send
    if hottest and hottest["job"] in several and hottest["times_mean"] > _SKEW_WORTH_A_LINE:
        bullet(
            out,
            f"hottest receiver: rank {hottest['rank']} of {hottest['job']} ({hottest['device']}) received "
            f"{SIZE.format(hottest['received'])}, {hottest['times_mean']:.2f} times the mean",
        )


def _links(out: Console, rows: list[dict]) -> None:
    if not rows:
        return
    heading(out, "Busiest links (utilization over the makespan)")
    grid = table("link<", "kind<", "rate", "carried", "mean", "peak")
    for row in rows:
        grid.add_row(
            row["link"], row["kind"], RATE.format(row["rate"]), SIZE.format(row["bytes"]),
            f"{row['utilization']:.1%}", f"{row['peak']:.1%}",
        )  # fmt: skip
    show_table(out, grid)


def _queues(out: Console, summary: dict) -> None:
    """The longest queues, what was lost and sent again, and the policies that held."""
    queues, network = summary["queues"], summary["network"]
    if queues is None:
        return
    heading(out, "Longest queues (mean over the makespan) and what their ports did")
    grid = table("link<", "peak", "mean", "packets", "marked", "trimmed", "dropped", "pauses", "paused")
    for row in queues["longest"]:
        counts = (f"{row[name]:,}" for name in ("packets", "marked", "trimmed", "dropped", "pauses"))
        grid.add_row(
            row["link"], SIZE.format(row["peak_queue"]), SIZE.format(row["mean_queue"]), *counts, time(row["paused"])
        )
    show_table(out, grid)
    _priorities(out, queues.get("priorities", []))
    if queues["retransmitted_packets"] or queues["timeouts"]:
        bullet(
            out,
            f"sent again: {queues['retransmitted_packets']:,} packets ({SIZE.format(queues['retransmitted_bytes'])}), "
            f"{queues['timeouts']:,} timeouts, {queues['duplicates']:,} packets came twice",
        )
    held = (f"{name.replace('_', ' ')} {network[name]}" for name in network if name not in ("model", "unused"))
    bullet(out, f"what held: {', '.join(held)}")


def _priorities(out: Console, rows: list[dict]) -> None:
    """What each priority did on all links, where ports have a queue for each."""
    if not rows:
        return
    heading(out, "Priorities, over all links")
    grid = table("priority", "share<", "longest queue", "marked", "dropped", "pauses", "paused")
    for row in rows:
        counts = (f"{row[name]:,}" for name in ("marked", "dropped", "pauses"))
        peak = SIZE.format(row["peak_queue"])
        grid.add_row(str(row["priority"]), row["share"], peak, *counts, time(row["paused"]))
    show_table(out, grid)


def _giga(rate: float | None) -> str:
    return "-" if rate is None else f"{rate / _GIGA:.4g}"
