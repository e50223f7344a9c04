"""Simulated against measured: one panel per group of numbers, on the diagonal where they agree."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from simnet.figures.style import CYCLE, GRID, INK, MUTED, house_style, key_below_title, new_figure, nothing_to_see

_COLUMNS = 3
_BAND = 1.25  # factor
_NARROW = 100.0  # largest number / smallest
_LEFT_OUT = "#BBBBBB"


@dataclass(frozen=True)
class Panel:
    """Numbers of one kind. reference, simulated: positive, in `unit`; counted: False for those in no statistics."""

    title: str
    unit: str
    reference: np.ndarray
    simulated: np.ndarray
    counted: np.ndarray


@house_style
def draw(panels: list[Panel], title: str) -> Figure:
    """A scatter plot per panel, with the diagonal and a band of 25 % about it."""
    panels = [panel for panel in panels if len(panel.reference)]
    rows = -(-max(len(panels), 1) // _COLUMNS)
    figure = new_figure(0.5 + 3.7 * rows)
    if not panels:
        nothing_to_see(figure.subplots(), "No number of this suite was simulated.")
        return figure
    grid = figure.subplots(rows, _COLUMNS, squeeze=False)
    handles = [handle for axes, panel in zip(grid.flat, panels) for handle in _scatter(axes, panel)]
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    first = {handle.get_label(): handle for handle in reversed(handles)}
    key_below_title(figure, title, list(reversed(first.values())))
    return figure


def _scatter(axes: Axes, panel: Panel) -> list:
    values = np.concatenate([panel.reference, panel.simulated])
    low, high = values.min() / 1.5, values.max() * 1.5
    line = np.array([low, high])
    band = axes.fill_between(line, line / _BAND, line * _BAND, color=GRID, alpha=0.6, linewidth=0, label="within 25 %")
    axes.plot(line, line, color=MUTED, linewidth=0.8)
    looks = (("in no statistics", _LEFT_OUT, ~panel.counted), ("simulated", CYCLE[0], panel.counted))
    dots = [
        axes.plot(
            panel.reference[chosen], panel.simulated[chosen], linestyle="", marker="o", markersize=3, alpha=0.6,
            markeredgewidth=0, color=color, label=label,
        )[0]
        for label, color, chosen in looks
        if chosen.any()
    ]  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    if high < _NARROW * low:  # few powers of ten: other numbers get a label, and fewer of them
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
    unit = f" [{panel.unit}]" if panel.unit else ""
    axes.set_xlabel(f"reference{unit}")
    axes.set_ylabel(f"simulated{unit}", color=INK)
    axes.set_title(panel.title)
    return [*dots, band]
