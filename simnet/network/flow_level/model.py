"""The flow-level network model: orchestrates tables, kernel, changes of links and completions."""

import math
from collections.abc import Iterable

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.network import connections
from simnet.network.bins import FIRST_WIDTH, LEAST
from simnet.network.flow_level import kernel
from simnet.network.flow_level.accounting import account_all
from simnet.network.flow_level.live import link_up, set_finish, unlink
from simnet.network.flow_level.slots import Slots
from simnet.network.flow_level.state import CONNECTION, FREE, LINK, PARKED, ROUTE, TOUCHED, WORLD
from simnet.network.link_states import LinkStates
from simnet.network.model import Completion, NetworkReport, no_probes, unreachable
from simnet.network.records import grown, table
from simnet.network.scenario import Scenario
from simnet.network.started import StartedGraphs

# Work between two looks at the outside world: about 0.2 s.
_BUDGET = 20_000_000


class FlowModel:
    """Max-min fair sharing of links by all flows, cut-through, latency per hop."""

    contention = True

    def __init__(self, scenario: Scenario):
        """See `model.NetworkModel`; of the policies the load balancing counts, a scheme without feedback."""
        self.next_time = math.inf
        self._scenario, self._topology = scenario, scenario.topology
        self._states = LinkStates(scenario)
        self._immediate: list[Completion] = []
        self._world = table(1, WORLD)
        self._world.bin_width = FIRST_WIDTH
        self._graphs = StartedGraphs(self._world, scenario.record)
        self._links = _link_table(self._topology.rates)
        self._bins = np.zeros((len(self._links), max(scenario.bins, LEAST)))
        self._touched = np.zeros(len(self._links), np.int32)
        self._heap = np.zeros(len(self._links), np.int32)
        self._connections, self._connected = table(0, CONNECTION), 0
        self._routes, self._routed = table(0, ROUTE), 0
        self._connection_rows: dict = {}
        self._slots = Slots(self._world, self._links)

    # -- the door -----------------------------------------------------------------------------------------

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        devices = np.asarray(devices, np.int64)
        if self._states.next_change <= now:  # while nothing was under way, nobody has made it
            self._apply_changes(now)
        number = self._graphs.add(flows, devices, self._connect(flows, devices, communicator))
        self._graphs.queue_roots(number, now, self._connections)
        self._immediate += self._graphs.idle(number, now)
        self.next_time = min(self.next_time, now)
        return number

    def advance(self, until: float) -> list[Completion]:
        """See `model.NetworkModel.advance`."""
        if self._immediate:
            done, self._immediate = self._immediate, []
            return self._hand_over(done)
        while True:
            change = self._states.next_change
            if self._run_kernel(min(until, change)) == kernel.COMPLETED:
                return self._hand_over(self._graphs.take_completions(float(self._world[0].now)))
            lost = self._unreachable()
            if lost:
                return self._hand_over(lost)
            if change > until or not self._graphs.active:
                self._look_ahead()
                return []
            self._apply_changes(change)

    def report(self) -> NetworkReport:
        """See `model.NetworkModel.report`."""
        account_all(self._links, self._bins, self._world)
        world = self._world[0]
        real = len(self._topology.links)  # behind them stand the caps of connections
        return NetworkReport(
            time=float(world.now),
            bytes=np.array(self._links.bytes[:real]),
            busy=np.array(self._links.busy[:real]),
            bin_width=float(world.bin_width),
            bins=self._bins[:real].copy(),
            counts={name: int(world[name]) for name in ("events", "solves", "full_solves", "scanned")},
            notes=no_probes(self._scenario.probes),
            under_way=self._graphs.under_way(self._arrived()),
            flows=self._graphs.recorded(),
        )

    def latest(self, graphs: Iterable[FlowGraph]) -> float:
        """See `model.NetworkModel.latest`."""
        return math.inf

    def _arrived(self) -> np.ndarray:
        """Bytes that each flow has sent, if it has begun; the latency of what is on its way is left out."""
        arrived = self._graphs.flows.bytes.copy()
        live = self._slots.rows[self._slots.rows.status != FREE]
        left = live.remaining - live.rate * (self._world[0].now - live.updated)
        arrived[live.flow] -= np.clip(left, 0.0, arrived[live.flow])
        return arrived

    # -- connections --------------------------------------------------------------------------------------

    def _connect(self, graph: FlowGraph, devices: np.ndarray, communicator: int) -> int:
        """First row of the graph's connections; found once per group, communicator and graph."""
        key = connections.identity(graph, devices, communicator)
        if key not in self._connection_rows:
            first, self._connected = self._connected, self._connected + graph.connections
            if self._connected > len(self._connections):
                self._connections = grown(self._connections, self._connected)
            rows = self._connections[first : self._connected]
            rows.source, rows.destination, rows.delay = graph.source, graph.destination, graph.delay
            self._connection_rows[key] = (first, graph, devices, communicator, self._cap_links(graph))
            self._route(key)
        return self._connection_rows[key][0]

    def _route(self, key) -> None:
        first, graph, devices, communicator, caps = self._connection_rows[key]
        routes = connections.routes(self._scenario, self._states.router, graph, devices, communicator)
        capped = np.flatnonzero(caps >= 0)
        begin, self._routed = self._routed, self._routed + len(routes.links) + len(capped)
        if self._routed > len(self._routes):
            self._routes = grown(self._routes, self._routed)
        added = self._routes[begin : self._routed]
        added.link = np.insert(routes.links, routes.start[capped + 1], caps[capped])
        added.share = np.insert(routes.shares, routes.start[capped + 1], 1.0)
        start = routes.start + np.concatenate([[0], np.cumsum(caps >= 0)])
        rows = self._connections[first : first + graph.connections]
        rows.first = start[:-1] + begin
        rows.length = np.where(routes.reachable, np.diff(start), -1)
        rows.latency = routes.latency
        self._slots.lengthen(int(rows.length.max(initial=1)))

    def _cap_links(self, graph: FlowGraph) -> np.ndarray:
        """A link of its own for every connection with a rate cap (its row in the link table, else -1)."""
        capped = np.isfinite(graph.rate_cap)
        caps = np.full(len(capped), -1, np.int32)
        count = int(capped.sum())
        if count:
            before = len(self._links)
            caps[capped] = np.arange(before, before + count)
            self._links = np.concatenate([self._links, _link_table(graph.rate_cap[capped])]).view(np.recarray)
            self._slots.links = self._links
            self._bins = np.concatenate([self._bins, np.zeros((count, self._bins.shape[1]))])
            self._heap = np.zeros(before + count, np.int32)
            self._touched = np.zeros(before + count, np.int32)
            self._touched[: int(self._world[0].touched)] = np.flatnonzero(self._links.status == TOUCHED)
        return caps

    # -- running ------------------------------------------------------------------------------------------

    def _run_kernel(self, until: float) -> int:
        graphs, slots = self._graphs, self._slots
        while True:
            outcome = kernel.advance(
                until, _BUDGET, graphs.rows, graphs.flows, graphs.successors, self._connections, self._routes,
                graphs.pending, graphs.completions, graphs.timers, self._links, slots.entries, slots.rows,
                self._touched, self._heap, slots.changed, slots.free, slots.finish, self._bins, graphs.times,
                self._world,
            )  # fmt: skip
            if outcome == kernel.MORE_SLOTS:
                slots.multiply()
            elif outcome == kernel.MORE_TIMERS:
                graphs.make_room_for_successors()
            elif outcome != kernel.BUDGET:
                return outcome
            elif self._scenario.progress:
                self._scenario.progress(float(self._world[0].now), int(self._world[0].events))

    def _look_ahead(self) -> None:
        world = self._world[0]
        unsolved = world.touched > 0 or world.everything == 1
        event = float(kernel.next_event(self._slots.finish, self._graphs.timers, self._world))
        self.next_time = float(world.now) if unsolved or self._immediate else event
        if self._graphs.active:
            self.next_time = min(self.next_time, self._states.next_change)

    def _hand_over(self, done: list[Completion]) -> list[Completion]:
        for completion in done:
            self._graphs.rank_done(completion.graph)
        self._look_ahead()
        return done

    # -- changes of links ---------------------------------------------------------------------------------

    def _apply_changes(self, time: float) -> None:
        """Apply what happens at `time`: new rates, then new routes where links came or went."""
        world = self._world[0]
        world.now = max(float(world.now), time)
        changes, rerouted = self._states.apply(time)
        for change in changes:
            self._links[change.link].capacity = change.rate
        world.everything = 1
        if rerouted:
            self._reroute()

    def _reroute(self) -> None:
        """Find all routes anew and put the flows under way on theirs."""
        rows, now = self._slots.rows, float(self._world[0].now)
        live = np.flatnonzero(rows.status != FREE).tolist()
        for slot in live:
            rows[slot].remaining -= rows[slot].rate * (now - rows[slot].updated)
            rows[slot].updated = now
            unlink(slot, self._links, self._slots.entries, rows, self._touched, self._world)
            set_finish(slot, math.inf, self._slots.finish)
        self._routed = 0
        for key in self._connection_rows:
            self._route(key)
        for slot in live:
            connection = self._connections[self._graphs.flows[rows[slot].flow].connection]
            link_up(slot, connection, self._routes, self._links, self._slots.entries, rows, self._touched, self._world)

    def _unreachable(self) -> list[Completion]:
        """Ranks whose flows have no path and never will: no announced change is left to bring one."""
        if not self._world[0].parked or self._states.next_change < math.inf:
            return []
        lost, now = [], float(self._world[0].now)
        for flow in self._slots.rows.flow[self._slots.rows.status == PARKED].tolist():
            connection = self._connections[self._graphs.flows[flow].connection]
            number, rank, ends = self._graphs.ends(flow, connection, self._topology)
            lost.append(unreachable(number, rank, now, ends))
        return lost


def _link_table(rates: np.ndarray) -> np.recarray:
    links = table(len(rates), LINK)
    links.capacity = rates
    links.level = np.inf
    links.position = -1
    links.head = -1
    return links
