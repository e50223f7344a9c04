"""Operations of jobs as flows between devices."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from simnet.engine.replay import Lowered
from simnet.errors import InputError
from simnet.experiment import Job
from simnet.flow_graph import FlowGraph
from simnet.network import Policies
from simnet.topology.routing import Router
from simnet.workload.collectives import Group, by_library, lower
from simnet.workload.task_graph import Operation

Lower = Callable[[Operation], Lowered]


class Lowering:
    """Turns operations into flows between devices; equal operations share one FlowGraph."""

    def __init__(self, router: Router):
        self._topology = router.topology
        self._router = router
        self._groups: dict[tuple[int, ...], Group] = {}
        self._communicators: dict[tuple[str, str], int] = {}
        self.lowered: list[tuple[str, Lowered]] = []  # of all jobs, with their names

    def for_job(self, job: Job, devices: list[int], policies: Policies) -> Lower:
        """The lower function of one job; rank r is devices[r]."""
        known: dict[Operation, Lowered] = {}

        def lowered(operation: Operation) -> Lowered:
            alike = replace(operation, label="")
            if alike not in known:
                members = tuple(devices[rank] for rank in operation.ranks)
                if members not in self._groups:
                    self._groups[members] = Group(members, self._topology, self._router)
                communicator = (job.name, operation.communicator)
                number = self._communicators.setdefault(communicator, len(self._communicators))
                group = self._groups[members]
                traffic_class = policies.class_number(operation.traffic_class or job.traffic_class)
                flows = replace(lower(operation, group), traffic_class=traffic_class)
                self._check_joined(operation, np.array(members), flows)
                choice = group.library.choose(operation) if by_library(operation) and group.members > 1 else None
                known[alike] = Lowered(flows, np.array(members), number, choice)
                self.lowered.append((job.name, known[alike]))
            return known[alike]

        return lowered

    def _check_joined(self, operation: Operation, members: np.ndarray, flows: FlowGraph) -> None:
        ends = members[flows.source], members[flows.destination]
        apart = np.flatnonzero(np.not_equal(*self._topology.islands[list(ends)]))
        if len(apart):
            a, b = self._topology.names(end[apart[0]] for end in ends)
            raise InputError(f"{operation.label or operation.kind}: no link or device joins {a} and {b}")
