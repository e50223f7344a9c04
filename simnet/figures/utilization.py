"""How busy the busiest links were, over time and on average."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from simnet.figures.style import (
    GRID,
    INK,
    cut_short,
    house_style,
    key_below_title,
    new_figure,
    nothing_to_see,
    shortened_link,
    time_axis,
)
from simnet.result import RunResult, numbers, text
from simnet.units import TIME

MOST_LINKS = 30
MOST_COLUMNS = 1200
COLORS, NO_TRAFFIC = "viridis_r", "#F4F5F7"


@house_style
def draw(result: RunResult) -> Figure:
    """Heat map of the utilization of the busiest links over time; beside it mean and peak of each."""
    mean, peak = numbers(result.links, "utilization"), numbers(result.links, "peak")
    used = int((numbers(result.links, "bytes") > 0).sum())
    shown = np.argsort(-mean, kind="stable")[: min(MOST_LINKS, used)]
    figure = new_figure(1.8 + 0.23 * max(len(shown), 6))
    if not used:
        nothing_to_see(figure.subplots(), "No link carried anything in this run.")
        return figure
    until = result.summary["makespan"]
    codes, names = text(result.links, "link")
    labels = [names[codes[link]] for link in shown]
    which = f"{len(shown)} busiest of {used} used links" if used > len(shown) else f"{used} links used"
    heat, bars = figure.subplots(1, 2, width_ratios=[4, 1], sharey=True)
    top = max(1.0, peak[shown].max())  # above 1 where the network model has no contention
    image = heat.imshow(
        _over_time(result, labels, until), aspect="auto", interpolation="nearest", cmap=COLORS, vmin=0, vmax=top,
        extent=(0, until, len(shown) - 0.5, -0.5),
    )  # fmt: skip
    heat.set_yticks(range(len(shown)), [shortened_link(label) for label in labels])
    heat.tick_params(axis="y", length=0)
    heat.hlines(np.arange(len(shown) - 1) + 0.5, 0, until, color="white", linewidth=1.0)
    time_axis(heat, until)
    _mean_and_peak(bars, mean[shown], peak[shown], top)
    heat.set_facecolor(NO_TRAFFIC)
    figure.colorbar(
        image, ax=heat, location="bottom", anchor=(0.5, 1), shrink=0.5, aspect=40, pad=0.02, label="utilization",
        format=PercentFormatter(1.0),
    )  # fmt: skip
    title = f"Utilization of the {which} over {TIME.format(until)}{cut_short(result.summary)}"
    key_below_title(figure, title, [])
    return figure


def _over_time(result: RunResult, labels: list[str], until: float) -> np.ndarray:
    """Utilization of every shown link in time bins, float64[links, bins]; neighbours are averaged if there are many."""
    codes, names = text(result.samples, "link")
    row_of = {label: row for row, label in enumerate(labels)}
    rows = np.array([row_of.get(name, -1) for name in names], int)[codes]
    width = result.bin_width
    bins = max(1, int(np.ceil(until / width - 1e-6)))
    columns = np.minimum(np.rint(numbers(result.samples, "time") / width).astype(int), bins - 1)
    merged = -(-bins // MOST_COLUMNS)
    picture = np.zeros((len(labels), -(-bins // merged)))
    np.add.at(
        picture, (rows[rows >= 0], columns[rows >= 0] // merged), numbers(result.samples, "utilization")[rows >= 0]
    )
    return np.ma.masked_equal(picture / merged, 0.0)


def _mean_and_peak(axes, mean: np.ndarray, peak: np.ndarray, top: float) -> None:
    rows = np.arange(len(mean))
    bars = axes.barh(rows, mean, height=0.62, color="#31688E", label="mean")
    [marks] = axes.plot(
        peak, rows, linestyle="", marker="|", markersize=9, markeredgewidth=2, color=INK, label="peak", clip_on=False
    )
    axes.set_xlim(0, top)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    axes.set_xlabel("mean and peak")
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.legend(handles=[bars, marks], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handlelength=1.2)
