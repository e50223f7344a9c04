"""Replay of a million compute tasks on 256 ranks: `python -m benchmarks.replay`."""

import time

import numpy as np

from benchmarks.cases import experiment, fabric, measured
from simnet.params import Params
from simnet.workload.task_graph import TaskGraph

RANKS, TASKS = 256, 1_000_000


class Compute(Params):
    """Compute tasks of 1 to 2 us, dealt over the ranks, each with a successor up to 300 tasks later."""

    def build(self, ranks: int) -> TaskGraph:
        """The graph, as columns."""
        rng = np.random.default_rng(1)
        task = np.arange(TASKS, dtype=np.int32)
        before = task[:-300]
        nothing = np.full(TASKS, -1, np.int32)
        return TaskGraph(
            ranks=ranks,
            rank=task % ranks,
            stream=np.zeros(TASKS, np.int8),
            name=np.zeros(TASKS, np.int32),
            names=["work"],
            operation=nothing,
            member=nothing,
            duration=rng.uniform(1e-6, 2e-6, TASKS),
            flops=np.zeros(TASKS),
            memory=np.zeros(TASKS),
            before=before,
            after=before + rng.integers(1, 300, len(before)).astype(np.int32),
            operations=[],
        )


def main() -> None:
    """Run the case and print tasks per CPU second."""
    start = time.process_time()
    # one event a task, one for the start of the job, and the step that finds the queue empty
    measured(f"{TASKS:,} compute tasks", experiment(fabric("single_switch", nodes=RANKS), Compute()), steps=TASKS + 2)
    print(f"{TASKS / (time.process_time() - start) / 1e3:,.0f} thousand tasks per CPU second")


if __name__ == "__main__":
    main()
