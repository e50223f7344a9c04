"""Measures for sweeps under test, at the top of a module so that worker processes can import them."""

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from simnet.sweep import Case, sweep


def makespan(case, result):
    return result.summary["makespan"]


def slow_first(case, result):
    """As `makespan`, but the case named 'first' takes its time."""
    time.sleep(1.5 if case.name == "first" else 0)
    return result.summary["makespan"]


def deadly(case, result):
    """The process of the case named 'dies' ends at once."""
    if case.name == "dies":
        os._exit(3)
    return result.summary["makespan"]


def endless(case, result):
    """The case named 'endless' never comes back."""
    while case.name == "endless":
        time.sleep(0.05)
    return result.summary["makespan"]


def interrupted(experiment: str, directory: str) -> None:
    """Sweep with a case that never ends, saying so when the other one is done; says how it ended."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored where tests run in the background
    cases = [Case("endless", Path(experiment)), Case("quick", Path(experiment), ("seed=2",))]
    try:
        sweep(cases, endless, directory, 2, lambda count, outcome: say(outcome.case.name))
    except KeyboardInterrupt:
        say(f"interrupted, {len(multiprocessing.active_children())} left")


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    interrupted(*sys.argv[1:])
