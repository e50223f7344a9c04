"""Task graphs: what every rank of a job computes and exchanges, and in which order.

A task belongs to one rank and one stream of it. Tasks of a stream run one after the other in the order in which
they were added, as kernels of a CUDA stream do; beyond that a task waits for the tasks it is declared `after`.
A collective or transfer is an `Operation` with one member task on every rank that takes part.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

STREAMS = ("compute", "communication")
COMPUTE, COMMUNICATION = range(2)


@dataclass(frozen=True)
class Operation:
    """One collective or transfer.

    kind: a row of `collectives.KINDS`. size [bytes]: as nccl-tests means it. ranks: members, in the order of their
    numbers inside the operation. algorithm: a row of `collectives.ALGORITHMS`. root: member number of the
    root of a rooted kind. matrix [bytes]: for all_to_all_v, what member i sends to member j. communicator: operations
    of one communicator share the connections of a pair of ranks. label: printed in tables.
    """

    kind: str
    size: float
    ranks: tuple[int, ...]
    algorithm: str
    root: int = 0
    matrix: tuple[tuple[float, ...], ...] | None = None
    communicator: str = "world"
    label: str = ""


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """The tasks of one job, as columns; one row a task.

    rank [int32]; stream [int8], index into STREAMS; name [int32], index into `names`; operation [int32], index into
    `operations`, -1 for a compute task; member [int32], its number inside the operation. Compute tasks either have
    a duration [s] or (duration NaN) flops [FLOP] and memory [bytes moved], from which the roofline of their
    device gives the time. Task before[i] ends before task after[i] starts.
    """

    ranks: int
    rank: np.ndarray
    stream: np.ndarray
    name: np.ndarray
    names: list[str]
    operation: np.ndarray
    member: np.ndarray
    duration: np.ndarray
    flops: np.ndarray
    memory: np.ndarray
    before: np.ndarray
    after: np.ndarray
    operations: list[Operation]

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return len(self.rank)

    def repeat(self, iterations: int) -> "TaskGraph":
        """The graph `iterations` times in a row: each stream goes on with the next iteration when it is through."""
        if iterations == 1:
            return self
        times = np.arange(iterations)

        def shifted(column, step):
            return (column[None, :] + (times * step)[:, None]).ravel().astype(np.int32)

        tiled = {
            field: np.tile(getattr(self, field), iterations)
            for field in ("rank", "stream", "name", "member", "duration", "flops", "memory")
        }
        steps = np.where(self.operation < 0, 0, len(self.operations))
        operation = (self.operation[None, :] + times[:, None] * steps[None, :]).ravel().astype(np.int32)
        return TaskGraph(
            ranks=self.ranks,
            names=self.names,
            operation=operation,
            before=shifted(self.before, self.tasks),
            after=shifted(self.after, self.tasks),
            operations=self.operations * iterations,
            **tiled,
        )


class TaskGraphBuilder:
    """Collects tasks in program order; `build` turns them into a TaskGraph.

    `after` takes task ids as returned by the adding methods; None entries are ignored.
    """

    def __init__(self, ranks: int):
        self.ranks = ranks
        self._names: dict[str, int] = {}
        self._rows: list[tuple] = []
        self._edges: list[tuple[int, int]] = []
        self._operations: list[Operation] = []

    def compute(
        self,
        rank: int,
        name: str,
        *,
        flops: float = 0.0,
        memory: float = 0.0,
        duration: float | None = None,
        after: Iterable[int | None] = (),
        stream: int = COMPUTE,
    ) -> int:
        """Add a compute task and return its id. flops [FLOP], memory [bytes], or duration [s]."""
        return self._add(rank, stream, name, -1, -1, np.nan if duration is None else duration, flops, memory, after)

    def collective(
        self,
        operation: Operation,
        name: str,
        *,
        after: Sequence[Iterable[int | None]] | None = None,
        stream: int = COMMUNICATION,
    ) -> list[int]:
        """Add one task on every member rank and return their ids, by member number.

        after: by member number, the tasks that member waits for.
        """
        index = len(self._operations)
        self._operations.append(operation)
        waits = after if after is not None else [()] * len(operation.ranks)
        return [
            self._add(rank, stream, name, index, member, 0.0, 0.0, 0.0, waits[member])
            for member, rank in enumerate(operation.ranks)
        ]

    def build(self) -> TaskGraph:
        """The TaskGraph of all tasks added."""
        columns = list(zip(*self._rows)) or [()] * 8
        rank, stream, name, operation, member, duration, flops, memory = columns
        edges = np.array(self._edges, np.int32).reshape(-1, 2)
        return TaskGraph(
            ranks=self.ranks,
            rank=np.array(rank, np.int32),
            stream=np.array(stream, np.int8),
            name=np.array(name, np.int32),
            names=list(self._names),
            operation=np.array(operation, np.int32),
            member=np.array(member, np.int32),
            duration=np.array(duration, np.float64),
            flops=np.array(flops, np.float64),
            memory=np.array(memory, np.float64),
            before=np.ascontiguousarray(edges[:, 0]),
            after=np.ascontiguousarray(edges[:, 1]),
            operations=self._operations,
        )

    def _add(self, rank, stream, name, operation, member, duration, flops, memory, after) -> int:
        task = len(self._rows)
        code = self._names.setdefault(name, len(self._names))
        self._rows.append((rank, stream, code, operation, member, duration, flops, memory))
        self._edges.extend((before, task) for before in after if before is not None)
        return task
