"""Many runs in worker processes: one outcome per case, in the order of the cases; what is stored is not run again."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from simnet import result
from simnet.errors import InputError, SimnetError
from simnet.experiment import load
from simnet.result import RunResult
from simnet.run import build, replayed, resolved_experiment
from simnet.sweep.workers import each


@dataclass(frozen=True)
class Case:
    """One run of a sweep: an experiment's file with 'a.b=c' overrides. name: of its directory."""

    name: str
    path: Path
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a case. value: what `measure` made of its result, None if there is none; error: why not.

    A run that stalled or failed has both. resumed: the result was there before.
    """

    case: Case
    value: Any = None
    error: str = ""
    resumed: bool = False


Measure = Callable[[Case, RunResult], Any]
Progress = Callable[[int, Outcome], None]  # (outcomes so far, the latest)


def sweep(
    cases: Iterable[Case],
    measure: Measure,
    directory: str | Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run all cases and return their outcomes in the same order, whichever finishes first.

    measure: makes of a result what is wanted of it, in the worker; a function at the top of a module. directory: every
    result goes to `directory/name`, and one of an equal experiment that is there already is not run again. jobs:
    processes, by default one per core; 1 runs everything in this process. A run that fails is an outcome with its
    error. Ctrl-C ends all workers and raises KeyboardInterrupt; finished results stay. A script that calls this with
    several jobs must do so below `if __name__ == "__main__":`.

    Raises InputError if a directory holds the result of another experiment.
    """
    cases, directory = list(cases), Path(directory) if directory is not None else None
    _check(cases, directory)
    outcomes: list[Outcome | None] = [None] * len(cases)
    finished = each(partial(_run, measure=measure, directory=directory), cases, _died, jobs)
    for count, (number, outcome) in enumerate(finished, 1):
        outcomes[number] = outcome
        if progress:
            progress(count, outcome)
    return outcomes


def _check(cases: list[Case], directory: Path | None) -> None:
    names = [case.name for case in cases]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"two cases of a sweep have the name '{twice[0]}'")
    problems = []
    for case in cases if directory is not None else ():
        target = directory / case.name
        try:
            if os.path.lexists(target) and not result.holds(target, resolved_experiment(*load(*_arguments(case)))):
                problems.append(f"{target} exists and is no result of this run; name another directory")
        except InputError:
            pass  # it becomes the case's outcome
    if problems:
        raise InputError("\n".join(problems))


def _arguments(case: Case) -> tuple[Path, list[str]]:
    return case.path, list(case.overrides)


def _run(case: Case, measure: Measure, directory: Path | None) -> Outcome:
    """Run a case, or take its result from the directory."""
    try:
        experiment, source = load(*_arguments(case))
        target = directory / case.name if directory is not None else None
        resumed = target is not None and target.is_dir()
        if resumed:
            finished = result.read(target)
        else:
            finished = replayed(build(experiment, source))
            if finished.summary["status"] == "aborted":
                raise KeyboardInterrupt
            if target is not None:
                result.write(finished, target)
        return Outcome(case, measure(case, finished), finished.summary.get("error", ""), resumed)
    except SimnetError as error:
        return Outcome(case, error=str(error))
    except Exception as error:  # one broken run must not take the others along
        return Outcome(case, error=f"internal error: {type(error).__name__}: {error}")


def _died(case: Case, reason: str) -> Outcome:
    return Outcome(case, error=reason)
