"""A workload in a YAML file of its own: a task graph written by hand, or parameters of a generator to share.

    ranks: 2
    tasks:
      - {name: forward, compute: {flops: 2TFLOP, memory: 1GB}}
      - {name: activations, transfer: {from: 0, to: 1, size: 4MiB}, after: [forward]}
      - {name: gradients, collective: {kind: all_reduce, size: 64MiB}, after: [forward, activations]}

A task runs on all ranks unless it says otherwise. On each of its ranks it waits for the tasks named in `after`: for the
one on the same rank if there is one, else for all of them. Tasks of one rank and stream run in the order of the file.
The other form has a `workload` with a `kind`, as an experiment has it, and runs on as many ranks as the job gives it.
"""

from functools import cached_property
from typing import Literal

from pydantic import Field, NonNegativeInt, create_model, model_validator

from simnet import reader
from simnet.errors import InputError
from simnet.params import FileParams, Params, inside, nearest, row_name, tagged
from simnet.reader import Location
from simnet.units import Size, Time, Work
from simnet.workload.collectives import ALGORITHMS, KINDS, algorithm_of, algorithms_for
from simnet.workload.models import WORKLOADS
from simnet.workload.models.precision import Precision
from simnet.workload.task_graph import STREAMS, Operation, TaskGraph, TaskGraphBuilder


class ComputeTask(Params):
    """What a kernel does: operations and bytes moved, which its GPU turns into a time, or the time itself."""

    flops: Work = Field(0.0, description="floating-point operations")
    memory: Size = Field(0.0, description="bytes read and written in the GPU's memory")
    duration: Time | None = Field(None, description="the time it takes, whatever the GPU")

    @model_validator(mode="after")
    def _one_way(self):
        if (self.duration is None) == (self.flops == 0 and self.memory == 0):
            raise ValueError("needs either a duration, or flops or memory or both")
        return self


TransferTask = create_model(
    "TransferTask",
    __base__=Params,
    __doc__="Bytes from one rank to another.",
    **{"from": (NonNegativeInt, Field(description="rank that sends"))},
    to=(NonNegativeInt, Field(description="rank that receives")),
    size=(Size, Field(description="bytes sent")),
)


class CollectiveTask(Params):
    """A collective among the ranks of its task."""

    kind: row_name(KINDS) = Field(description="the kind of collective")
    size: Size | None = Field(None, description="message size, as nccl-tests means it")
    algorithm: row_name(ALGORITHMS) | None = Field(None, description="how it goes; default depends on the kind")
    root: NonNegativeInt | None = Field(None, description="rank of the root; default the first of the task's ranks")
    matrix: tuple[tuple[Size, ...], ...] | None = Field(
        None, description="for all_to_all_v: what each of the task's ranks (rows) sends to each (columns)"
    )

    @model_validator(mode="after")
    def _consistent(self):
        if self.algorithm is not None and self.algorithm not in (allowed := algorithms_for(self.kind)):
            raise inside(("algorithm",), f"'{self.algorithm}' has no {self.kind}; allowed for it: {', '.join(allowed)}")
        if (self.kind == "all_to_all_v") != (self.matrix is not None):
            needs = "needs a matrix" if self.matrix is None else f"{self.kind} takes no matrix"
            raise inside(("matrix",), needs)
        if (self.size is None) == (self.matrix is None):
            raise inside(("size",), "missing key" if self.size is None else "follows from the matrix; leave it out")
        if self.root is not None and not KINDS[self.kind].rooted:
            raise inside(("root",), f"{self.kind} has no root")
        return self


class Task(Params):
    """One thing to do on one or more ranks."""

    name: str = Field(min_length=1, description="unique in the file")
    rank: NonNegativeInt | None = Field(None, description="the rank that does it; or give ranks")
    ranks: Literal["all"] | tuple[NonNegativeInt, ...] | None = Field(
        None, description="the ranks that do it, or 'all' (default); for a transfer they follow from it"
    )
    compute: ComputeTask | None = Field(None, description="a kernel that each of the ranks runs")
    transfer: TransferTask | None = Field(None, description="bytes from one rank to another")
    collective: CollectiveTask | None = Field(None, description="a collective among the ranks")
    stream: row_name(dict.fromkeys(STREAMS)) | None = Field(
        None, description="where it queues; default compute for compute tasks, communication for others"
    )
    after: tuple[str, ...] = Field((), description="names of tasks that must have ended")

    @model_validator(mode="after")
    def _one_of_each(self):
        given = [what for what in ("compute", "transfer", "collective") if getattr(self, what) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one of compute, transfer, collective; got {' and '.join(given) or 'none'}")
        if self.rank is not None and self.ranks is not None:
            raise inside(("ranks",), "give rank or ranks, not both")
        if self.transfer is not None and (self.rank, self.ranks) != (None, None):
            raise inside(("rank" if self.rank is not None else "ranks",), "the ranks of a transfer are its from and to")
        return self

    def members(self, ranks: int) -> tuple[int, ...]:
        """The ranks that take part, of `ranks`."""
        if self.transfer is not None:
            return getattr(self.transfer, "from"), self.transfer.to
        if self.rank is not None:
            return (self.rank,)
        return tuple(range(ranks)) if self.ranks in (None, "all") else self.ranks


class WorkloadContent(Params):
    """A task graph for a number of ranks, or a generated workload."""

    description: str = Field("", description="free text: what the workload shows")
    ranks: int | None = Field(None, ge=1, description="number of ranks of the task graph")
    precision: Precision = Field("fp16", description="format in which the tasks compute")
    tasks: tuple[Task, ...] = Field((), description="in the order in which streams take them up")
    workload: tagged(WORKLOADS) | None = Field(None, description="a generated workload, instead of tasks")

    @model_validator(mode="after")
    def _one_way(self):
        if bool(self.tasks) == (self.workload is not None):
            raise ValueError("needs either tasks or a workload")
        if self.tasks and self.ranks is None:
            raise inside(("ranks",), "missing key (number of ranks of the task graph)")
        if self.workload and self.model_fields_set & {"ranks", "precision"}:
            raise inside(("workload",), "has its own precision, and as many ranks as its job; leave out both")
        return self


class WorkloadFile(FileParams):
    """A workload from a YAML file: a task graph written by hand, or a generated one."""

    @cached_property
    def content(self) -> WorkloadContent:
        """What the file says. Raises InputError with all problems of the file."""
        content, source = reader.load(self.file, WorkloadContent)
        problems = [
            (("tasks", i, *place), sentence)
            for i, task in enumerate(content.tasks)
            for place, sentence in _problems(task, i, content)
        ]
        if problems:
            raise source.error(problems)
        return content

    @property
    def ranks(self) -> int | None:
        """Number of ranks that a task graph is written for; None: any."""
        return self.content.ranks

    def build(self, ranks: int) -> TaskGraph:
        """The task graph. Raises InputError where the file has problems or is written for another number of ranks."""
        content = self.content
        if content.workload is not None:
            return content.workload.build(ranks)
        if ranks != content.ranks:
            raise InputError(f"{self.file}: is written for {content.ranks} ranks, the job has {ranks}")
        graph = TaskGraphBuilder(ranks, content.precision)
        members = {task.name: task.members(ranks) for task in content.tasks}
        first, count = {}, 0
        for name, taking_part in members.items():
            first[name] = count
            count += len(taking_part)
        for task in content.tasks:
            waits = [
                [
                    first[name] + i
                    for name in task.after
                    for i, other in enumerate(members[name])
                    if other == rank or rank not in members[name]
                ]
                for rank in members[task.name]
            ]
            _add(graph, task, members[task.name], waits)
        return graph.build()


def _add(graph: TaskGraphBuilder, task: Task, members: tuple[int, ...], waits: list[list[int]]) -> None:
    default = "communication" if task.compute is None else "compute"
    stream = STREAMS.index(task.stream or default)
    if task.compute is not None:
        kernel = task.compute
        for rank, after in zip(members, waits):
            graph.compute(
                rank, task.name, flops=kernel.flops, memory=kernel.memory, duration=kernel.duration, after=after,
                stream=stream,
            )  # fmt: skip
        return
    graph.collective(_operation(task, members, graph.ranks), task.name, after=waits, stream=stream)


def _operation(task: Task, members: tuple[int, ...], ranks: int) -> Operation:
    if task.transfer is not None:
        return Operation(
            "send_recv",
            task.transfer.size,
            members,
            algorithm_of("send_recv"),
            communicator="transfers",
            label=task.name,
        )
    what = task.collective
    size = what.size
    if what.matrix is not None:  # the largest buffer that a rank sends or receives
        size = max(*(sum(row) for row in what.matrix), *(sum(column) for column in zip(*what.matrix)))
    everybody = members == tuple(range(ranks))
    return Operation(
        what.kind, size, members, algorithm_of(what.kind, what.algorithm),
        root=0 if what.root is None else members.index(what.root), matrix=what.matrix,
        communicator="world" if everybody else ",".join(map(str, members)), label=task.name,
    )  # fmt: skip


def _problems(task: Task, index: int, content: WorkloadContent) -> list[tuple[Location, str]]:
    """What is wrong with a task among the others."""
    names = [other.name for other in content.tasks]
    found = []
    if names.index(task.name) < index:
        found.append((("name",), f"'{task.name}' is the name of task {names.index(task.name)} already"))
    for i, name in enumerate(task.after):
        if name not in names:
            found.append((("after", i), f"no task is named '{name}'{nearest(name, names)}"))
    members = task.members(content.ranks)
    place = ("transfer",) if task.transfer is not None else ("rank",) if task.rank is not None else ("ranks",)
    if not members:
        found.append((place, "names no rank"))
    for rank in dict.fromkeys(members):
        if rank >= content.ranks:
            found.append((place, f"there is no rank {rank}; ranks are 0 to {content.ranks - 1}"))
        if members.count(rank) > 1:
            twice = "sends to itself" if task.transfer is not None else "is there twice"
            found.append((place, f"rank {rank} {twice}"))
    if task.collective is not None:
        found += [(("collective", *where), sentence) for where, sentence in _mismatches(task.collective, members)]
    return found


def _mismatches(what: CollectiveTask, members: tuple[int, ...]) -> list[tuple[Location, str]]:
    """Where a collective does not fit the ranks that take part."""
    n = len(members)
    if what.kind == "send_recv" and n != 2:
        return [(("kind",), f"send_recv joins 2 ranks, the task has {n}")]
    if what.root is not None and what.root not in members:
        return [(("root",), f"rank {what.root} does not take part")]
    if what.matrix is not None and (len(what.matrix) != n or any(len(row) != n for row in what.matrix)):
        return [(("matrix",), f"must have {n} rows of {n} sizes, one for each of the task's ranks")]
    return []
