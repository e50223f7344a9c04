"""How fast collectives were: bus bandwidth and time against message size, or a bar for each if sizes vary little."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from simnet.figures.style import (
    CYCLE,
    GRID,
    cut_short,
    house_style,
    kind_color,
    new_figure,
    nothing_to_see,
    shortened,
)
from simnet.result import RunResult
from simnet.units import SIZE, TIME

MOST_BARS = 30
CURVE_FROM = 8.0  # largest size / smallest size
_GIGA = 1e9


@house_style
def draw(result: RunResult) -> Figure:
    """Curves over message size if the sizes of any collective span a factor of 8 or more, else bars."""
    rows = [row for row in result.summary["collectives"] if row["bus_bandwidth"] is not None]
    series = _series(rows)
    if not rows:
        figure = new_figure(3.0)
        nothing_to_see(figure.subplots(), "No collective or transfer finished in this run.")
    elif any(points[-1]["size"] >= CURVE_FROM * points[0]["size"] for points in series.values()):
        figure = _curves(series, cut_short(result.summary))
    else:
        figure = _bars(rows, cut_short(result.summary))
    return figure


def _series(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows that differ in size only, in the order of their sizes, by the name of the curve."""
    several_jobs = len({row["job"] for row in rows}) > 1
    series: dict[str, list] = {}
    for row in rows:
        job = f"{row['job']}: " if several_jobs else ""
        series.setdefault(f"{job}{row['kind']}, {row['algorithm']}, {row['ranks']} ranks", []).append(row)
    return {name: sorted(points, key=lambda row: row["size"]) for name, points in series.items()}


def _curves(series: dict[str, list[dict[str, Any]]], ended: str) -> Figure:
    figure = new_figure(5.0)
    bandwidth, time = figure.subplots(1, 2)
    for (name, points), color in zip(series.items(), CYCLE * (1 + len(series) // len(CYCLE))):
        sizes = [row["size"] for row in points]
        look = {"color": color, "marker": "o", "markersize": 4, "linewidth": 1.6, "label": name}
        bandwidth.plot(sizes, [row["bus_bandwidth"] / _GIGA for row in points], **look)
        time.plot(sizes, [row["time_mean"] for row in points], **look)
    bandwidth.set_title(f"Bus bandwidth by message size{ended}")
    bandwidth.set_ylabel("bus bandwidth [GB/s]")
    highest = max(row["bus_bandwidth"] for points in series.values() for row in points) / _GIGA
    bandwidth.set_ylim(0, 1.07 * highest or 1.0)
    time.set_title("Mean time by message size")
    time.set_ylabel("mean time")
    time.set_yscale("log")
    times = [row["time_mean"] for points in series.values() for row in points]
    time.yaxis.set_major_locator(LogLocator(subs=_ticks(max(times) / min(times))))
    time.yaxis.set_major_formatter(FuncFormatter(lambda value, _: TIME.format(value, 3)))
    for axes in (bandwidth, time):
        _size_axis(axes)
    handles, labels = bandwidth.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)))
    return figure


def _ticks(ratio: float) -> tuple[int, ...]:
    """Which multiples of the powers of 10 to mark on an axis that spans `ratio`."""
    if ratio < 20:
        return (1, 2, 3, 5, 7)
    return (1, 3) if ratio < 1000 else (1,)


def _size_axis(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: SIZE.format(value, 3)))
    axes.tick_params(axis="x", rotation=30)
    axes.minorticks_off()
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel("message size")


def _bars(rows: list[dict[str, Any]], ended: str) -> Figure:
    shown = rows[:MOST_BARS]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure = new_figure(1.4 + 0.28 * max(len(shown), 3))
    axes = figure.subplots()
    values = [row["bus_bandwidth"] / _GIGA for row in shown]
    places = range(len(shown))
    axes.barh(places, values, height=0.68, color=[kind_color(row["kind"], kinds) for row in shown])
    for place, value, row in zip(places, values, shown):
        note = f" {value:.3g} GB/s in {TIME.format(row['time_mean'], 3)}"
        axes.text(value, place, note, va="center", fontsize=8)
    axes.set_yticks(places, [shortened(_label(row), 60) for row in shown])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.2 or 1.0)
    axes.set_xlabel("bus bandwidth [GB/s]")
    rest = f", the first {len(shown)} of {len(rows)}" if len(rows) > len(shown) else ""
    axes.set_title(f"Bus bandwidth of each collective and its mean time{rest}{ended}")
    return figure


def _label(row: dict[str, Any]) -> str:
    name = row["label"] if row["label"] != row["kind"] else ""
    return f"{name} {row['kind']} ({row['algorithm']}), {SIZE.format(row['size'], 3)}, n = {row['ranks']}".strip()
