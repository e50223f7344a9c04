"""Pictures of a run: FIGURES says by name what draws which. A picture needs a RunResult and nothing else."""

from collections.abc import Callable

from matplotlib.figure import Figure

from simnet.figures import collectives, queues, timeline, utilization, windows
from simnet.figures.style import to_png
from simnet.result import RunResult

FIGURES: dict[str, Callable[[RunResult], Figure]] = {
    "timeline": timeline.draw,
    "utilization": utilization.draw,
    "collectives": collectives.draw,
    "queues": queues.draw,
    "windows": windows.draw,
}

__all__ = ["FIGURES", "to_png"]
