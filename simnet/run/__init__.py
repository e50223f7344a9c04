"""From a description to a result: builds every part of an experiment, replays it, and gathers what happened.

The only room that knows every room, and the Python interface: `simnet.run(path)` and `simnet.save(result, directory)`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from simnet import reader, result
from simnet.errors import PhysicsError, SimnetError, StalledError
from simnet.experiment import Experiment, load
from simnet.network.model import Progress
from simnet.reader import Source
from simnet.result import RunResult
from simnet.run.building import Simulation, build
from simnet.run.gathering import gathered
from simnet.run.provenance import resolved_experiment

__all__ = ["Simulation", "build", "replayed", "resolved_experiment", "run", "save"]

# So many message sizes make a curve worth drawing.
_CURVE = 3


def run(
    experiment: Experiment | Mapping[str, Any] | str | Path,
    overrides: Iterable[str] = (),
    progress: Progress | None = None,
) -> RunResult:
    """Run an experiment, given as a YAML file, as the same in plain data, or as a description; return what happened.

    overrides: 'a.b=c' for a file, as `--set` on the command line. progress: called now and then with the simulated
    time [s] and the number of events. A run that stalls, fails or is interrupted (Ctrl-C) gives a result, too: its
    summary says `status` and `error`. Raises InputError, with all problems of a stage, for what cannot be run.
    """
    if isinstance(experiment, Mapping):
        experiment = reader.validate(dict(experiment), Experiment)
    if isinstance(experiment, Experiment):
        return replayed(build(experiment, Source(), progress))
    return replayed(build(*load(experiment, list(overrides)), progress))


def save(finished: RunResult, directory: str | Path) -> Path:
    """Write a result with its pictures and its timeline to a new directory, whole or not at all; return it."""
    # pictures are wanted by some runs only, and take a while to import
    from simnet import figures, timeline

    files = {"timeline.json.gz": timeline.to_json(finished)}
    sizes = {row["size"] for row in finished.summary["collectives"]}
    queues = finished.summary["queues"]
    pictures = {
        "timeline": True,
        "utilization": True,
        "collectives": len(sizes) >= _CURVE,
        "queues": bool(queues and queues["longest"]),
        "windows": finished.probes is not None,
    }
    for name in (name for name, wanted in pictures.items() if wanted):
        files[f"{name}.png"] = figures.to_png(figures.FIGURES[name](finished))
    return result.write(finished, directory, files)


def replayed(simulation: Simulation) -> RunResult:
    """Replay a built experiment and gather what happened."""
    status, error = "completed", ""
    try:
        simulation.replay.run()
    except KeyboardInterrupt:
        status, error = "aborted", "interrupted"
    except StalledError as stalled:
        status, error = "stalled", str(stalled)
    except PhysicsError:
        raise
    except SimnetError as failed:
        status, error = "failed", str(failed)
    return gathered(simulation, status, error)
