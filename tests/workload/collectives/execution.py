"""Runs a flow graph on paper: in which order flows can go, and whose data they carry."""

from itertools import pairwise

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.workload.collectives import KINDS, Group, Operation, algorithms_for, lower
from simnet.workload.collectives.kinds import IN_NETWORK
from simnet.workload.traffic import traffic

# what switches add up is not what ranks send one another, and auto is one of the others with other times
NOT_HERE = (*IN_NETWORK, "auto")
CASES = [(kind, algorithm) for kind in KINDS for algorithm in algorithms_for(kind) if algorithm not in NOT_HERE]


def operation(kind: str, algorithm: str, members: int, size: float, root: int = 0) -> Operation:
    """An operation of `size` bytes; all_to_all_v: i sends j (1 + i + 2 j) / n of it; traffic: of all pairs."""
    matrix = None
    if kind == "all_to_all_v":
        matrix = tuple(tuple((1.0 + i + 2 * j) * size / members for j in range(members)) for i in range(members))
    table = None
    if kind == "traffic":
        source, destination = np.nonzero(~np.eye(members, dtype=bool))
        table = traffic(source, destination, size / members)
    return Operation(kind, size, tuple(range(members)), algorithm, root, matrix, traffic=table)


def lowered(group: Group, kind: str, algorithm: str, size: float, root: int = 0) -> FlowGraph:
    """The flow graph of such an operation."""
    return lower(operation(kind, algorithm, group.members, size, root), group)


class Execution:
    """The flows of a graph in an order in which they may go."""

    def __init__(self, graph: FlowGraph):
        self.graph = graph
        self.source = graph.source[graph.connection].tolist()
        self.destination = graph.destination[graph.connection].tolist()
        starts = graph.successor_start.tolist()
        self.successors = [graph.successors[a:b].tolist() for a, b in pairwise(starts)]
        self.before: list[list[int]] = [[] for _ in range(graph.flows)]
        for flow, following in enumerate(self.successors):
            for later in following:
                self.before[later].append(flow)
        waits = graph.waits.tolist()
        assert waits == [len(b) for b in self.before]
        self.order = [f for f, w in enumerate(waits) if w == 0]
        for flow in self.order:
            for later in self.successors[flow]:
                waits[later] -= 1
                if waits[later] == 0:
                    self.order.append(later)

    def in_turn(self, before: int, after: int) -> bool:
        """True if the one flow only queues behind the other on the same connection."""
        same = self.graph.connection[before] == self.graph.connection[after]
        return bool(same) and self.source[before] != self.destination[before]

    def steps(self) -> int:
        """Flows on the longest chain of dependencies; joins take no step."""
        length = [0] * self.graph.flows
        for flow in self.order:
            own = self.source[flow] != self.destination[flow]
            length[flow] = own + max((length[b] for b in self.before[flow]), default=0)
        return max(length, default=0)

    def delivered(self, origins: set[int], only: set[int] | None = None) -> list[set[int]]:
        """Whose data every rank has in the end, where those in `origins` have some to start with.

        only: leave out all other flows. A flow carries what its sender has of its own, and what it had by the flows
        that this one waited for: received with them, or sent with them.
        """
        carried: list[set[int]] = [set() for _ in range(self.graph.flows)]
        has = [{r} & origins for r in range(self.graph.ranks)]
        own = [set(h) for h in has]
        for flow in self.order if only is None else (f for f in self.order if f in only):
            carried[flow] = set(own[self.source[flow]])
            for before in self.before[flow]:
                carried[flow] |= carried[before]
            has[self.destination[flow]] |= carried[flow]
        return has

    def parts(self) -> list[np.ndarray]:
        """Flows that hand data on to one another, part by part: those of one part never meet those of another."""
        label = list(range(self.graph.flows))

        def find(flow):
            while label[flow] != flow:
                label[flow] = label[label[flow]]
                flow = label[flow]
            return flow

        for flow, following in enumerate(self.successors):
            for later in following:
                if not self.in_turn(flow, later):
                    label[find(later)] = find(flow)
        roots = np.array([find(f) for f in range(self.graph.flows)])
        return [np.flatnonzero(roots == root) for root in np.unique(roots)]
