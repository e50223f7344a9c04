"""How long the queues of chosen ports were over time, and the thresholds at which they mark and pause."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simnet.figures.style import (
    GRID,
    INK,
    cut_short,
    house_style,
    key_below_title,
    new_figure,
    nothing_to_see,
    scaled_axis,
    shortened_link,
    time_axis,
)
from simnet.result import RunResult, numbers, text
from simnet.units import SIZE, TIME

MOST_PORTS = 12
_IN_VIEW = 2.5  # thresholds above so many times the peak would leave no room for the queue
_QUEUE, _PEAK = "#0072B2", "#222222"


class Threshold(NamedTuple):
    """A column of the links with a threshold, what it is, and how it is drawn."""

    column: str
    name: str
    meaning: str
    color: str
    style: Any


THRESHOLDS = (
    Threshold("kmin", "Kmin", "where marking begins", "#009E73", (0, (3.5, 1.5))),
    Threshold("kmax", "Kmax", "above which all is marked", "#D55E00", (0, (3.5, 1.5))),
    Threshold("xoff", "XOFF", "of one link into the switch", "#7B5EA7", (0, (1.5, 1.2))),
)


@house_style
def draw(result: RunResult) -> Figure:
    """Queues of the ports that the experiment names, or of those with the longest ones, over time."""
    shown = _chosen(result)
    figure = new_figure(1.5 + 1.35 * max(len(shown), 1))
    if not shown:
        nothing_to_see(figure.subplots(), "No packet waited in a queue in this run.")
        return figure
    until = result.summary["makespan"]
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    drawn: set[Threshold] = set()
    for axes, link in zip(panels, shown):
        drawn |= _panel(axes, result, link)
    time_axis(panels[-1], until)
    handles = [
        Patch(facecolor=_QUEUE, alpha=0.45, edgecolor=_QUEUE, label=f"mean over {TIME.format(result.bin_width)}"),
        Line2D([], [], color=_PEAK, linewidth=0.9, linestyle=":", label="longest"),
        *(
            Line2D([], [], color=t.color, linestyle=t.style, label=f"{t.name}, {t.meaning}")
            for t in THRESHOLDS
            if t in drawn
        ),
    ]
    which = f"{len(shown)} port{'s' * (len(shown) > 1)}"
    title = f"Queues of {which} over {TIME.format(until)}{cut_short(result.summary)}"
    key_below_title(figure, title, handles)
    return figure


def _chosen(result: RunResult) -> list[int]:
    """Rows in `links` of the ports to show: those that are named, else those with the longest queues."""
    wanted = result.experiment.get("output", {}).get("queues", 4)
    peak = numbers(result.links, "peak_queue")
    if isinstance(wanted, int):
        return [link for link in np.argsort(-peak, kind="stable")[:wanted].tolist() if peak[link] > 0]
    ends = list(zip(*(_words(result, name) for name in ("source", "destination"))))
    return [link for pair in wanted for link, names in enumerate(ends) if names == tuple(pair)][:MOST_PORTS]


def _words(result: RunResult, column: str) -> list[str]:
    codes, names = text(result.links, column)
    return [names[code] for code in codes]


def _of_link(result: RunResult, column: str, link: int) -> float:
    return float(numbers(result.links, column)[link])


def _panel(axes: Axes, result: RunResult, link: int) -> set[Threshold]:
    """Draw the queue of one port; returns the thresholds that are in view."""
    name = _words(result, "link")[link]
    peak, mean = (_of_link(result, column, link) for column in ("peak_queue", "mean_queue"))
    edges, queue = _over_time(result, name)
    axes.stairs(queue, edges, fill=True, color=_QUEUE, alpha=0.35)
    axes.stairs(queue, edges, color=_QUEUE, linewidth=1.1)
    axes.axhline(peak, color=_PEAK, linewidth=0.9, linestyle=":")
    drawn, hidden = set(), []
    for threshold in THRESHOLDS:
        value = _of_link(result, threshold.column, link)
        if threshold.column == "kmin" and value == _of_link(result, "kmax", link):
            continue  # one line for both
        if 0 < value <= _IN_VIEW * peak:
            axes.axhline(value, color=threshold.color, linewidth=1.1, linestyle=threshold.style)
            drawn.add(threshold)
        elif value:
            hidden.append(f"{threshold.name} {SIZE.format(value, 3)}")
    top = max([peak, *(_of_link(result, t.column, link) for t in drawn)])
    axes.set_ylim(0, 1.12 * top or 1.0)
    beyond = f"; out of view: {', '.join(hidden)}" if hidden else ""
    told = f"mean {SIZE.format(mean, 3)}, longest {SIZE.format(peak, 3)}{beyond}"
    axes.set_title(shortened_link(name), fontsize=9)
    axes.set_title(told, loc="right", fontsize=8, fontweight="normal", color=INK)
    axes.set_ylabel(scaled_axis(axes.yaxis, top, SIZE, 4))
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    return drawn


def _over_time(result: RunResult, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the bins [s] and the mean queue in each [bytes]."""
    codes, names = text(result.samples, "link")
    width = result.bin_width
    bins = max(1, int(np.ceil(result.summary["makespan"] / width - 1e-6)))
    queue = np.zeros(bins)
    if link in names:
        rows = codes == names.index(link)
        columns = np.minimum(np.rint(numbers(result.samples, "time")[rows] / width).astype(int), bins - 1)
        np.add.at(queue, columns, numbers(result.samples, "queue")[rows])
    return np.arange(bins + 1) * width, queue
