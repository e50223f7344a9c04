"""Many runs in worker processes: one outcome per case, in the order of the cases; what is stored is not run again."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from simnet import result
from simnet.errors import InputError, SimnetError
from simnet.experiment import load
from simnet.jit import compiled_before
from simnet.result import RunResult
from simnet.run import build, replayed, resolved_experiment

_PATIENCE = 5.0  # [s] for a worker to end


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
    jobs = min(jobs or os.cpu_count() or 1, len(cases))
    finished = _here(cases, measure, directory) if jobs <= 1 else _in_workers(cases, measure, directory, jobs)
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


def _here(cases: list[Case], measure: Measure, directory: Path | None) -> Iterator[tuple[int, Outcome]]:
    for number, case in enumerate(cases):
        yield number, _run(case, measure, directory)


# -- worker processes -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Worker:
    process: Any
    connection: Connection


def _serve(connection: Connection, measure: Measure, directory: Path | None) -> None:
    """Run cases until there are no more. Ctrl-C is the parent's to act on, who then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # half-written results are tidied up
    try:
        while (case := connection.recv()) is not None:
            connection.send(_run(case, measure, directory))
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone


def _in_workers(
    cases: list[Case], measure: Measure, directory: Path | None, jobs: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield (number, outcome) as runs finish."""
    waiting = deque(enumerate(cases))
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, int]] = {}
    finished = 0
    try:
        while waiting or busy:
            # the first run compiles for all: several at once would all compile the same
            allowed = jobs if finished or compiled_before() else 1
            while waiting and len(busy) < allowed:
                number, case = waiting.popleft()
                worker = idle.pop() if idle else _start(measure, directory)
                worker.connection.send(case)
                busy[worker.connection] = worker, number
            for connection in wait(list(busy)):
                worker, number = busy.pop(connection)
                try:
                    outcome = connection.recv()
                    idle.append(worker)
                except EOFError:
                    worker.process.join()
                    outcome = Outcome(cases[number], error=_death(worker.process.exitcode))
                finished += 1
                yield number, outcome
    finally:
        _stop([*idle, *(worker for worker, _ in busy.values())])


def _start(measure: Measure, directory: Path | None) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, measure, directory), daemon=True)
    with _deaf():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl-C for a moment, so that a process started now ignores it from its first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(_PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.connection.close()


def _death(code: int | None) -> str:
    reason = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return f"its process ended {reason}" + ("; was memory short?" if code == -signal.SIGKILL else "")
