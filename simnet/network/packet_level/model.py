"""The packet-level network model: builds tables from topology and policies, runs the kernel, hands over completions."""

import math
from collections.abc import Sequence

import numpy as np

from simnet import hashing
from simnet.errors import SimnetError
from simnet.flow_graph import FlowGraph
from simnet.network.connections import identity
from simnet.network.model import STUCK, UNREACHABLE, Completion, LinkChange, NetworkReport, Progress
from simnet.network.packet_level import failures, kernel, statistics
from simnet.network.packet_level.fabric import device_table, port_table
from simnet.network.packet_level.sampling import Sampling
from simnet.network.packet_level.settings import Settings
from simnet.network.packet_level.state import (
    CONNECTION,
    FEEDBACK,
    INT,
    MESSAGE,
    PACKET,
    PORT_EVENTS,
    SECOND,
    SETTINGS,
    WORLD,
)
from simnet.network.policies import Policies
from simnet.network.records import grown, table
from simnet.network.started import StartedGraphs
from simnet.topology.routing import Router
from simnet.topology.topology import FABRIC_KINDS, Topology

_BUDGET = 1_000_000  # events between two looks at the outside world: about 0.2 s
_NO_SECONDS = 2**62


class PacketModel:
    """Packets in queues, with congestion control, load balancing, marks, pauses and losses."""

    contention = True

    def __init__(
        self,
        topology: Topology,
        seed: int,
        policies: Policies | None = None,
        changes: Sequence[LinkChange] = (),
        bins: int = 0,
        record: bool = False,
        progress: Progress | None = None,
        probes: int = 0,
    ):
        """See `model.NetworkModel`; probes: connections, the first ones, that are sampled too.

        Raises InputError where policies contradict each other.
        """
        self.next_time = math.inf
        self.settings = Settings.of(policies or Policies())
        self.settings.check()
        self._topology = topology
        self._seed = seed
        self._router = Router(topology)
        self._rates = topology.rates.copy()  # now, 0: failed
        self._cut_off = False  # some connection has no path
        self._changes = sorted(changes, key=lambda c: c.time)
        self._progress = progress
        self._record = record
        self._immediate: list[Completion] = []
        self._origin = 0.0  # [s] time 0 of the kernel
        self._world = table(1, WORLD)
        self._world.seed = hashing.keys(seed, 0)[()]
        self._world.free_packet = -1
        self._world.int_hops = self.settings.int_hops
        self._graphs = StartedGraphs(self._world, record)
        self._ports = port_table(topology, self.settings)
        self._sampling = Sampling(self._world[0], len(self._ports), bins, probes)
        self._devices, self._device_ports = device_table(topology, self.settings)
        self._packets = table(0, PACKET)
        self._records = table(1, INT)
        self._more_packets(1024)
        self._connections, self._connected = table(0, CONNECTION), 0
        self._connection_rows: dict = {}
        self._paths = np.zeros(0, np.int64)
        self._path_links = np.full(1, -1, np.int32)
        self._bits = np.zeros((0, 3, self.settings.words), np.uint64)
        self._messages = table(0, MESSAGE)
        self._params = self.settings.control_row()[None, :]
        self._balancers = self.settings.balancer_row()[None, :]
        self._settings_row = table(1, SETTINGS)
        self.settings.fill(self._settings_row[0])
        self._feedback = table(1, FEEDBACK)
        self._heap = np.zeros(1024, np.int64)
        self._number_bits()

    # -- the door -----------------------------------------------------------------------------------------

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        devices = np.asarray(devices, np.int64)
        number = self._graphs.add(flows, devices, self._connect(flows, devices, communicator))
        if len(self._graphs.flows) > len(self._messages):
            self._messages = grown(self._messages, len(self._graphs.flows))
        self._graphs.queue_roots(number, self._ticks(now), self._connections)
        self._immediate += [Completion(number, rank, now) for rank in self._graphs.idle_ranks(number)]
        self.next_time = min(self.next_time, now)
        return number

    def advance(self, until: float) -> list[Completion]:
        """See `model.NetworkModel.advance`."""
        if self._immediate:
            done, self._immediate = self._immediate, []
            return self._hand_over(done)
        if not self._graphs.active:  # what is still under way concerns nobody
            self.next_time = math.inf
            return []
        while True:
            lost = self._unreachable() if self._cut_off else None
            if lost:
                return self._hand_over([lost])
            change = self._changes[0].time if self._changes else math.inf
            step = min(until, change)
            outcome = self._run_kernel(self._ticks(step) if step < math.inf else _NO_SECONDS)
            now = self._seconds(self._world[0].now)
            if outcome == kernel.COMPLETED:
                return self._hand_over([Completion(g, r, now) for g, r in self._graphs.take_completions()])
            stuck = self._stuck(outcome, step, now)
            if stuck:
                return self._hand_over([stuck])
            if change > until:
                self._look_ahead()
                return []
            self._apply_changes(change)

    def report(self) -> NetworkReport:
        """See `model.NetworkModel.report`."""
        world, ports = self._world[0], self._ports
        columns = statistics.of_ports(ports, int(world.now))
        settings = self.settings.describe()
        return NetworkReport(
            time=self._seconds(world.now),
            bytes=np.array(ports.bytes_out, np.float64),
            busy=np.array(ports.busy / SECOND),
            counts={name: int(world[name]) for name in ("events", "data_hops", "progress")},
            flows=self._recorded(),
            settings=settings,
            ports=columns,
            transport=statistics.of_connections(self._connections, world),
            unused=statistics.never_acted(self.settings, ports),
            **self._sampling.columns(ports, columns["queue_area"], int(world.now)),
        )

    def _recorded(self) -> dict[str, np.ndarray]:
        flows = self._graphs.recorded()
        return flows | {name: self._origin + flows[name] / SECOND for name in ("start", "end") if name in flows}

    def path_lengths(self) -> np.ndarray:
        """Links on the first path of every connection [int64]."""
        ends = np.flatnonzero(self._path_links < 0)
        starts = self._paths[self._connections.first_path[: self._connected]]
        return ends[np.searchsorted(ends, starts)] - starts

    # -- connections --------------------------------------------------------------------------------------

    def _connect(self, graph: FlowGraph, devices: np.ndarray, communicator: int) -> int:
        key = identity(graph, devices, communicator)
        if key not in self._connection_rows:
            first, self._connected = self._connected, self._connected + graph.connections
            if self._connected > len(self._connections):
                self._connections = grown(self._connections, self._connected)
                bits = np.zeros((len(self._connections), *self._bits.shape[1:]), np.uint64)
                bits[: len(self._bits)] = self._bits
                self._bits = bits
                self._number_bits()
            self._connection_rows[key] = (first, graph, devices, communicator)
            self._set_up(first, graph, devices, communicator)
        return self._connection_rows[key][0]

    def _set_up(self, first: int, graph: FlowGraph, devices: np.ndarray, communicator: int) -> None:
        rows = self._connections[first : first + graph.connections]
        rows.source, rows.destination = graph.source, graph.destination
        rows.delay = np.rint(graph.delay * SECOND)
        rows.cap = graph.rate_cap
        self.settings.fill_connections(rows)
        there, back = self._find_paths(rows, graph, devices, communicator)
        rows.port = rows.next_port
        for c in np.flatnonzero(rows.paths > 0).tolist():
            self._time(rows[c], int(there[c, 0]), int(back[c, 0]))

    def _find_paths(self, rows, graph: FlowGraph, devices: np.ndarray, communicator: int):
        """Give rows of connections their paths through the network as it is now."""
        source, destination = devices[graph.source], devices[graph.destination]
        count = self.settings.paths
        there = self._walk(source, destination, graph.channel, communicator, count)
        back = self._walk(destination, source, graph.channel, communicator, count)
        rows.first_path = len(self._paths) + 2 * count * np.arange(graph.connections)
        self._paths = np.concatenate([self._paths, np.concatenate([there, back], axis=1).ravel()])
        reachable = (there[:, 0] >= 0) & (back[:, 0] >= 0)
        first = self._path_links[np.maximum(there[:, 0], 0)]
        rows.paths = np.where(reachable, np.where(first >= 0, count, 0), -1)
        rows.next_port = np.where(reachable & (first >= 0), first, 0)
        self._cut_off |= not reachable.all()
        return there, back

    def _time(self, row, there: int, back: int) -> None:
        """Line rate, base RTT (one full packet, its acknowledgement, no queues) and timeout of a connection."""
        full, ack = row.mtu + row.header, self.settings.ack
        rtt, slowest = 0.0, math.inf
        for start, size in ((there, full), (back, ack)):
            at = start
            while self._path_links[at] >= 0:
                link = self._topology.links[self._path_links[at]]
                rtt += link.latency + size / link.rate
                slowest = min(slowest, link.rate)
                at += 1
        row.line_rate, row.base_rtt = slowest, rtt
        row.pull_port = self._access_link(there)
        row.timeout = round(self.settings.timeout(rtt) * SECOND)

    def _access_link(self, start: int) -> int:
        """The last link of a path in the network, whose rate its receiver can grant to senders."""
        links = self._path_links[start : start + int(np.argmax(self._path_links[start:] < 0))]
        fabric = [link for link in links if self._topology.links[link].kind in FABRIC_KINDS]
        return int(fabric[-1] if fabric else links[-1])

    def _walk(self, source, destination, channel, communicator: int, count: int) -> np.ndarray:
        """Starts in `path_links` of `count` paths for every connection [int64[connections, count]]; -1: none."""
        starts = np.zeros((len(source), count), np.int64)
        for entropy in range(count):
            keys = hashing.keys(self._seed, communicator, source, destination, channel, entropy)
            routes = self._router.routes(source, destination, channel, keys)
            ends = routes.start[1:]
            links = np.insert(routes.links.astype(np.int32), ends, -1)
            begin = len(self._path_links)
            self._path_links = np.concatenate([self._path_links, links])
            starts[:, entropy] = begin + routes.start[:-1] + np.arange(len(source))
            starts[~routes.reachable, entropy] = -1
        return starts

    # -- changes of links, and the end of the road -----------------------------------------------------------

    def _apply_changes(self, time: float) -> None:
        """Apply what happens at `time`: new rates, then new paths where links came or went."""
        world, ticks = self._world[0], self._ticks(time)
        world.now = max(int(world.now), ticks)
        rerouted = False
        while self._changes and self._changes[0].time <= time:
            change = self._changes.pop(0)
            rerouted |= (change.rate > 0) != (self._rates[change.link] > 0)
            self._rates[change.link] = change.rate
            port = self._ports[change.link]
            if change.rate > 0:
                port.ps_per_byte, port.down = SECOND / change.rate, 0
            else:
                failures.cut(change.link, ticks, self._ports, self._devices, self._packets, self._heap, self._world)
        if rerouted:
            self._cut_off = False
            self._router = Router(self._topology, self._rates > 0)
            for first, graph, devices, communicator in self._connection_rows.values():
                rows = self._connections[first : first + graph.connections]
                self._find_paths(rows, graph, devices, communicator)
                for c in range(first, first + graph.connections):
                    self._more_events(1)
                    failures.put_back(c, int(world.now), self._connections, self._ports, self._heap, self._world)

    def _unreachable(self) -> Completion | None:
        """A rank whose flow has no path and never will: no announced change is left to bring one."""
        rows = self._connections[: self._connected]
        waiting = np.flatnonzero((rows.paths < 0) & (rows.unacknowledged < rows.total))
        if self._changes or not len(waiting):
            return None
        number, connection, a, b = self._ends(int(waiting[0]))
        now = self._seconds(self._world[0].now)
        return Completion(number, int(connection.destination), now, UNREACHABLE, f"no path from {a} to {b}")

    def _stuck(self, outcome: int, step: float, now: float) -> Completion | None:
        """A rank of a run that makes no progress, with the reason."""
        nothing_left = outcome == kernel.REACHED and step == math.inf and self._graphs.active
        if outcome != kernel.STUCK and not nothing_left:
            return None
        rows = self._connections[: self._connected]
        c = int(self._world[0].stuck) - 1
        if c < 0:
            waiting = np.flatnonzero(rows.unacknowledged < rows.total)
            c = int(waiting[0]) if len(waiting) else 0
        number, connection, a, b = self._ends(c)
        circle = failures.circular_wait(self._ports, self._packets)
        if circle:
            names = [self._topology.link_name(link) for link in circle]
            reason = f"deadlock: these links wait for one another in a circle: {', '.join(names)}"
        else:
            reason = f"livelock: {a} sends to {b} again and again without progress"
        return Completion(number, int(connection.destination), now, STUCK, reason)

    def _ends(self, c: int):
        """(graph number, connection row, name of its source, name of its destination)."""
        connection = self._connections[c]
        flow = self._graphs.flows[int(connection.oldest)]
        devices = self._graphs.active[int(flow.graph)].devices
        a, b = (self._topology.devices[devices[e]].name for e in (connection.source, connection.destination))
        return int(flow.graph), connection, a, b

    # -- running ------------------------------------------------------------------------------------------

    def _run_kernel(self, until: int) -> int:
        graphs = self._graphs
        while True:
            outcome = kernel.advance(
                until, _BUDGET, 3 * len(self._device_ports) + 64, self._ports, self._devices, self._device_ports,
                self._packets, self._connections, self._messages, self._bits, self._paths, self._path_links,
                self._params, self._balancers, self._records, self._settings_row, self._feedback, self._heap,
                self._world, graphs.rows, graphs.flows, graphs.successors, graphs.pending, graphs.completions,
                graphs.timers, graphs.times, self._sampling.samples, self._sampling.probes,
            )  # fmt: skip
            if outcome == kernel.MORE_PACKETS:
                self._more_packets(2 * len(self._packets))
            elif outcome == kernel.MORE_EVENTS:
                self._more_events(len(self._heap) + 3 * len(self._device_ports) + 64)
            elif outcome == kernel.MORE_TIMERS:
                graphs.make_room_for_successors()
            elif outcome == kernel.BUDGET:
                if self._progress:
                    self._progress(self._seconds(self._world[0].now), int(self._world[0].events))
            else:
                return outcome

    def _more_events(self, more: int) -> None:
        """Make room for `more` events."""
        if int(self._world[0].heap) + more > len(self._heap):
            heap = np.zeros(len(self._heap) + more + 1024, np.int64)
            heap[: len(self._heap)] = self._heap
            self._heap = heap

    def _more_packets(self, rows: int) -> None:
        before, world = len(self._packets), self._world[0]
        packets = table(rows, PACKET)
        packets[:before] = self._packets
        packets.next[before:-1] = np.arange(before + 1, rows)
        packets.next[-1] = world.free_packet
        world.free_packet = before
        world.free_packets += rows - before
        self._packets = packets
        if self.settings.int_hops:
            records = table(rows * self.settings.int_hops, INT)
            records[: len(self._records)] = self._records
            self._records = records

    def _number_bits(self) -> None:
        """Bits that an event's number takes in its key; keys in the heap are written anew when they change."""
        world = self._world[0]
        bits = int(PORT_EVENTS * len(self._ports) + 2 * len(self._connections) + 2).bit_length()
        used = int(world.heap)
        if used and bits != world.bits:
            keys = self._heap[:used]
            times, numbers = keys >> world.bits, keys & ((1 << int(world.bits)) - 1)
            self._heap[:used] = (times << bits) | numbers
        world.bits = bits

    def _look_ahead(self) -> None:
        time = int(kernel.next_event(self._heap, self._graphs.timers, self._world))
        idle = time >= _NO_SECONDS or not self._graphs.active
        self.next_time = math.inf if idle else self._seconds(time)
        if self._immediate:
            self.next_time = min(self.next_time, self._immediate[0].time)

    def _hand_over(self, done: list[Completion]) -> list[Completion]:
        for completion in done:
            self._graphs.rank_done(completion.graph)
        self._look_ahead()
        return done

    def _ticks(self, seconds: float) -> int:
        ticks = round((seconds - self._origin) * SECOND)
        if ticks >> (62 - int(self._world[0].bits)):
            limit = (1 << (62 - int(self._world[0].bits))) / SECOND
            raise SimnetError(f"the packet-level model counts picoseconds and cannot go beyond {limit:.3g} s here")
        return ticks

    def _seconds(self, ticks: int) -> float:
        return self._origin + int(ticks) / SECOND
