"""Flow-level model on large collectives: `python -m benchmarks.flow_level`."""

import numpy as np

from benchmarks.cases import HEADER, experiment, fabric, measured
from simnet.params import Params
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder

RING = {"kind": "collective", "collective": "all_reduce", "algorithm": "ring", "sizes": ["64MiB"]}
ALL_TO_ALL = {"kind": "collective", "collective": "all_to_all", "algorithm": "direct", "sizes": ["65.536MB"]}


class Varied(Params):
    """An all-to-all whose every pair exchanges another size, 128 to 384 kB: every completion changes the rates."""

    def build(self, ranks: int) -> TaskGraph:
        """One operation of all ranks."""
        sizes = np.random.default_rng(1).uniform(128e3, 384e3, (ranks, ranks))
        np.fill_diagonal(sizes, 0.0)
        matrix = tuple(tuple(row) for row in sizes.tolist())
        builder = TaskGraphBuilder(ranks)
        total = float(max(sizes.sum(axis=0).max(), sizes.sum(axis=1).max()))
        builder.collective(Operation("all_to_all_v", total, tuple(range(ranks)), "direct", matrix=matrix), "exchange")
        return builder.build()


def main() -> None:
    """Run all cases; the first compiles."""
    measured("(warm-up)", experiment(fabric("single_switch", nodes=4), RING))
    print(HEADER)
    # three events a flow (start, end, delivery); every step of the ring is solved at its start and at its end
    flows = 2 * 1023 * 1024
    measured(
        "ring all-reduce, 64 MiB, 1,024 ranks",
        experiment(fabric("single_switch", nodes=1024), RING),
        events=3 * flows,
        solves=2 * 2046,
    )
    pairs = 256 * 255
    measured(
        "all-to-all, 256 hosts, crossbar",
        experiment(fabric("single_switch", nodes=256), ALL_TO_ALL),
        events=3 * pairs,
        solves=2,
    )
    measured(
        "all-to-all, 256 hosts, 16x16 leaf-spine",
        experiment(fabric("leaf_spine", leaves=16, spines=16, ports_per_leaf=16, oversubscription=1.0), ALL_TO_ALL),
        events=3 * pairs,
    )
    measured(
        "all-to-all, 128 hosts, crossbar, varied sizes",
        experiment(fabric("single_switch", nodes=128), Varied()),
        events=3 * 128 * 127,
        solves=128 * 127 + 1,
    )


if __name__ == "__main__":
    main()
