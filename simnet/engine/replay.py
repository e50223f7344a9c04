"""Replays task graphs: a countdown of dependencies per task, one event per compute task, the network for the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simnet.engine.clock import Clock
from simnet.errors import StalledError, UnreachableError
from simnet.flow_graph import FlowGraph
from simnet.network.model import DONE, UNREACHABLE, Completion, NetworkModel, Progress
from simnet.workload.collectives.library import Choice
from simnet.workload.task_graph import STREAMS, Operation, TaskGraph

_NAMED_IN_ERRORS = 5


@dataclass(frozen=True, eq=False)
class Lowered:
    """An operation as the network takes it: its flows, the device of each member, its communicator's number; and what
    a communication library chose for it, if one did."""

    flows: FlowGraph
    devices: np.ndarray
    communicator: int
    choice: Choice | None = None

    @cached_property
    def sent(self) -> np.ndarray:
        """Bytes that every member puts on the wire."""
        return self.flows.sent()

    @cached_property
    def received(self) -> np.ndarray:
        """Bytes that every member gets from the wire."""
        return self.flows.received()


@dataclass(frozen=True, eq=False)
class JobPlan:
    """One job, ready to run.

    durations [s]: of every task (0 for communication). lower: gives the flows of an operation. start, stop [s]: tasks
    begin from `start` on and no new ones after `stop`.
    """

    name: str
    graph: TaskGraph
    durations: np.ndarray
    lower: Callable[[Operation], Lowered]
    start: float = 0.0
    stop: float = float("inf")


class Replay:
    """Runs jobs side by side on one network until nothing is left to do.

    `jobs[i]` keeps when its tasks and operations began and ended, also after an interruption.
    """

    def __init__(self, network: NetworkModel, plans: list[JobPlan], progress: Progress | None = None):
        self.network = network
        self.clock = Clock(network, self._on_completion, progress)
        self.jobs = [JobReplay(plan, self) for plan in plans]
        # graph number of the network -> the job and operation that it stands for
        self.launched: dict[int, tuple[JobReplay, int]] = {}

    def run(self) -> None:
        """Replay everything.

        Raises StalledError if tasks are left that wait for one another, UnreachableError if a flow has no path.
        """
        for job in self.jobs:
            self.clock.at(job.plan.start, [job.begin])
        self.clock.run()
        blocked = [line for job in self.jobs for line in job.blocked()]
        if blocked:
            shown = "\n".join(f"  {line}" for line in blocked[:_NAMED_IN_ERRORS])
            more = len(blocked) - _NAMED_IN_ERRORS
            tail = f"\n  and {more} more" if more > 0 else ""
            raise StalledError(f"the task graph cannot go on; blocked are\n{shown}{tail}")

    def launch(self, job: "JobReplay", operation: int, lowered: Lowered) -> None:
        """Hand an operation to the network."""
        number = self.network.start(lowered.flows, lowered.devices, lowered.communicator, self.clock.now)
        self.launched[number] = (job, operation)

    def _on_completion(self, completion: Completion) -> None:
        job, operation = self.launched[completion.graph]
        if completion.outcome != DONE:
            kind = UnreachableError if completion.outcome == UNREACHABLE else StalledError
            raise kind(f"job '{job.plan.name}', {job.describe(operation)}: {completion.detail}")
        job.member_done(operation, completion.rank)


class JobReplay:
    """The state of one job: what every task still waits for, and what has happened so far [s; NaN: not yet]."""

    def __init__(self, plan: JobPlan, replay: Replay):
        self.plan = plan
        self._replay = replay
        self._clock = replay.clock
        self._stop = plan.stop
        graph = plan.graph
        self.begun = [np.nan] * graph.tasks
        self.ended = [np.nan] * graph.tasks
        self.launched = [np.nan] * len(graph.operations)
        before, after = _with_stream_order(graph)
        self._waits = np.bincount(after, minlength=graph.tasks).tolist()
        order = np.argsort(before, kind="stable")
        self._successors = after[order].tolist()
        start = np.zeros(graph.tasks + 1, np.int64)
        np.cumsum(np.bincount(before, minlength=graph.tasks), out=start[1:])
        self._successor_start = start.tolist()
        self._operation = graph.operation.tolist()
        self._durations = plan.durations.tolist()
        self._missing = [len(operation.ranks) for operation in graph.operations]
        self._task_of = _task_of_member(graph)
        self._on_end = [self._on_compute_end]
        self._on_launch = [lambda event: self._launch(event._value)]

    def begin(self, _event) -> None:
        """Begin every task that waits for nothing."""
        for task, waits in enumerate(list(self._waits)):
            if waits == 0:
                self._begin(task)

    def member_done(self, operation: int, member: int) -> None:
        """A member of an operation has sent and received everything."""
        self._end(self._task_of[operation][member])

    def describe(self, operation: int) -> str:
        """An operation in words."""
        wanted = self.plan.graph.operations[operation]
        name = self._name(self._task_of[operation][0])
        return f"{wanted.kind} '{name}' of ranks {_listed(wanted.ranks)}"

    def blocked(self) -> list[str]:
        """A line for every task that began but cannot end and, if there is none, for those that never began."""
        if self._clock.now >= self._stop:
            return []
        graph = self.plan.graph
        stuck = [t for t in range(graph.tasks) if self.begun[t] == self.begun[t] and self.ended[t] != self.ended[t]]
        if stuck:
            return [f"{self._place(t)} waits in {self._what(t)}" for t in stuck]
        never = [t for t in range(graph.tasks) if self.ended[t] != self.ended[t]]
        return [f"{self._place(t)} never begins '{self._name(t)}': {self._obstacle(t)}" for t in never]

    # -- tasks --------------------------------------------------------------------------------------------

    def _begin(self, task: int) -> None:
        clock = self._clock
        now = clock._now
        if now >= self._stop:
            return
        self.begun[task] = now
        operation = self._operation[task]
        if operation < 0:
            clock.at(now + self._durations[task], self._on_end, task)
            return
        self._missing[operation] -= 1
        if self._missing[operation] == 0:
            launch = self.plan.graph.operations[operation].launch
            if launch > 0:
                clock.at(now + launch, self._on_launch, operation)
            else:
                self._launch(operation)

    def _launch(self, operation: int) -> None:
        self.launched[operation] = self._clock._now
        self._replay.launch(self, operation, self.plan.lower(self.plan.graph.operations[operation]))

    def _on_compute_end(self, event) -> None:
        self._end(event._value)

    def _end(self, task: int) -> None:
        self.ended[task] = self._clock._now
        waits, successors = self._waits, self._successors
        for i in range(self._successor_start[task], self._successor_start[task + 1]):
            following = successors[i]
            waits[following] -= 1
            if not waits[following]:
                self._begin(following)

    # -- words --------------------------------------------------------------------------------------------

    def _name(self, task: int) -> str:
        return self.plan.graph.names[self.plan.graph.name[task]]

    def _place(self, task: int) -> str:
        graph = self.plan.graph
        return f"job '{self.plan.name}', rank {graph.rank[task]}, stream {STREAMS[graph.stream[task]]}"

    def _what(self, task: int) -> str:
        graph = self.plan.graph
        operation = graph.operation[task]
        wanted = graph.operations[operation]
        members = self._task_of[operation]
        absent = [r for r, t in zip(wanted.ranks, members) if self.begun[t] != self.begun[t]]
        if not absent:
            return f"{wanted.kind} '{self._name(task)}', whose flows do not move"
        return f"{wanted.kind} '{self._name(task)}' for ranks {_listed(absent)}, which have not reached it"

    def _obstacle(self, task: int) -> str:
        before, after = _with_stream_order(self.plan.graph)
        waits_for = [t for t in before[after == task].tolist() if self.ended[t] != self.ended[t]]
        names = ", ".join(dict.fromkeys(f"'{self._name(t)}' of rank {self.plan.graph.rank[t]}" for t in waits_for[:3]))
        return f"it waits for {names}" if names else "nothing before it is left"


def _with_stream_order(graph: TaskGraph) -> tuple[np.ndarray, np.ndarray]:
    """Dependencies (before, after) of a graph, and those between neighbours of one rank's stream."""
    order = np.lexsort((np.arange(graph.tasks), graph.stream, graph.rank))
    same = (graph.rank[order][1:] == graph.rank[order][:-1]) & (graph.stream[order][1:] == graph.stream[order][:-1])
    return (
        np.concatenate([graph.before, order[:-1][same].astype(np.int32)]),
        np.concatenate([graph.after, order[1:][same].astype(np.int32)]),
    )


def _task_of_member(graph: TaskGraph) -> list[list[int]]:
    """Task of every member of every operation."""
    tasks = [[-1] * len(operation.ranks) for operation in graph.operations]
    for task in np.flatnonzero(graph.operation >= 0).tolist():
        tasks[graph.operation[task]][graph.member[task]] = task
    return tasks


def _listed(ranks) -> str:
    shown = ", ".join(str(r) for r in ranks[:8])
    return f"{shown}, ... ({len(ranks)} in all)" if len(ranks) > 8 else shown
