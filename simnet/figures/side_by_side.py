"""The same work done in several ways: what one rank did under each, on one axis of time."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simnet.figures.style import house_style, key_below_title, new_figure, readable_on, time_axis
from simnet.figures.timeline import Pieces, bars, pieces_of
from simnet.result import RunResult, text
from simnet.units import TIME

_ROOM = 7.0  # points a letter needs
_VISIBLE = 1e-3  # of the axis of time: shorter pieces are not in the key
_AS_IT_IS: Mapping[str, str] = MappingProxyType({})


@house_style
def draw(results: Mapping[str, RunResult], title: str, called: Mapping[str, str] = _AS_IT_IS, rank: int = 0) -> Figure:
    """A band per result with the streams of one rank, the names of its tasks where they fit, and how long it took.

    called: what the key says of an activity, if not its name.
    """
    figure = new_figure(1.2 + 0.85 * len(results))
    axes = figure.subplots()
    until = max(result.summary["makespan"] for result in results.values())
    colors: dict[str, str] = {}
    for band, result in enumerate(results.values()):
        pieces = _of_rank(pieces_of(result), rank, until)
        streams = len(pieces.streams)
        top = band + 0.1 + 0.8 / streams * pieces.stream
        axes.add_collection(bars(pieces, top, top + 0.8 / streams))
        _names(axes, result, pieces, top + 0.4 / streams)
        visible = pieces.end - pieces.start > _VISIBLE * until
        colors |= {pieces.activities[a]: pieces.colors[a] for a in np.unique(pieces.activity[visible])}
        end = result.summary["makespan"]
        axes.annotate(f" {TIME.format(end)}", (end, band + 0.5), va="center", fontsize=8.5, annotation_clip=False)
    axes.set_ylim(len(results), 0)
    axes.set_yticks(np.arange(len(results)) + 0.5, list(results))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    time_axis(axes, 1.07 * until)
    key_below_title(figure, title, [Patch(color=color, label=called.get(name, name)) for name, color in colors.items()])
    return figure


def _of_rank(pieces: Pieces, rank: int, until: float) -> Pieces:
    mine = pieces.rank == rank
    columns = (getattr(pieces, name)[mine] for name in ("rank", "stream", "activity", "start", "end", "task"))
    return Pieces(*columns, pieces.ranks, pieces.streams, pieces.activities, pieces.colors, until)


def _names(axes: Axes, result: RunResult, pieces: Pieces, middle: np.ndarray) -> None:
    codes, names = text(result.tasks, "name")
    width = axes.figure.get_figwidth() * 72 * 0.8
    for i in range(len(pieces.start)):
        name = names[codes[pieces.task[i]]]
        if (pieces.end[i] - pieces.start[i]) / pieces.until * width > 0.62 * _ROOM * len(name) + 4:
            axes.annotate(
                name, ((pieces.start[i] + pieces.end[i]) / 2, middle[i]), ha="center", va="center_baseline",
                fontsize=_ROOM, color=readable_on(pieces.colors[pieces.activity[i]]),
            )  # fmt: skip
