"""Started flow graphs of a network model: their rows in the tables of `dependencies`, and their completions."""

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.network.dependencies import COMPLETION, FLOW, GRAPH, START, TIMER, push_roots
from simnet.network.model import Completion, Delivered
from simnet.network.pool import Pool
from simnet.network.records import grown, table
from simnet.topology.topology import Topology


class Started:
    """A graph on its way: where its rows stand, and how many of its ranks are not through."""

    def __init__(self, graph: FlowGraph, devices: np.ndarray, first_flow: int, first_rank: int, first_successor: int):
        self.graph = graph
        self.devices = devices
        self.first_flow = first_flow
        self.first_rank = first_rank
        self.first_successor = first_successor
        self.unfinished = graph.ranks


class StartedGraphs:
    """Tables of all graphs under way; rows are given back when a graph has finished.

    The tables (rows, flows, successors, pending, completions, timers) are what kernels take; any of them may be
    replaced by a larger one when a graph is added. times: with `record`, start and delivery of every flow.
    """

    def __init__(self, world: np.recarray, record: bool):
        self.active: dict[int, Started] = {}
        self.rows = table(16, GRAPH)
        self.flows = table(0, FLOW)
        self.successors = np.zeros(0, np.int32)
        self.pending = np.zeros(0, np.int32)
        self.completions = table(1, COMPLETION)
        self.timers = table(1024, TIMER)
        self.times = np.zeros(0)
        self._world = world
        self._record = record
        self._recorded: list[tuple[int, Started, np.ndarray]] = []
        self._count = 0
        self._flow_pool, self._rank_pool, self._successor_pool = Pool(), Pool(), Pool()

    def add(self, graph: FlowGraph, devices: np.ndarray, first_connection: int) -> int:
        """Give a graph its rows; its connections stand from `first_connection` on. Returns its number."""
        number, self._count = self._count, self._count + 1
        started = Started(
            graph, devices,
            self._flow_pool.allocate(graph.flows + 1),
            self._rank_pool.allocate(graph.ranks),
            self._successor_pool.allocate(len(graph.successors)),
        )  # fmt: skip
        self.active[number] = started
        if number >= len(self.rows):
            self.rows = grown(self.rows, number + 1)
        self.rows[number] = (started.first_flow, started.first_rank, started.first_successor)
        self._fit()
        self._copy(number, started, first_connection)
        return number

    def queue_roots(self, number: int, now: float, connections: np.recarray) -> None:
        """Queue the flows of a graph that wait for nothing, to start at `now` plus their connection's delay."""
        started = self.active[number]
        self.reserve_timers(int(np.count_nonzero(started.graph.waits == 0)))
        push_roots(started.first_flow, started.graph.flows, now, self.flows, connections, self.timers, self._world)

    def reserve_timers(self, more: int) -> None:
        """Make room for `more` timers."""
        needed = int(self._world[0].timers) + more + 1
        if needed > len(self.timers):
            self.timers = grown(self.timers, needed)

    def make_room_for_successors(self) -> None:
        """Make room for the timers that the next delivery may queue."""
        most = max(int(np.diff(a.graph.successor_start).max(initial=0)) for a in self.active.values())
        self.reserve_timers(most + 2)

    def idle(self, number: int, now: float) -> list[Completion]:
        """Completions of the ranks that neither send nor receive anything in a graph that starts at `now` [s]."""
        ranks = np.flatnonzero(_flows_per_rank(self.active[number].graph) == 0)
        return [Completion(number, rank, now) for rank in ranks.tolist()]

    def take_completions(self, now: float) -> list[Completion]:
        """What the kernel has completed since the last call, at `now` [s]."""
        rows = self.completions[: int(self._world[0].completions)]
        self._world[0].completions = 0
        return [Completion(graph, rank, now) for graph, rank in zip(rows.graph.tolist(), rows.rank.tolist())]

    def ends(self, flow: int, connection: np.record, topology: Topology) -> tuple[int, int, list[str]]:
        """Of a row of `flows` under way on a connection: its graph, the rank that receives, names of both devices."""
        number = int(self.flows[flow].graph)
        devices = self.active[number].devices
        names = topology.names(devices[end] for end in (connection.source, connection.destination))
        return number, int(connection.destination), names

    def rank_done(self, number: int) -> bool:
        """Count off a rank whose completion is handed over; True if its graph has finished, and its rows are free."""
        started = self.active[number]
        started.unfinished -= 1
        if started.unfinished:
            return False
        del self.active[number]
        first, flows = started.first_flow, started.graph.flows
        if self._record:
            self._recorded.append((number, started, self.times[2 * first : 2 * (first + flows)].reshape(-1, 2).copy()))
        self._flow_pool.release(first, flows + 1)
        self._rank_pool.release(started.first_rank, started.graph.ranks)
        self._successor_pool.release(started.first_successor, len(started.graph.successors))
        return True

    def under_way(self, arrived: np.ndarray) -> dict[int, Delivered]:
        """What every graph under way has delivered. arrived [bytes]: of each row of `flows` that has begun."""
        timers = self.timers[: int(self._world[0].timers)].code
        begun = self.flows.waits == 0
        begun[timers[timers & 1 == START] >> 1] = False
        found = {}
        for number, started in self.active.items():
            rows = slice(started.first_flow, started.first_flow + started.graph.flows)
            part = np.where(begun[rows], arrived[rows], 0.0)
            found[number] = Delivered(started.graph.sent(part), started.graph.received(part))
        return found

    def recorded(self) -> dict[str, np.ndarray]:
        """Columns graph, source, destination (devices), size [bytes], start, end of all flows of finished graphs."""
        if not self._recorded:
            return {}
        columns = {"graph": [], "source": [], "destination": [], "size": [], "start": [], "end": []}
        for number, started, times in self._recorded:
            graph = started.graph
            columns["graph"].append(np.full(graph.flows, number))
            columns["source"].append(started.devices[graph.source[graph.connection]])
            columns["destination"].append(started.devices[graph.destination[graph.connection]])
            columns["size"].append(graph.size)
            columns["start"].append(times[:, 0])
            columns["end"].append(times[:, 1])
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    def _fit(self) -> None:
        """Enlarge the tables to what the pools have promised."""
        if self._flow_pool.rows > len(self.flows):
            # the first graph is often the only large one: no reserve for it
            rows = self._flow_pool.rows
            self.flows = grown(self.flows, rows) if len(self.flows) else table(rows, FLOW)
            if self._record:
                self.times = _resized(self.times, 2 * len(self.flows))
        if self._successor_pool.rows > len(self.successors):
            reserve = 2 * len(self.successors)
            self.successors = _resized(self.successors, max(self._successor_pool.rows, reserve))
        if self._rank_pool.rows > len(self.pending):
            self.pending = _resized(self.pending, 2 * self._rank_pool.rows)
            self.completions = table(len(self.pending), COMPLETION)

    def _copy(self, number: int, started: Started, first_connection: int) -> None:
        graph, first = started.graph, started.first_flow
        rows = self.flows[first : first + graph.flows]
        rows.bytes = graph.size
        rows.connection = graph.connection
        rows.connection += first_connection
        rows.graph = number
        rows.waits = graph.waits
        with_end = self.flows[first : first + graph.flows + 1]
        with_end.first_successor = graph.successor_start
        with_end.first_successor += started.first_successor
        at = started.first_successor
        self.successors[at : at + len(graph.successors)] = graph.successors
        self.pending[started.first_rank : started.first_rank + graph.ranks] = _flows_per_rank(graph)


def _resized(array: np.ndarray, rows: int) -> np.ndarray:
    larger = np.zeros(rows, array.dtype)
    larger[: len(array)] = array
    return larger


def _flows_per_rank(graph: FlowGraph) -> np.ndarray:
    """Number of flows that every rank sends or receives."""
    ends = np.bincount(graph.connection, minlength=graph.connections)
    counts = np.bincount(graph.source, ends, graph.ranks) + np.bincount(graph.destination, ends, graph.ranks)
    own = graph.source == graph.destination
    return (counts - np.bincount(graph.source[own], ends[own], graph.ranks)).astype(np.int32)
