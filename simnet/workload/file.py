"""A workload in a file of its own: a task graph written by hand, parameters of a generator, or another program's flows.

    ranks: 2
    tasks:
      - {name: forward, compute: {flops: 2TFLOP, memory: 1GB}}
      - {name: activations, transfer: {from: 0, to: 1, size: 4MiB}, after: [forward]}
      - {name: gradients, collective: {kind: all_reduce, size: 64MiB}, after: [forward, activations]}

A task runs on all ranks unless it says otherwise. On each of its ranks it waits for the tasks named in `after`: for the
one on the same rank if there is one, else for all of them. Tasks of one rank and stream run in the order of the file.
The other form has a `workload` with a `kind`, as an experiment has it, and runs on as many ranks as the job gives it.
Files that are not YAML are those of `importers`.
"""

from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

from pydantic import Field, NonNegativeInt

from simnet import reader
from simnet.errors import InputError
from simnet.params import FileParams, nearest
from simnet.reader import Location, Source
from simnet.units import shown
from simnet.workload.collectives import algorithm_of
from simnet.workload.description import CollectiveTask, Task, WorkloadContent
from simnet.workload.importers import IMPORTERS, Imported, format_of, htsim
from simnet.workload.models.traffic import single_operation
from simnet.workload.placed import Placed
from simnet.workload.task_graph import STREAMS, Operation, TaskGraph, TaskGraphBuilder


class WorkloadFile(FileParams):
    """A workload from a file: simnet's own YAML, a connection matrix of htsim (.cm, .tm), or flows of ns-3 (.txt)."""

    start_unit: htsim.StartUnit | None = Field(
        None,
        description="unit of starts in a connection matrix: us (default) as uet-htsim has it, or ps as csg-htsim",
    )
    first_host: NonNegativeInt | None = Field(None, description="node number of rank 0 in flows of ns-3; default 0")

    @cached_property
    def imported(self) -> Imported | None:
        """The flows of another program's file, None for YAML. Raises InputError."""
        name = format_of(self.file)
        options = {"htsim": {"start_unit": self.start_unit or "us"}, "ns3_flows": {"first_host": self.first_host or 0}}
        options = options.get(name, {})
        for option in ("start_unit", "first_host"):
            if getattr(self, option) is not None and option not in options:
                raise InputError(f"{self.file}: {option} is not for this kind of file")
        return None if name is None else IMPORTERS[name](self.file, **options)

    @property
    def content(self) -> WorkloadContent:
        """What the file says. Raises InputError with all problems of the file."""
        return self._loaded[0]

    @cached_property
    def _loaded(self) -> tuple[WorkloadContent, Source]:
        content, source = reader.load(self.file, WorkloadContent)
        problems = [
            (("tasks", i, *place), sentence)
            for i, task in enumerate(content.tasks)
            for place, sentence in _problems(task, i, content)
        ]
        if problems:
            raise source.error(problems)
        return content, source

    @property
    def traffic_classes(self) -> list[str]:
        """Classes of traffic that tasks name, each once. Raises InputError."""
        tasks = self.content.tasks if self.imported is None else ()
        return list(dict.fromkeys(task.traffic_class for task in tasks if task.traffic_class is not None))

    def check_traffic_classes(self, known: Iterable[str]) -> None:
        """Raise InputError where tasks name other classes of traffic than those."""
        names = list(known)
        if strangers := set(self.traffic_classes) - set(names):
            content, source = self._loaded
            allowed = f"allowed: {', '.join(names)}" if names else "network.classes has none"
            raise source.error(
                (("tasks", i, "traffic_class"), f"unknown {shown(name)}; {allowed}{nearest(name, names)}")
                for i, name in enumerate(task.traffic_class for task in content.tasks)
                if name in strangers
            )

    @property
    def ranks(self) -> int | None:
        """Number of ranks that a task graph is written for; None: any."""
        return self.content.ranks if self.imported is None else self.imported.ranks

    def check_placement(self, placed: Placed) -> None:
        """Let a generated workload say what does not fit where the ranks are. Raises InputError."""
        generated = None if self.imported is not None else self.content.workload
        if hasattr(generated, "check_placement"):
            generated.check_placement(placed)

    def build(self, ranks: int) -> TaskGraph:
        """The task graph. Raises InputError where the file has problems or is written for another number of ranks."""
        if self.ranks not in (None, ranks):
            raise InputError(f"{self.file}: is written for {self.ranks} ranks, the job has {ranks}")
        if self.imported is not None:
            if problem := self.imported.flows.problem(ranks):
                raise InputError(f"{self.file}: {problem}")
            return single_operation(self.imported.flows, ranks, self.imported.label)
        content = self.content
        if content.workload is not None:
            return content.workload.build(ranks)
        graph = TaskGraphBuilder(ranks, content.precision)
        members = {task.name: task.members(ranks) for task in content.tasks}
        # the builder numbers tasks in order, so later ones can be named before they are added
        first = dict(zip(members, accumulate(map(len, members.values()), initial=0)))

        def awaited(name: str, rank: int) -> list[int]:
            numbers = list(range(first[name], first[name] + len(members[name])))
            return [numbers[members[name].index(rank)]] if rank in members[name] else numbers

        for task in content.tasks:
            waits = [[t for name in task.after for t in awaited(name, rank)] for rank in members[task.name]]
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
            traffic_class=task.traffic_class,
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
        traffic_class=task.traffic_class, **what.by_library,
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
