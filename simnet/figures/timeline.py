"""What every rank did and when: a bar per task for up to 64 ranks, shares of the ranks beyond."""

from dataclasses import dataclass

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from simnet.figures.coverage import coverage
from simnet.figures.style import (
    WIDTH,
    cut_short,
    house_style,
    key_below_title,
    kind_color,
    new_figure,
    nothing_to_see,
    readable_on,
    shortened,
    time_axis,
)
from simnet.metrics.columns import joint, task_of_flow
from simnet.result import RunResult, numbers, text
from simnet.units import TIME

MOST_RANKS = 64  # with bars of their own
MOST_BARS = 20_000  # drawn one by one, beyond that bars are painted as an image
COLUMNS = 2400  # of that image
MOST_NAMES = 600
WAITING, WAITING_COLOR = "waiting for other members", "#EFE3CC"


@dataclass(frozen=True)
class Pieces:
    """Tasks as pieces of time; a communication task is cut where its last member arrived.

    rank, stream, activity: index into ranks (labels), streams and activities (names), one row a piece; start, end [s].
    task: row in the table of tasks.
    """

    rank: np.ndarray
    stream: np.ndarray
    activity: np.ndarray
    start: np.ndarray
    end: np.ndarray
    task: np.ndarray
    ranks: list[str]
    streams: list[str]
    activities: list[str]
    colors: list[str]
    until: float


@house_style
def draw(result: RunResult) -> Figure:
    """Gantt chart per rank and stream, coloured by kind; of more than 64 ranks the share that is at it over time."""
    if not result.tasks.num_rows:
        figure = new_figure(3.0)
        nothing_to_see(figure.subplots(), "No task started in this run.")
        return figure
    pieces = pieces_of(result)
    figure = _gantt(result, pieces) if len(pieces.ranks) <= MOST_RANKS else _aggregate(pieces)
    shown = np.unique(pieces.activity)
    handles = [Patch(color=pieces.colors[a], label=pieces.activities[a]) for a in shown]
    key_below_title(figure, _title(result), handles)
    return figure


def _title(result: RunResult) -> str:
    summary, ranks = result.summary, result.summary["ranks"]
    keys = ("compute", "exposed_communication", "idle")
    compute, exposed, idle = (sum(row[key] for row in ranks) / len(ranks) for key in keys)
    who = f"the {len(ranks)} ranks" if len(ranks) > 1 else "the only rank"
    return (
        f"What {who} did over {TIME.format(summary['makespan'])}{cut_short(summary)}: {compute:.0%} compute, "
        f"{exposed:.0%} exposed communication, {idle:.0%} idle"
    )


def pieces_of(result: RunResult) -> Pieces:
    """The tasks of a run as pieces of time, by rank and stream."""
    tasks, until = result.tasks, result.summary["makespan"] or 1.0  # an instant is drawn in an empty second
    jobs, devices, streams, kinds = (text(tasks, c) for c in ("job", "device", "stream", "kind"))
    number = numbers(tasks, "rank")
    _, first, rank = np.unique(joint(jobs.codes, number), return_index=True, return_inverse=True)
    several = len(np.unique(jobs.codes)) > 1
    labels = [
        (f"{jobs.names[jobs.codes[i]]}: " if several else "") + f"rank {number[i]}  {devices.names[devices.codes[i]]}"
        for i in first
    ]
    start = numbers(tasks, "start")
    end = np.where(np.isnan(numbers(tasks, "end")), until, numbers(tasks, "end"))
    released = start.copy()  # when the last member of the operation was there
    member = task_of_flow(tasks, result.flows)
    last = np.where(np.isnan(numbers(result.flows, "start")), until, numbers(result.flows, "start"))
    released[member[member >= 0]] = last[member >= 0]
    waits = np.flatnonzero(released > start)
    index = np.concatenate([np.arange(tasks.num_rows), waits])
    activity = np.concatenate([kinds.codes, np.full(len(waits), len(kinds.names))])
    begin, finish = np.concatenate([released, start[waits]]), np.concatenate([end, released[waits]])
    colors = [kind_color(kind, kinds.names) for kind in kinds.names]
    used, stream = np.unique(streams.codes, return_inverse=True)
    return Pieces(
        rank[index], stream[index], activity, begin, finish, index,
        labels, [streams.names[code] for code in used], [*kinds.names, WAITING], [*colors, WAITING_COLOR], until,
    )  # fmt: skip


def _gantt(result: RunResult, pieces: Pieces) -> Figure:
    ranks, streams = len(pieces.ranks), len(pieces.streams)
    inches = max(0.16 * ranks, min(0.62 * ranks, 6.0))
    figure = new_figure(1.3 + inches)
    axes = figure.subplots()
    bar = 0.84 / streams  # of a rank's room of 1
    if len(pieces.start) <= MOST_BARS:
        top = pieces.rank + 0.08 + bar * pieces.stream
        axes.add_collection(bars(pieces, top, top + bar))
        _names(axes, result, pieces, top + bar / 2, bar * inches / ranks)
    else:
        axes.imshow(
            _painted(pieces), aspect="auto", interpolation="nearest", extent=(0, pieces.until, ranks, 0)
        )  # fmt: skip
    axes.set_ylim(ranks, 0)
    axes.set_yticks(np.arange(ranks) + 0.5, [shortened(label) for label in pieces.ranks])
    axes.tick_params(axis="y", length=0, labelsize=9 if ranks <= 24 else 7)
    axes.spines["left"].set_visible(False)
    time_axis(axes, pieces.until)
    if streams > 1:
        axes.set_xlabel(f"{axes.get_xlabel()}     (in every rank: {' above '.join(pieces.streams)})")
    return figure


def bars(pieces: Pieces, top: np.ndarray, bottom: np.ndarray) -> PolyCollection:
    """A rectangle per piece: wide ones with a white line around, narrow ones on top and never thinner than a line."""
    corners = np.array([[pieces.start, top], [pieces.end, top], [pieces.end, bottom], [pieces.start, bottom]])
    narrow = _points(pieces) < 3.0
    order = np.argsort(narrow, kind="stable")
    colors = np.array([to_rgb(color) for color in pieces.colors])[pieces.activity[order]]
    edges = np.where(narrow[order, None], colors, 1.0)
    return PolyCollection(np.moveaxis(corners, 2, 0)[order], linewidths=0.5, edgecolors=edges, facecolors=colors)


def _points(pieces: Pieces) -> np.ndarray:
    """About how wide every piece is drawn [points]."""
    return (pieces.end - pieces.start) / pieces.until * 0.85 * WIDTH * 72


def _names(axes, result: RunResult, pieces: Pieces, middle: np.ndarray, bar: float) -> None:
    """Write a task's name into its bar where it fits; bar: its height [inches]."""
    size = 7.0  # points
    if bar * 72 < size + 2:
        return
    codes, names = text(result.tasks, "name")
    needed = np.array([0.62 * size * len(name) + 4 for name in names])[codes[pieces.task]]
    waiting = pieces.activity == len(pieces.activities) - 1
    for i in np.flatnonzero((_points(pieces) > needed) & ~waiting)[:MOST_NAMES]:
        axes.text(
            (pieces.start[i] + pieces.end[i]) / 2, middle[i], names[codes[pieces.task[i]]], ha="center",
            va="center_baseline", fontsize=size, color=readable_on(pieces.colors[pieces.activity[i]]), clip_on=True,
        )  # fmt: skip


def _shares(pieces: Pieces, row: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Share of every time bin that each row spends on each activity, float64[rows, activities, columns]."""
    activities = len(pieces.activities)
    filled = coverage(
        row * activities + pieces.activity, pieces.start, pieces.end, rows * activities, columns, pieces.until
    )
    return filled.reshape(rows, activities, columns)


def _painted(pieces: Pieces) -> np.ndarray:
    """The bars as an image, colours mixed where a column holds several tasks, float64[lines, COLUMNS, 3]."""
    ranks, streams = len(pieces.ranks), len(pieces.streams)
    shares = _shares(pieces, pieces.rank * streams + pieces.stream, ranks * streams, COLUMNS)
    inks = np.array([to_rgb(color) for color in pieces.colors])
    lines = 1.0 - np.einsum("rac,ak->rck", shares, 1.0 - inks)
    image = np.ones((ranks, 2 + 6 * streams, COLUMNS, 3))  # a white line above and below the bars of a rank
    image[:, 1 : 1 + 6 * streams] = np.repeat(lines.reshape(ranks, streams, COLUMNS, 3), 6, axis=1)
    return np.clip(image.reshape(-1, COLUMNS, 3), 0.0, 1.0)


def _aggregate(pieces: Pieces) -> Figure:
    """Per stream, the share of the ranks that is at each activity, stacked over time."""
    ranks, streams, columns = len(pieces.ranks), len(pieces.streams), COLUMNS // 4
    figure = new_figure(1.3 + 2.2 * streams)
    shares = _shares(pieces, pieces.stream, streams, columns) / ranks
    edges = np.linspace(0, pieces.until, columns + 1)
    panels = np.atleast_1d(figure.subplots(streams, 1, sharex=True))
    for axes, stream, name in zip(panels, shares, pieces.streams):
        floor = np.zeros(columns)
        for activity, color in zip(stream, pieces.colors):
            axes.stairs(floor + activity, edges, baseline=floor, fill=True, color=color)
            floor = floor + activity
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_ylabel(f"share of ranks\non the {name} stream")
        axes.set_xlabel("")
    time_axis(panels[-1], pieces.until)
    return figure
