"""Pictures of a study of MoE layers: speedups by groups and by axis, communication shares, and where S1 or S2 wins.

A row is one configuration: model_parallel, expert_sharding, batch, sequence, hidden, expert_hidden, top_k,
`speedup` of Parm over the baseline, `share` of communication in the baseline, and `s2_over_s1`, a ratio of times.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from simnet.figures.style import CYCLE, GRID, INK, MUTED, house_style, key_below_title, new_figure

Rows = Sequence[Mapping[str, Any]]

AXES = {
    "model_parallel": "N_MP", "expert_sharding": "N_ESP", "batch": "B", "sequence": "L", "hidden": "M",
    "expert_hidden": "H",
}  # fmt: skip
"""Key of a row -> the paper's symbol."""
_BLUE, _PALE, _ORANGE = CYCLE[0], "#A9CBE3", CYCLE[1]


@house_style
def speedups(rows: Rows, title: str, published: tuple[float, float]) -> Figure:
    """Distribution of the speedup for every pair of group sizes, and its average along every axis of the grid.

    published: the smallest and the largest speedup that were measured.
    """
    figure = new_figure(5.6)
    left, right = figure.subfigures(1, 2, width_ratios=[5, 6])
    axes = left.subplots()
    groups = _groups(rows)
    for i, values in enumerate(groups.values()):
        axes.plot([min(values), max(values)], [i, i], color=_PALE, linewidth=7, solid_capstyle="butt")
        axes.plot(values, np.full(len(values), i), "|", color=_BLUE, markersize=9, alpha=0.35)
        [mean] = axes.plot([np.mean(values)], [i], "o", color=INK, markersize=5)
        axes.annotate(f"{np.mean(values):.2f}", (np.mean(values), i - 0.33), ha="center", va="center", fontsize=8)
    for value in published:
        line = axes.axvline(value, color=_ORANGE, linestyle="--", linewidth=1)
        axes.annotate(
            f"{value:g}", (value, -0.72), color=_ORANGE, ha="center", va="center", fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    axes.set_yticks(range(len(groups)), [f"({a}, {b})" for a, b in groups])
    axes.set_ylim(len(groups) - 0.5, -0.95)
    axes.set_xlim(0.8, None)
    axes.set_ylabel("(N_MP, N_ESP)")
    axes.set_xlabel("speedup over DeepSpeed-MoE")
    _quiet(axes, "x")
    mean.set_label("average")
    line.set_label("smallest and largest of the paper")
    panels = right.subplots(2, 3, sharey=True).ravel()
    for panel, (key, symbol) in zip(panels, AXES.items()):
        _averages(panel, rows, key, symbol)
    for panel in panels[::3]:
        panel.set_ylabel("average speedup")
    key_below_title(figure, title, [mean, line])
    return figure


def _averages(axes: Axes, rows: Rows, key: str, symbol: str) -> None:
    values = sorted({row[key] for row in rows})
    means = [np.mean([row["speedup"] for row in rows if row[key] == value]) for value in values]
    bars = axes.bar(range(len(values)), means, width=0.62, color=_PALE)
    axes.bar_label(bars, [f"{mean:.2f}" for mean in means], fontsize=7, padding=1)
    axes.set_xticks(range(len(values)), [str(value) for value in values], fontsize=7.5 if len(values) < 5 else 6)
    axes.set_title(symbol, fontsize=9)
    _quiet(axes, "y")


@house_style
def shares(rows: Rows, title: str, published: float) -> Figure:
    """Share of communication in the baseline layer, by N_ESP and by N_MP. published: the share that was measured."""
    figure = new_figure(3.6)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (key, other) in zip(panels, (("expert_sharding", "N_ESP"), ("model_parallel", "N_MP"))):
        values = sorted({row[key] for row in rows})
        for i, value in enumerate(values):
            found = [row["share"] for row in rows if row[key] == value]
            axes.plot([i, i], [min(found), max(found)], color=_PALE, linewidth=16, solid_capstyle="butt")
            [mean] = axes.plot([i], [np.mean(found)], "o", color=INK, label="average")
            axes.annotate(f"{np.mean(found):.0%}", (i + 0.13, np.mean(found)), va="center", fontsize=8.5)
        line = axes.axhline(published, color=_ORANGE, linestyle="--", linewidth=1, label=f"{published:.0%} (paper)")
        axes.set_xticks(range(len(values)), [f"{other} = {value}" for value in values])
        axes.set_xlim(-0.6, len(values) - 0.4)
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        _quiet(axes, "y")
    panels[0].set_ylabel("communication / layer time")
    key_below_title(figure, title, [mean, line])
    return figure


@house_style
def choice_map(readings: Mapping[str, Rows], title: str) -> Figure:
    """Time of S2 / time of S1 over the grid: groups and top-k across, tokens and M down; a panel per reading."""
    figure = new_figure(5.2)
    panels = np.atleast_1d(figure.subplots(1, len(readings), sharey=True))
    tables = {name: _table(rows) for name, rows in readings.items()}
    spread = max(0.01, *(float(np.nanmax(np.abs(np.log2(table[0])))) for table in tables.values()))
    for axes, (name, (ratio, across, down)) in zip(panels, tables.items()):
        # half of the colour map: every cell's number can be read
        image = axes.imshow(np.log2(ratio), cmap="PuOr", norm=TwoSlopeNorm(0.0, -2 * spread, 2 * spread), aspect="auto")
        axes.set_xticks(range(len(across)), [f"({a},{b})\ntop-{k}" for a, b, k in across], fontsize=6.5)
        axes.set_yticks(range(len(down)), [f"B L {tokens:,}, M {hidden:,}" for tokens, hidden in down], fontsize=7.5)
        axes.tick_params(length=0)
        for i, j in np.ndindex(ratio.shape):
            if np.isfinite(ratio[i, j]):
                axes.annotate(f"{ratio[i, j]:.2f}", (j, i), ha="center", va="center", fontsize=5.5, color=INK)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("(N_MP, N_ESP), experts per token")
    bar = figure.colorbar(image, ax=list(panels), shrink=0.8, pad=0.01)
    bar.ax.set_ylim(-spread, spread)
    ticks = np.linspace(-spread, spread, 5)
    bar.set_ticks(ticks, labels=[f"{2**tick:.2f}" for tick in ticks])
    bar.ax.minorticks_off()
    bar.set_label("time of S2 / time of S1 (below 1: S2 wins)")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _table(rows: Rows) -> tuple[np.ndarray, list, list]:
    """Mean ratio per cell; the keys of columns and rows."""
    several = [row for row in rows if row["model_parallel"] > 1]
    cells: dict[tuple, list[float]] = {}
    for row in several:
        column = row["model_parallel"], row["expert_sharding"], row["top_k"]
        line = row["batch"] * row["sequence"], row["hidden"]
        cells.setdefault((line, column), []).append(row["s2_over_s1"])
    down, across = sorted({line for line, _ in cells}), sorted({column for _, column in cells})
    ratio = np.full((len(down), len(across)), np.nan)
    for (line, column), values in cells.items():
        ratio[down.index(line), across.index(column)] = np.exp(np.mean(np.log(values)))
    return ratio, across, down


def _groups(rows: Rows) -> dict[tuple[int, int], list[float]]:
    groups: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        groups.setdefault((row["model_parallel"], row["expert_sharding"]), []).append(row["speedup"])
    return dict(sorted(groups.items()))


def _quiet(axes: Axes, axis: str) -> None:
    axes.grid(axis=axis, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y" if axis == "x" else "x", length=0)
    axes.tick_params(colors=MUTED, labelcolor=INK)
