"""The house style of every picture: colours that colour-blind readers tell apart, plain axes, units by magnitude."""

import functools
import io
from collections.abc import Callable
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from simnet.units import TIME, Dimension

WIDTH = 11.0  # of every picture [inches]
DPI = 150
INK, MUTED, GRID = "#222222", "#666666", "#DDDDDD"

# Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), with a quiet colour for what runs most of the time
KIND_COLORS = {
    "compute": "#B9C3CE",
    "all_reduce": "#0072B2",
    "all_gather": "#56B4E9",
    "reduce_scatter": "#009E73",
    "all_to_all": "#D55E00",
    "all_to_all_v": "#E69F00",
    "send_recv": "#CC79A7",
    "broadcast": "#7B5EA7",
    "reduce": "#8C6D1F",
    "traffic": "#A23B72",
}
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7B5EA7", "#222222")

_HOUSE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "legend.frameon": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}


def house_style(function: Callable) -> Callable:
    """Run `function` with matplotlib's defaults and the house style, whatever the user's own settings are."""

    @functools.wraps(function)
    def styled(*arguments, **options):
        defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
        with matplotlib.rc_context(defaults | _HOUSE):
            return function(*arguments, **options)

    return styled


def new_figure(height: float) -> Figure:
    """An empty picture of the house's width; height [inches]. It knows no window and no global state."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


@house_style
def to_png(figure: Figure) -> bytes:
    """The picture as PNG, without date or version, so that equal data gives equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def kind_color(kind: str, kinds: list[str]) -> str:
    """The colour of a kind of task; kinds that the house does not know take turns, by their place in `kinds`."""
    return KIND_COLORS.get(kind) or CYCLE[kinds.index(kind) % len(CYCLE)]


def readable_on(color) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = matplotlib.colors.to_rgb(color)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def key_below_title(figure: Figure, title: str, handles: list) -> None:
    """Title and, in a row below it, the legend, both at the left edge and clear of the axes."""
    legend = figure.legend(
        handles=handles, title=title, loc="outside upper left", ncols=max(len(handles), 1), handlelength=1.2,
        alignment="left", borderpad=0.2, borderaxespad=0.2, columnspacing=1.6,
        title_fontproperties={"size": 11, "weight": "bold"},
    )  # fmt: skip
    legend.get_title().set_color(INK)


def cut_short(summary: dict[str, Any]) -> str:
    """What the title of a picture says of a run that did not complete, '' of one that did."""
    return "" if summary["status"] == "completed" else f" (run {summary['status']})"


def time_axis(axes: Axes, until: float, label: str = "time") -> None:
    """Make x a time axis from 0 to `until` [s], labelled in the unit that suits its length."""
    axes.set_xlim(0, until or TIME.units[TIME.printed[-1]])
    axes.set_xlabel(f"{label} [{scaled_axis(axes.xaxis, until, TIME)}]")


def scaled_axis(axis: Axis, most: float, dimension: Dimension, ticks: int = 10) -> str:
    """Put ticks at round numbers of the unit that suits values up to `most`, and return that unit."""
    unit = next((u for u in dimension.printed if most >= dimension.units[u]), dimension.printed[-1])
    scale = dimension.units[unit]
    axis.set_major_locator(_ScaledLocator(scale, ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / scale:.6g}"))
    return unit


class _ScaledLocator(MaxNLocator):
    """Ticks at round numbers of a unit that is `scale` times the axis's own."""

    def __init__(self, scale: float, ticks: int):
        super().__init__(nbins=ticks, steps=[1, 2, 2.5, 5, 10])
        self.scale = scale

    def tick_values(self, low: float, high: float):
        return super().tick_values(low / self.scale, high / self.scale) * self.scale


def shortened(name: str, most: int = 44) -> str:
    """A name that fits beside an axis: its middle gives way."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def shortened_link(name: str) -> str:
    """The name of a link whose two ends both fit."""
    return " -> ".join(shortened(end, 24) for end in name.split(" -> "))


def nothing_to_see(axes: Axes, sentence: str) -> None:
    """Say in the middle of empty axes why they are empty."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, sentence, transform=axes.transAxes, ha="center", va="center", color=MUTED, fontsize=12)
