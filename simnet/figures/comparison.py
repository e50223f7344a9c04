"""Variants side by side: completion times, makespans and queues of every row of a comparison."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from simnet.figures.style import (
    CYCLE,
    GRID,
    INK,
    MUTED,
    house_style,
    key_below_title,
    new_figure,
    nothing_to_see,
    shortened,
    time_axis,
)
from simnet.metrics.comparison import Row, best_rows
from simnet.units import SIZE, TIME

MOST_ROWS = 60
LOG_FROM = 8.0  # longest time / shortest time
_BLUE, _PALE = CYCLE[0], "#A9CBE3"


@house_style
def draw(rows: list[Row], title: str) -> Figure:
    """A line per row: spread of the completion times, makespan, and mean and peak of the longest queue."""
    known = [row for row in rows if row.mean("makespan") is not None]
    shown = rows[:MOST_ROWS]
    if not known:
        figure = new_figure(3.0)
        nothing_to_see(figure.subplots(), "No run of this comparison came to its end.")
        return figure
    queues = any(row.mean("peak_queue") is not None for row in shown)
    figure = new_figure(1.9 + 0.3 * max(len(shown), 3))
    panels = figure.subplots(1, 2 + queues, sharey=True, width_ratios=[5, 3, 3][: 2 + queues])
    handles = _completion_times(panels[0], shown)
    _makespans(panels[1], shown)
    if queues:
        handles += _queues(panels[2], shown)
    for axes in panels:
        axes.grid(axis="x", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    panels[0].set_yticks(range(len(shown)), [shortened(row.name, 40) for row in shown])
    panels[0].set_ylim(len(shown) - 0.5, -0.5)
    for i, row in enumerate(shown):
        if row.errors:
            panels[0].annotate("failed", (0.02, i), xycoords=("axes fraction", "data"), va="center", color=MUTED)
    rest = f" (the first {len(shown)} of {len(rows)})" if len(rows) > len(shown) else ""
    key_below_title(figure, title + rest, handles)
    return figure


def _completion_times(axes: Axes, rows: list[Row]) -> list:
    """A line from the median to the maximum of every row, with marks at mean and 99th percentile."""
    places = [i for i, row in enumerate(rows) if row.mean("fct_max") is not None]
    values = {name: [rows[i].mean(f"fct_{name}") for i in places] for name in ("p50", "mean", "p99", "max")}
    axes.hlines(places, values["p50"], values["max"], color=_PALE, linewidth=5)
    looks = {
        "p50": ("FCT p50", "|", _BLUE),
        "mean": ("FCT mean", "o", _BLUE),
        "p99": ("FCT p99", "D", CYCLE[1]),
        "max": ("FCT max", "|", INK),
    }
    handles = []
    for name, (label, marker, color) in looks.items():
        thin = marker == "|"
        handles += axes.plot(
            values[name], places, linestyle="", marker=marker, color=color, label=label, clip_on=False,
            markersize=10 if thin else 5, markeredgewidth=2 if thin else 0,
        )  # fmt: skip
    shortest, longest = min(values["p50"], default=0.0), max(values["max"], default=0.0)
    if longest > LOG_FROM * shortest > 0:
        axes.set_xscale("log")
        axes.set_xlim(shortest / 1.1, longest * 1.1)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: TIME.format(value, 3)))
        axes.minorticks_off()
        axes.set_xlabel("flow completion time")
    else:
        time_axis(axes, 1.04 * longest, "flow completion time")
    return handles


def _makespans(axes: Axes, rows: list[Row]) -> None:
    best = best_rows(rows, "makespan")
    for i, row in enumerate(rows):
        value = row.mean("makespan")
        if value is not None:
            axes.barh(i, value, height=0.6, color=_BLUE if i in best else _PALE)
            spread = row.spread("makespan")
            if spread:
                axes.errorbar(value, i, xerr=[[min(value, spread)], [spread]], color=INK, capsize=2, linewidth=1)
    longest = max((row.mean("makespan") or 0.0) + row.spread("makespan") for row in rows)
    time_axis(axes, 1.04 * longest, "makespan (best in blue)" if best else "makespan")
    axes.xaxis.get_major_locator().set_params(nbins=5)


def _queues(axes: Axes, rows: list[Row]) -> list:
    places = [i for i, row in enumerate(rows) if row.mean("peak_queue") is not None]
    peaks = [rows[i].mean("peak_queue") for i in places]
    bars = axes.barh(
        places, [rows[i].mean("mean_queue") for i in places], height=0.6, color="#E3B48F", label="mean queue"
    )
    [marks] = axes.plot(
        peaks, places, linestyle="", marker="|", markersize=10, markeredgewidth=2, color=CYCLE[1], label="peak queue",
        clip_on=False,
    )  # fmt: skip
    top = max(peaks) or 1.0
    axes.set_xlim(0, 1.04 * top)
    scale = next((SIZE.units[unit] for unit in SIZE.printed if top >= SIZE.units[unit]), 1.0)
    axes.set_xticks(scale * MaxNLocator(3).tick_values(0, top / scale)[:-1])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: SIZE.format(value, 3)))
    axes.set_xlabel("longest queue")
    return [bars, marks]
