"""The flow-level network model: orchestrates arrays, kernel, changes of links and completions."""

import math
from collections.abc import Sequence

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.network.bins import FIRST_WIDTH
from simnet.network.connections import ConnectionRouter, identity
from simnet.network.flow_level import kernel
from simnet.network.flow_level.accounting import account_all
from simnet.network.flow_level.live import link_up, set_finish, unlink
from simnet.network.flow_level.state import (
    COMPLETION,
    CONNECTION,
    ENTRY,
    FLOW,
    GRAPH,
    LINK,
    PARKED,
    ROUTE,
    SLOT,
    TIMER,
    TOUCHED,
    WORLD,
    grown,
    table,
)
from simnet.network.flow_level.state import FREE as FREE_SLOT
from simnet.network.flow_level.timers import push_roots
from simnet.network.model import UNREACHABLE, Completion, LinkChange, NetworkReport, Progress
from simnet.network.pool import Pool
from simnet.topology.topology import Topology

# Work between two looks at the outside world: about 0.2 s.
_BUDGET = 20_000_000


class FlowModel:
    """Max-min fair sharing of links by all flows, cut-through, latency per hop."""

    contention = True

    def __init__(
        self,
        topology: Topology,
        seed: int,
        spray: bool = False,
        changes: Sequence[LinkChange] = (),
        bins: int = 256,
        record: bool = False,
        progress: Progress | None = None,
    ):
        """See `model.NetworkModel`.

        spray: split over all equal-cost paths instead of hashing each connection to one. changes: in any order.
        bins: number of utilization samples kept (even). record: note start and delivery of every flow.
        """
        self.next_time = math.inf
        self._topology = topology
        self._router = ConnectionRouter(topology, seed, spray)
        self._changes = sorted(changes, key=lambda c: c.time)
        self._progress = progress
        self._record_flows = record
        self._recorded: list[tuple] = []
        self._graphs: dict[int, _Started] = {}
        self._started = 0
        self._immediate: list[Completion] = []
        self._connection_rows: dict = {}
        self._flow_pool, self._rank_pool, self._successor_pool = Pool(), Pool(), Pool()

        self._world = table(1, WORLD)
        self._world.hops = 1
        self._world.bin_width = FIRST_WIDTH
        links = len(topology.links)
        self._links = _link_table(topology.rates)
        self._touched = np.zeros(links, np.int32)
        self._heap = np.zeros(links, np.int32)
        self._bins = np.zeros((links, bins))
        self._graph_rows = table(16, GRAPH)
        self._flows = table(0, FLOW)
        self._successors = np.zeros(0, np.int32)
        self._connections, self._connected = table(0, CONNECTION), 0
        self._routes, self._routed = table(0, ROUTE), 0
        self._pending = np.zeros(0, np.int32)
        self._completions = table(1, COMPLETION)
        self._timers = table(1024, TIMER)
        self._times = np.zeros(0)
        self._make_slots(64)

    # -- the door -----------------------------------------------------------------------------------------

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        devices = np.asarray(devices, np.int64)
        number, self._started = self._started, self._started + 1
        started = _Started(
            flows, devices, communicator,
            self._flow_pool.allocate(flows.flows),
            self._rank_pool.allocate(flows.ranks),
            self._successor_pool.allocate(len(flows.successors)),
        )  # fmt: skip
        self._graphs[number] = started
        self._copy_in(number, started)
        if flows.flows:
            self._reserve_timers(int(np.count_nonzero(flows.waits == 0)))
            push_roots(
                started.first_flow, flows.flows, now, self._flows, self._connections, self._timers, self._world
            )
        first = started.first_rank
        idle = np.flatnonzero(self._pending[first : first + flows.ranks] == 0)
        self._immediate += [Completion(number, int(rank), now) for rank in idle]
        self.next_time = min(self.next_time, now)
        return number

    def advance(self, until: float) -> list[Completion]:
        """See `model.NetworkModel.advance`."""
        if self._immediate:
            return self._hand_over(self._immediate_now())
        while True:
            change = self._changes[0].time if self._changes else math.inf
            outcome = self._run_kernel(min(until, change))
            if outcome == kernel.COMPLETED:
                return self._hand_over(self._completed())
            if outcome == kernel.REACHED:
                lost = self._unreachable()
                if lost:
                    return self._hand_over(lost)
                if change > until or not self._graphs:
                    self._look_ahead()
                    return []
                self._apply_changes(change)

    def report(self) -> NetworkReport:
        """See `model.NetworkModel.report`."""
        account_all(self._links, self._bins, self._world)
        world = self._world[0]
        real = len(self._topology.links)  # behind them stand the caps of connections
        names = ("events", "solves", "full_solves", "scanned")
        return NetworkReport(
            time=float(world.now),
            bytes=np.array(self._links.bytes[:real]),
            busy=np.array(self._links.busy[:real]),
            bin_width=float(world.bin_width),
            bins=self._bins[:real].copy(),
            counts={name: int(world[name]) for name in names},
            flows=self._recorded_flows(),
        )

    # -- starting -----------------------------------------------------------------------------------------

    def _copy_in(self, number: int, started: "_Started") -> None:
        graph, first = started.graph, started.first_flow
        if number >= len(self._graph_rows):
            self._graph_rows = grown(self._graph_rows, number + 1)
        self._graph_rows[number] = (first, started.first_rank, started.first_successor)
        self._fit_rows(number)
        row = self._connect(graph, started.devices, started.communicator)
        rows = self._flows[first : first + graph.flows]
        rows.bytes = graph.size
        rows.connection = graph.connection
        rows.connection += row
        rows.graph = number
        rows.waits = graph.waits
        rows.successors = np.diff(graph.successor_start)
        rows.first_successor = graph.successor_start[:-1]
        rows.first_successor += started.first_successor
        at = started.first_successor
        self._successors[at : at + len(graph.successors)] = graph.successors
        self._pending[started.first_rank : started.first_rank + graph.ranks] = _flows_per_rank(graph)

    def _fit_rows(self, number: int) -> None:
        """Enlarge the arrays to what the pools have promised."""
        if self._flow_pool.rows > len(self._flows):
            # the first graph is often the only large one: no reserve for it
            rows = self._flow_pool.rows
            self._flows = grown(self._flows, rows) if len(self._flows) else table(rows, FLOW)
            if self._record_flows:
                self._times = np.resize(self._times, 2 * len(self._flows))
        if self._successor_pool.rows > len(self._successors):
            exact = len(self._successors) == 0
            rows = self._successor_pool.rows if exact else max(self._successor_pool.rows, 2 * len(self._successors))
            self._successors = np.resize(self._successors, rows)
        if self._rank_pool.rows > len(self._pending):
            self._pending = np.resize(self._pending, 2 * self._rank_pool.rows)
            self._completions = table(len(self._pending), COMPLETION)

    def _connect(self, graph: FlowGraph, devices: np.ndarray, communicator: int) -> int:
        """First row of the graph's connections; found once per group, communicator and graph."""
        key = identity(graph, devices, communicator)
        if key not in self._connection_rows:
            first, self._connected = self._connected, self._connected + len(graph.source)
            if self._connected > len(self._connections):
                self._connections = grown(self._connections, self._connected)
            rows = self._connections[first : self._connected]
            rows.source, rows.destination, rows.delay = graph.source, graph.destination, graph.delay
            self._connection_rows[key] = (first, graph, devices, communicator, self._cap_links(graph))
            self._route(key)
        return self._connection_rows[key][0]

    def _route(self, key) -> None:
        first, graph, devices, communicator, caps = self._connection_rows[key]
        routes = self._router.routes(graph, devices, communicator)
        capped = np.flatnonzero(caps >= 0)
        begin = self._routed
        self._routed += len(routes.links) + len(capped)
        if self._routed > len(self._routes):
            self._routes = grown(self._routes, self._routed)
        added = self._routes[begin : self._routed]
        added.link = np.insert(routes.links, routes.start[capped + 1], caps[capped])
        added.share = np.insert(routes.shares, routes.start[capped + 1], 1.0)
        start = routes.start + np.concatenate([[0], np.cumsum(caps >= 0)])
        rows = self._connections[first : first + len(graph.source)]
        rows.first = start[:-1] + begin
        rows.length = np.where(routes.reachable, np.diff(start), -1)
        rows.latency = routes.latency
        longest = int(rows.length.max(initial=1))
        if longest > self._world[0].hops:
            self._make_slots(len(self._slots), longest)

    def _cap_links(self, graph: FlowGraph) -> np.ndarray:
        """A link of its own for every connection with a rate cap (its row in the link table, else -1)."""
        capped = np.isfinite(graph.rate_cap)
        caps = np.full(len(capped), -1, np.int32)
        count = int(capped.sum())
        if count:
            before = len(self._links)
            caps[capped] = np.arange(before, before + count)
            links = _link_table(graph.rate_cap[capped])
            self._links = np.concatenate([self._links, links]).view(np.recarray)
            self._bins = np.concatenate([self._bins, np.zeros((count, self._bins.shape[1]))])
            self._touched = np.zeros(before + count, np.int32)
            self._touched[: self._world[0].touched] = np.flatnonzero(self._links.status == TOUCHED)
            self._heap = np.zeros(before + count, np.int32)
        return caps

    # -- running ------------------------------------------------------------------------------------------

    def _run_kernel(self, until: float) -> int:
        while True:
            outcome = kernel.advance(
                until, _BUDGET, self._graph_rows, self._flows, self._successors, self._connections, self._routes,
                self._pending, self._completions, self._timers, self._links, self._entries, self._slots,
                self._touched, self._heap, self._changed, self._free, self._finish, self._bins, self._times,
                self._world,
            )  # fmt: skip
            if outcome == kernel.MORE_SLOTS:
                self._make_slots(2 * len(self._slots))
            elif outcome == kernel.MORE_TIMERS:
                self._timers = grown(self._timers, self._world[0].timers + int(self._flows.successors.max()) + 2)
            elif outcome == kernel.BUDGET:
                if self._progress:
                    self._progress(float(self._world[0].now), int(self._world[0].events))
            else:
                return outcome

    def _reserve_timers(self, more: int) -> None:
        roots = self._world[0].timers + more
        if roots >= len(self._timers):
            self._timers = grown(self._timers, roots + 1)

    def _make_slots(self, slots: int, hops: int | None = None) -> None:
        """(Re)build the slots with room for `slots` flows of `hops` links; live flows stay on their links."""
        world = self._world[0]
        old_hops, old = int(world.hops), getattr(self, "_slots", table(0, SLOT))
        hops = hops or old_hops
        world.hops = hops
        entries = table(slots * hops, ENTRY)
        if len(old):
            kept = np.arange(len(self._entries))
            moved = kept // old_hops * hops + kept % old_hops
            entries[moved] = self._entries
            for name in ("next", "previous"):
                column = entries[name]
                column[moved] = np.where(column[moved] < 0, -1, moved[np.maximum(column[moved], 0)])
            heads = self._links.head
            self._links.head = np.where(heads < 0, -1, moved[np.maximum(heads, 0)])
        self._entries = entries
        if slots == len(old):
            return
        self._slots = grown(old, slots) if len(old) else table(slots, SLOT)
        slots = len(self._slots)
        if len(entries) < slots * hops:
            self._entries = grown(entries, slots * hops)
        self._changed = np.zeros(8 * slots, np.int32)
        fresh = np.arange(slots - 1, len(old) - 1, -1, dtype=np.int32)
        stack = np.zeros(slots, np.int32)
        free = int(world.free)
        stack[: len(fresh)] = fresh
        if free:
            stack[len(fresh) : len(fresh) + free] = self._free[:free]
        world.free = free + len(fresh)
        self._free = stack
        leaves = 1 << (slots - 1).bit_length()
        finish = np.full(2 * leaves, np.inf)
        if len(old):
            half = len(self._finish) // 2
            finish[leaves : leaves + len(old)] = self._finish[half : half + len(old)]
        for node in range(leaves - 1, 0, -1):
            finish[node] = min(finish[2 * node], finish[2 * node + 1])
        self._finish = finish

    def _look_ahead(self) -> None:
        world = self._world[0]
        unsolved = world.touched > 0 or world.everything == 1
        event = float(kernel.next_event(self._finish, self._timers, self._world))
        self.next_time = float(world.now) if unsolved or self._immediate else event
        if self._changes and self._graphs:
            self.next_time = min(self.next_time, self._changes[0].time)

    # -- completions --------------------------------------------------------------------------------------

    def _immediate_now(self) -> list[Completion]:
        first = min(c.time for c in self._immediate)
        done = [c for c in self._immediate if c.time == first]
        self._immediate = [c for c in self._immediate if c.time > first]
        return done

    def _completed(self) -> list[Completion]:
        world = self._world[0]
        rows = self._completions[: world.completions]
        done = [Completion(g, r, float(world.now)) for g, r in zip(rows.graph.tolist(), rows.rank.tolist())]
        world.completions = 0
        return done

    def _hand_over(self, done: list[Completion]) -> list[Completion]:
        for completion in done:
            started = self._graphs[completion.graph]
            started.unfinished -= 1
            if started.unfinished == 0:
                self._forget(completion.graph)
        self._look_ahead()
        return done

    def _forget(self, number: int) -> None:
        started = self._graphs.pop(number)
        graph = started.graph
        if self._record_flows:
            first = started.first_flow
            times = self._times[2 * first : 2 * (first + graph.flows)].reshape(-1, 2).copy()
            self._recorded.append((number, started, times))
        self._flow_pool.release(started.first_flow, graph.flows)
        self._rank_pool.release(started.first_rank, graph.ranks)
        self._successor_pool.release(started.first_successor, len(graph.successors))

    def _recorded_flows(self) -> dict[str, np.ndarray]:
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

    # -- changes of links ---------------------------------------------------------------------------------

    def _apply_changes(self, time: float) -> None:
        """Apply what happens at `time`: new rates, then new routes where links came or went."""
        world = self._world[0]
        world.now = max(float(world.now), time)
        rerouted = False
        while self._changes and self._changes[0].time <= time:
            change = self._changes.pop(0)
            rerouted |= self._router.change(change.link, change.rate)
            self._links[change.link].capacity = change.rate
        world.everything = 1
        if rerouted:
            self._reroute()

    def _reroute(self) -> None:
        live = [int(s) for s in np.flatnonzero(self._slots.status != FREE_SLOT)]
        now = float(self._world[0].now)
        for slot in live:
            row = self._slots[slot]
            row.remaining -= row.rate * (now - row.updated)
            row.updated = now
            unlink(slot, self._links, self._entries, self._slots, self._touched, self._world)
            set_finish(slot, math.inf, self._finish)
        self._routed = 0
        for key in self._connection_rows:
            self._route(key)
        for slot in live:
            connection = self._connections[self._flows[self._slots[slot].flow].connection]
            link_up(
                slot, connection, self._routes, self._links, self._entries, self._slots, self._touched, self._world
            )

    def _unreachable(self) -> list[Completion]:
        """Ranks whose flows have no path and never will: no announced change is left to bring one."""
        if not self._world[0].parked or self._changes:
            return []
        lost = []
        for slot in np.flatnonzero(self._slots.status == PARKED):
            flow = self._flows[self._slots[slot].flow]
            connection = self._connections[flow.connection]
            started = self._graphs[int(flow.graph)]
            source, destination = (
                self._topology.devices[started.devices[end]].name for end in (connection.source, connection.destination)
            )
            lost.append(
                Completion(
                    int(flow.graph), int(connection.destination), float(self._world[0].now), UNREACHABLE,
                    f"no path from {source} to {destination}",
                )  # fmt: skip
            )
        return lost


class _Started:
    """A graph on its way: where its rows stand, and how many of its ranks are not through."""

    def __init__(self, graph, devices, communicator, first_flow, first_rank, first_successor):
        self.graph = graph
        self.devices = devices
        self.communicator = communicator
        self.first_flow = first_flow
        self.first_rank = first_rank
        self.first_successor = first_successor
        self.unfinished = graph.ranks


def _link_table(rates: np.ndarray) -> np.recarray:
    links = table(len(rates), LINK)
    links.capacity = rates
    links.level = np.inf
    links.position = -1
    links.head = -1
    return links


def _flows_per_rank(graph: FlowGraph) -> np.ndarray:
    """Number of flows that every rank sends or receives."""
    source, destination = graph.source[graph.connection], graph.destination[graph.connection]
    both = np.bincount(source, minlength=graph.ranks) + np.bincount(destination, minlength=graph.ranks)
    return both - np.bincount(source[source == destination], minlength=graph.ranks)
