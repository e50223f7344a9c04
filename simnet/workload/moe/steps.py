"""Writes the steps of a layer into a task graph: one task on every rank, after the step before on the same rank."""

from collections.abc import Sequence

import numpy as np

from simnet.workload.moe.layer import Groups
from simnet.workload.moe.saa import saa
from simnet.workload.moe.tokens import Tokens
from simnet.workload.task_graph import Operation, TaskGraphBuilder
from simnet.workload.traffic import Traffic

Step = list[int]  # the task of every rank


class LayerSteps:
    """Adds steps to `tasks`, each after the last one, or `after` others where that is said.

    tokens: of the layer that is being written. prefix: begins the names of its steps, such as 'layer 3 '.
    """

    def __init__(self, tasks: TaskGraphBuilder, tokens: Tokens, prefix: str = ""):
        self.tasks = tasks
        self.last: Step | None = None
        self._flows: dict[tuple, Traffic] = {}  # of SAA: passes and layers share what they send alike
        self.enter(tokens, prefix)

    def enter(self, tokens: Tokens, prefix: str = "") -> None:
        """Go on with another layer, or other tokens."""
        self.tokens, self.layer, self.prefix = tokens, tokens.layer, prefix

    def compute(self, name: str, work: dict[str, float | np.ndarray], after: Sequence[Step] | None = None) -> Step:
        """A kernel on every rank: `work` has flops and memory, or a duration, of all ranks alike or by rank."""
        ranks = range(self.tasks.ranks)
        columns = {key: np.broadcast_to(value, len(ranks)).tolist() for key, value in work.items()}
        waits = self._waits(after)
        step = [
            self.tasks.compute(
                rank, self.prefix + name, after=waits[rank], **{key: column[rank] for key, column in columns.items()}
            )
            for rank in ranks
        ]
        self.last = step
        return step

    def collective(self, name: str, operations: Sequence[Operation], after: Sequence[Step] | None = None) -> Step:
        """Collectives of groups that have every rank in one of them."""
        waits, label = self._waits(after), self.prefix + name
        step = [0] * self.tasks.ranks
        for operation in operations:
            members = self.tasks.collective(operation, label, after=[waits[rank] for rank in operation.ranks])
            for rank, task in zip(operation.ranks, members):
                step[rank] = task
        self.last = step
        return step

    def _waits(self, after: Sequence[Step] | None) -> list[tuple[int, ...]]:
        steps = after if after is not None else [] if self.last is None else [self.last]
        return list(zip(*steps)) if steps else [()] * self.tasks.ranks

    # -- the steps of an MoE layer ------------------------------------------------------------------------------

    def gate(self, tokens: float, times: int = 1) -> Step:
        """Scores of tokens [per rank], `times` as much work in the backward pass."""
        work = {key: times * amount for key, amount in self.layer.gate(tokens).items()}
        return self.compute("gate" + direction(times), work)

    def move(self, name: str, *sizes: float | np.ndarray) -> Step:
        """Reads and writes of so many bytes [per rank, or of all ranks alike] in the GPU's memory."""
        return self.compute(name, {"memory": sum(np.asarray(size, np.float64) for size in sizes)})

    def experts(self, tokens: np.ndarray, times: int = 1, after: Sequence[Step] | None = None) -> Step:
        """The expert shards of every rank on so many tokens [P], `times` as much work in the backward pass."""
        work = {key: times * amount for key, amount in self.layer.expert_work(tokens).items()}
        if self.layer.gemm_rate is not None:
            work = {"duration": work["flops"] / self.layer.gemm_rate}
        return self.compute("experts" + direction(times), work, after)

    def all_gather(self, name: str, groups: Groups, gathered: float | np.ndarray) -> Step | None:
        """All-gather of so many bytes [of all groups alike, or by group]; nothing for groups of one."""
        return self._within(name, "all_gather", groups, gathered)

    def all_reduce(self, name: str, groups: Groups, size: float | np.ndarray, after=None) -> Step | None:
        """All-reduce of so many bytes [of all groups alike, or by group]; nothing for groups of one."""
        return self._within(name, "all_reduce", groups, size, after)

    def _within(self, name, kind, groups: Groups, sizes: float | np.ndarray, after=None) -> Step | None:
        if len(groups[0]) == 1:
            return self.last
        sizes = np.broadcast_to(sizes, len(groups)).tolist()
        made = [self._operation(name, kind, size, group, "ring") for size, group in zip(sizes, groups)]
        return self.collective(name, made, after)

    def all_to_all(self, name: str, groups: Groups, matrix: np.ndarray, algorithm="direct", after=None) -> Step:
        """In every group, matrix[i, j] bytes go from member i to member j."""
        if matrix.min() == matrix.max():
            kind, size, rows = "all_to_all", float(matrix[0].sum()), None
        else:
            kind, size, rows = "all_to_all_v", largest_buffer(matrix), tuple(map(tuple, matrix.tolist()))
        made = [self._operation(name, kind, size, group, algorithm, matrix=rows) for group in groups]
        return self.collective(name, made, after)

    def _operation(self, name, kind, size, group, algorithm, **more) -> Operation:
        communicator = f"groups of {len(group)}"
        launch = self.layer.launch
        return Operation(
            kind, size, group, algorithm, communicator=communicator, label=self.prefix + name, launch=launch, **more
        )

    def saa(self, name: str, matrix: np.ndarray) -> Step:
        """All-to-all among all ranks and, at the same time, the all-gather of its sums in the MP groups."""
        layer = self.layer
        key = (matrix.tobytes(), layer.model_parallel, layer.expert_sharding, layer.launch)
        if key not in self._flows:
            self._flows[key] = saa(matrix, layer.model_parallel, layer.expert_sharding, layer.launch)
        flows = self._flows[key]
        operation = Operation(
            "traffic",
            largest_buffer(matrix),
            layer.everybody,
            "scheduled",
            communicator="saa",
            label=self.prefix + name,
            traffic=flows,
        )
        return self.collective(name, [operation])


def largest_buffer(matrix: np.ndarray) -> float:
    """The most that a member sends or receives [bytes], its own part included."""
    return float(max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max()))


def direction(times: int) -> str:
    """What the names of steps end with that do `times` the forward work."""
    return "" if times == 1 else " backward"
