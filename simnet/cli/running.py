"""`simnet run`: from the file to the result on disk and the summary on the terminal."""

import shlex
import sys
from pathlib import Path

from rich.console import Console

from simnet.cli.output import bullet, console, heading, show_result
from simnet.cli.progress import progress
from simnet.experiment import load
from simnet.jit import compiled_before
from simnet.network import kernels_of
from simnet.result import RunResult, check_writable, next_directory
from simnet.run import build, replayed, save

COMPILE_TIME = 20  # [s] of a network model's kernels, on one core of a server of 2023
_LONG_COMPILE_TIME = {"packet": 60}
_OF_PACKETS = {
    "queues.png": "how long the queues of ports were (output.queues says of which)",
    "windows.png": "windows and rates of the connections that output.probes names",
}


def run_and_show(path: Path, overrides: list[str], out: Path | None, quiet: bool) -> RunResult:
    """Run an experiment, print what happened and save the result. Raises SimnetError."""
    experiment, source = load(path, overrides)
    check_writable(out or next_directory("results", experiment.name))
    model = experiment.network.model
    if not (quiet or compiled_before(kernels_of(model))):
        seconds = _LONG_COMPILE_TIME.get(model, COMPILE_TIME)
        print(f"compiling kernels (first run on this machine, about {seconds} s) ...", file=sys.stderr)
    with progress(experiment.name, quiet) as update:
        finished = replayed(build(experiment, source, update))
    if "error" in finished.summary:
        print(f"{path}: {finished.summary['error']}", file=sys.stderr)
    # another run may have taken the first free number meanwhile
    directory = save(finished, out or next_directory("results", experiment.name))
    if not quiet:
        terminal = console()
        show_result(terminal, finished.summary, finished.experiment)
        _what_next(terminal, path, _shown(directory), finished)
    return finished


def _what_next(out: Console, path: Path, directory: Path, finished: RunResult) -> None:
    heading(out, f"Result in {directory}")
    bullet(out, "timeline.png, utilization.png: who did what when, and which links were busy")
    for name, sentence in _OF_PACKETS.items():
        if (directory / name).exists():
            bullet(out, f"{name}: {sentence}")
    bullet(out, "timeline.json.gz: the same to zoom into; drop it on ui.perfetto.dev")
    heading(out, "Try next")
    file = shlex.quote(str(path))
    if finished.experiment["network"]["model"] == "flow":
        bullet(out, f"simnet run {file} --set network.model=analytic   (without contention)")
    bullet(out, f"simnet topology show {file}   (the cluster)")
    bullet(out, "simnet list   (everything that an experiment may name)")


def _shown(directory: Path) -> Path:
    here = Path.cwd()
    return directory.relative_to(here) if directory.is_relative_to(here) else directory
