"""Worker processes: a function over many items, each answer as soon as it is there, and a name for a death."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from simnet.jit import compiled_before

_PATIENCE = 5.0  # [s] for a worker to end


def each(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    died: Callable[[Any, str], Any],
    jobs: int | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield (number, function(item)) for all items as they finish, in worker processes.

    function: can be pickled and raises nothing; died(item, reason): the answer for an item whose process ended. jobs:
    processes, by default one per core; 1 runs everything in this process. Ctrl-C ends all workers and raises
    KeyboardInterrupt. A script that calls this with several jobs must do so below `if __name__ == "__main__":`.
    """
    jobs = min(jobs or os.cpu_count() or 1, len(items))
    if jobs <= 1:
        yield from ((number, function(item)) for number, item in enumerate(items))
    else:
        yield from _in_workers(function, items, died, jobs)


@dataclass(frozen=True, eq=False)
class _Worker:
    process: Any
    connection: Connection


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Answer items until there are no more. Ctrl-C is the parent's to act on, who then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # half-written results are tidied up
    try:
        while (item := connection.recv()) is not None:
            connection.send(function(item))
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone


def _in_workers(function, items: Sequence[Any], died, jobs: int) -> Iterator[tuple[int, Any]]:
    waiting = deque(enumerate(items))
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, int]] = {}
    finished = 0
    try:
        while waiting or busy:
            # the first run compiles for all: several at once would all compile the same
            allowed = jobs if finished or compiled_before() else 1
            while waiting and len(busy) < allowed:
                number, item = waiting.popleft()
                worker = idle.pop() if idle else _start(function)
                worker.connection.send(item)
                busy[worker.connection] = worker, number
            for connection in wait(list(busy)):
                worker, number = busy.pop(connection)
                try:
                    answer = connection.recv()
                    idle.append(worker)
                except EOFError:
                    worker.process.join()
                    answer = died(items[number], _death(worker.process.exitcode))
                finished += 1
                yield number, answer
    finally:
        _stop([*idle, *(worker for worker, _ in busy.values())])


def _start(function: Callable[[Any], Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, function), daemon=True)
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
