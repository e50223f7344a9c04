"""Windows, rates and round-trip times of sampled connections over time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simnet.figures.style import (
    CYCLE,
    GRID,
    INK,
    cut_short,
    house_style,
    key_below_title,
    new_figure,
    nothing_to_see,
    scaled_axis,
    shortened,
    time_axis,
)
from simnet.result import RunResult, numbers, text
from simnet.units import RATE, SIZE, TIME, Dimension

MOST_FLOWS = len(CYCLE)


@house_style
def draw(result: RunResult) -> Figure:
    """Window, rate and round-trip time of the connections that the experiment wanted to be sampled."""
    flows = _flows(result)
    if not flows:
        figure = new_figure(2.0)
        nothing_to_see(figure.subplots(), "No connection was sampled in this run; output.probes says which shall be.")
        return figure
    figure = new_figure(6.6)
    window, rate, rtt = figure.subplots(3, 1, sharex=True)
    limited = any(np.isfinite(flow["window"]).any() for flow in flows)
    for flow, color in zip(flows, CYCLE):
        _line(window, flow, "window" if limited else "inflight", color, linewidth=1.4)
        _line(rate, flow, "throughput", color, linewidth=1.4)
        _line(rate, flow, "rate", color, linewidth=1.0, linestyle=(0, (3.5, 1.5)), alpha=0.8)
        _line(rtt, flow, "rtt", color, linewidth=1.4)
    _axis(window, "window" if limited else "in flight", SIZE)
    _axis(rate, "rate", RATE)
    _axis(rtt, "round-trip time", TIME)
    time_axis(rtt, result.summary["makespan"])
    handles = [Line2D([], [], color=color, linewidth=2, label=_name(flow)) for flow, color in zip(flows, CYCLE)]
    if any(np.isfinite(flow["rate"]).any() for flow in flows):
        handles.append(Line2D([], [], color=INK, linewidth=1, linestyle=(0, (3.5, 1.5)), label="rate of pacing"))
    several = len(flows) > 1
    total = len(np.unique(numbers(result.probes, "flow")))
    which = f"the first {len(flows)} of {total} sampled connections" if total > len(flows) else "sampled connections"
    title = f"Windows and rates of {which}" if several else f"Window and rate of {_name(flows[0])}"
    key_below_title(figure, title + cut_short(result.summary), handles)
    return figure


def _flows(result: RunResult) -> list[dict]:
    """Columns of the first sampled connections, with the job and the names of both ends."""
    if result.probes is None or not result.probes.num_rows:
        return []
    numbered = numbers(result.probes, "flow")
    several = len(text(result.probes, "job").names) > 1
    flows = []
    for number in np.unique(numbered)[:MOST_FLOWS].tolist():
        rows = _until_its_end(result, np.flatnonzero(numbered == number))
        columns = {name: numbers(result.probes, name)[rows] for name in ("time", "window", "rate", "throughput", "rtt")}
        columns["inflight"] = numbers(result.probes, "inflight")[rows]
        words = {}
        for name in ("job", "source", "destination"):
            codes, names = text(result.probes, name)
            words[name] = names[codes[rows[0]]]
        flows.append(columns | words | {"several": several})
    return flows


def _until_its_end(result: RunResult, rows: np.ndarray) -> np.ndarray:
    """Rows of a connection up to the first one from which on it neither sends nor waits for anything."""
    at_work = (numbers(result.probes, "throughput")[rows] > 0) | (numbers(result.probes, "inflight")[rows] > 0)
    return rows[: np.flatnonzero(at_work).max(initial=0) + 2]


def _name(flow: dict) -> str:
    ends = f"{shortened(flow['source'], 20)} -> {shortened(flow['destination'], 20)}"
    return f"{flow['job']}: {ends}" if flow["several"] else ends


def _line(axes: Axes, flow: dict, column: str, color: str, **look) -> None:
    values = np.where(np.isfinite(flow[column]), flow[column], np.nan)
    if column == "rtt":
        values = np.where(values > 0, values, np.nan)  # none yet
    if np.isfinite(values).any():
        axes.plot(flow["time"], values, color=color, **look)


def _axis(axes: Axes, label: str, dimension: Dimension) -> None:
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{label} [{scaled_axis(axes.yaxis, axes.get_ylim()[1], dimension, 5)}]")
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
