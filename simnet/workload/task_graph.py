"""Task graphs: what every rank of a job computes and exchanges, and in which order.

A task belongs to one rank and one stream of it. Tasks of a stream run one after the other in the order in which
they were added, as kernels of a CUDA stream do; beyond that a task waits for the tasks it is declared `after`.
A collective or transfer is an `Operation` with one member task on every rank that takes part.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simnet.errors import InputError
from simnet.workload.traffic import Traffic

STREAMS = ("compute", "communication")
COMPUTE, COMMUNICATION = range(2)
MOST_TASKS = 10_000_000
"""More in one job are refused, before they fill the memory."""
MOST_BYTES = 1e18
"""More in one operation [bytes] are a slip; the clock could no longer tell when its parts end."""


@dataclass(frozen=True)
class Operation:
    """One collective or transfer.

    kind: a row of `collectives.KINDS`. size [bytes]: as nccl-tests means it. ranks: members, in the order of their
    numbers inside the operation. algorithm: a row of `collectives.ALGORITHMS`. root: member number of the
    root of a rooted kind. matrix [bytes]: for all_to_all_v, what member i sends to member j. traffic: for traffic, its
    flows. communicator: operations of one communicator share the connections of a pair of ranks. label: printed in
    tables. traffic_class: name of the class that its traffic belongs to; None: that of the job. launch [s]: from the
    arrival of its last member to its start. A transfer is a send_recv of two ranks.
    protocol, channels, library: how a communication library is to do it, and which version of it (see
    `collectives.library`); None leaves the choice to it. threads: GPUs that one host thread launches its kernels on.
    """

    kind: str
    size: float
    ranks: tuple[int, ...]
    algorithm: str
    root: int = 0
    matrix: tuple[tuple[float, ...], ...] | None = None
    communicator: str = "world"
    label: str = ""
    traffic_class: str | None = None
    traffic: Traffic | None = None
    launch: float = 0.0
    protocol: str | None = None
    channels: int | None = None
    library: str | None = None
    threads: int = 1


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """The tasks of one job, as columns; one row a task.

    rank [int32]; stream [int8], index into STREAMS; name [int32], index into `names`; operation [int32], index into
    `operations`, -1 for a compute task; member [int32], its number inside the operation. Compute tasks either have
    a duration [s] or (duration NaN) flops [FLOP] and memory [bytes moved], from which the roofline of their
    device gives the time, for arithmetic in `precision` (a row of `hardware.gpus.PRECISIONS`). Task before[i] ends
    before task after[i] starts. notes: sentences for the reader of the result.
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
    precision: str = "fp16"
    notes: tuple[str, ...] = ()

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return len(self.rank)

    def repeat(self, iterations: int) -> "TaskGraph":
        """The graph `iterations` times in a row: each stream goes on with the next iteration when it is through.

        Raises InputError where that makes too many tasks.
        """
        if iterations == 1:
            return self
        if self.tasks * iterations > MOST_TASKS:
            raise InputError(f"{iterations} iterations of {self.tasks} tasks each are more than {MOST_TASKS:,} tasks")
        times = np.arange(iterations)

        def shifted(column, step):
            return (column[None, :] + (times * step)[:, None]).ravel().astype(np.int32)

        tiled = {
            field: np.tile(getattr(self, field), iterations)
            for field in ("rank", "stream", "name", "member", "duration", "flops", "memory")
        }
        steps = np.where(self.operation < 0, 0, len(self.operations))
        operation = (self.operation[None, :] + times[:, None] * steps[None, :]).ravel().astype(np.int32)
        return replace(
            self,
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

    def __init__(self, ranks: int, precision: str = "fp16"):
        self.ranks = ranks
        self.precision = precision
        self._names: dict[str, int] = {}
        self._rows = array("d")  # one row a task, as _COLUMNS
        self._edges = array("i")  # before, after, before, after, ...
        self._operations: list[Operation] = []
        self._notes: list[str] = []

    def note(self, sentence: str) -> None:
        """Tell the reader of the result."""
        self._notes.append(sentence)

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

        after: by member number, the tasks that member waits for. Raises InputError where the ranks make no group.
        """
        problem = _problem(operation.ranks, self.ranks)
        if problem:
            raise InputError(f"{name}: {problem}")
        if not operation.size <= MOST_BYTES:
            raise InputError(
                f"{name}: has {operation.size:.3g} B, more than {MOST_BYTES:g} B, the most of one operation"
            )
        index = len(self._operations)
        self._operations.append(operation)
        waits = after if after is not None else [()] * len(operation.ranks)
        return [
            self._add(rank, stream, name, index, member, 0.0, 0.0, 0.0, waits[member])
            for member, rank in enumerate(operation.ranks)
        ]

    def build(self) -> TaskGraph:
        """The TaskGraph of all tasks added."""
        rows = np.frombuffer(self._rows, np.float64).reshape(-1, len(_COLUMNS))
        columns = {name: rows[:, i].astype(dtype) for i, (name, dtype) in enumerate(_COLUMNS.items())}
        edges = np.frombuffer(self._edges, np.int32).reshape(-1, 2)
        return TaskGraph(
            ranks=self.ranks,
            names=list(self._names),
            before=edges[:, 0].copy(),
            after=edges[:, 1].copy(),
            operations=list(self._operations),
            precision=self.precision,
            notes=tuple(self._notes),
            **columns,
        )

    def _add(self, rank, stream, name, operation, member, duration, flops, memory, after) -> int:
        task = len(self._rows) // len(_COLUMNS)
        if task >= MOST_TASKS:
            raise InputError(f"makes more than {MOST_TASKS:,} tasks, the most of one job")
        code = self._names.setdefault(name, len(self._names))
        self._rows.extend((rank, stream, code, operation, member, duration, flops, memory))
        for before in after:
            if before is not None:
                self._edges.extend((before, task))
        return task


# of a task, in the order of TaskGraphBuilder's rows
_COLUMNS = {
    "rank": np.int32, "stream": np.int8, "name": np.int32, "operation": np.int32, "member": np.int32,
    "duration": np.float64, "flops": np.float64, "memory": np.float64,
}  # fmt: skip


def _problem(ranks: tuple[int, ...], allowed: int) -> str | None:
    if not ranks:
        return "has no ranks"
    if len(set(ranks)) < len(ranks):
        return f"rank {next(r for r in ranks if ranks.count(r) > 1)} takes part twice"
    if not 0 <= min(ranks) <= max(ranks) < allowed:
        return f"ranks must be from 0 to {allowed - 1}, got {next(r for r in ranks if not 0 <= r < allowed)}"
    return None
