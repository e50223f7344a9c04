"""The packet-level network model: builds tables from topology and policies, runs the kernel, hands over completions."""

import math
from collections.abc import Sequence

import numpy as np

from simnet import hashing
from simnet.errors import SimnetError
from simnet.flow_graph import FlowGraph
from simnet.network.connections import identity
from simnet.network.model import STUCK, UNREACHABLE, Completion, LinkChange, NetworkReport, Progress
from simnet.network.packet_level import failures, kernel, settings, statistics
from simnet.network.packet_level.fabric import device_table, port_table
from simnet.network.packet_level.load_balancing import queue_pairs
from simnet.network.packet_level.paths import Paths
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
    WORLD,
)
from simnet.network.policies import Policies
from simnet.network.records import grown, table
from simnet.network.started import StartedGraphs
from simnet.topology.routing import Router
from simnet.topology.topology import FABRIC_KINDS, Topology

_BUDGET = 1_000_000  # events between two looks at the outside world: about 0.2 s
_NO_SECONDS = 2**62
_MOST_PACKETS = 2**31 - 1


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
        probes: int | Sequence[tuple[int, int]] = 0,
    ):
        """See `model.NetworkModel`; probes: connections that are sampled too, the first ones or those between devices.

        Raises InputError where policies contradict each other.
        """
        self.next_time = math.inf
        self.classes = settings.settings_of(policies or Policies())  # of traffic, the network's own first
        settings.check(self.classes)
        self.port_settings = self.classes[0].ports
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
        self._world.int_hops = self.port_settings.int_hops
        self._graphs = StartedGraphs(self._world, record)
        self._ports = port_table(topology, self.port_settings)
        self._world.links, self._world.lanes = len(topology.links), self.port_settings.ports.virtual_lanes
        self._sampling = Sampling(self._world[0], len(topology.links), bins, probes)
        self._devices, self._device_ports = device_table(topology, self.port_settings)
        self._packets = table(0, PACKET)
        self._records = table(1, INT)
        self._more_packets(1024)
        self._connections, self._connected = table(0, CONNECTION), 0
        self._connection_rows: dict = {}
        self._spread: dict[int, tuple[FlowGraph, queue_pairs.SpreadGraph]] = {}  # by identity of the first
        self._spread_graphs: dict[int, queue_pairs.SpreadGraph] = {}  # by number
        self._routes = Paths(topology, seed, [c.balancer for c in self.classes])
        self._routes.tell_switches(self._router, self._connections, self._world[0])
        self._bits = np.zeros((0, 3, max(c.words for c in self.classes)), np.uint64)
        self._messages = table(0, MESSAGE)
        self._params = settings.control_rows(self.classes)
        self._balancers = settings.balancer_rows(self.classes)
        self._settings_row = self.port_settings.row()
        self._feedback = table(1, FEEDBACK)
        self._heap = np.zeros(1024, np.int64)
        self._number_bits()

    # -- the door -----------------------------------------------------------------------------------------

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        devices = np.asarray(devices, np.int64)
        flows = self._over_queue_pairs(flows)
        first = self._connect(flows, devices, communicator)
        self._check_numbers(flows, devices, first)
        number = self._graphs.add(flows, devices, first)
        if self._record and self.classes[flows.traffic_class].queue_pairs > 1:
            self._spread_graphs[number] = flows
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
        world, ports = self._world[0], self._ports[: len(self._topology.links)]
        columns = statistics.of_ports(self._ports, world)
        return NetworkReport(
            time=self._seconds(world.now),
            bytes=np.array(ports.bytes_out, np.float64),
            busy=np.array(ports.busy / SECOND),
            counts={name: int(world[name]) for name in ("events", "data_hops", "progress")},
            notes=self._sampling.notes([device.name for device in self._topology.devices]),
            flows=self._recorded(),
            settings=settings.describe(self.classes),
            ports=columns,
            transport=statistics.of_connections(self._connections, world),
            unused=statistics.never_acted(self.port_settings, ports, columns["pauses"]),
            **self._sampling.columns(ports, columns["queue_area"], int(world.now)),
        )

    def _check_numbers(self, flows: FlowGraph, devices: np.ndarray, first: int) -> None:
        """Raise SimnetError where a connection would run out of numbers for its packets."""
        rows = self._connections[first : first + flows.connections]
        packets = np.ceil(flows.size / rows.mtu[flows.connection])
        total = rows.total + np.bincount(flows.connection, packets, flows.connections)
        if total.max(initial=0.0) >= _MOST_PACKETS:
            c = int(np.argmax(total))
            a, b = (self._topology.devices[devices[end]].name for end in (rows.source[c], rows.destination[c]))
            raise SimnetError(
                f"the packet-level model numbers up to {_MOST_PACKETS:.3g} packets of a connection; from {a} to {b} "
                f"there would be {total[c]:.3g}: send less, or choose network.model: flow"
            )

    def _over_queue_pairs(self, flows: FlowGraph) -> FlowGraph:
        """The graph with several connections in the place of each, where the load balancer asks for it."""
        chosen = self.classes[flows.traffic_class]
        if chosen.queue_pairs == 1:
            return flows
        if id(flows) not in self._spread:
            self._spread[id(flows)] = flows, queue_pairs.spread(flows, chosen.queue_pairs, chosen.balancer.messages)
        return self._spread[id(flows)][1]

    def _recorded(self) -> dict[str, np.ndarray]:
        flows = self._graphs.recorded()
        if self._spread_graphs:
            flows = queue_pairs.gathered(flows, self._spread_graphs)
        return flows | {name: self._origin + flows[name] / SECOND for name in ("start", "end") if name in flows}

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
                self._routes.fit_memory(self._connections, self._world[0])
                self._number_bits()
            self._connection_rows[key] = (first, graph, devices, communicator)
            self._set_up(first, graph, devices, communicator)
        return self._connection_rows[key][0]

    def _set_up(self, first: int, graph: FlowGraph, devices: np.ndarray, communicator: int) -> None:
        rows = self._connections[first : first + graph.connections]
        rows.source, rows.destination = graph.source, graph.destination
        rows.delay = np.rint(graph.delay * SECOND)
        rows.cap = graph.rate_cap
        rows.params = rows.balancer_params = graph.traffic_class
        self.classes[graph.traffic_class].fill_connections(rows)
        self._sampling.watch(first, devices[graph.source], devices[graph.destination])
        self._find_paths(rows, graph, devices, communicator)
        rows.port = rows.next_port

    def _find_paths(self, rows, graph: FlowGraph, devices: np.ndarray, communicator: int) -> None:
        """Give rows of connections their paths through the network as it is now."""
        source, destination = devices[graph.source], devices[graph.destination]
        number = graph.traffic_class
        found = self._routes.find(self._router, source, destination, graph.channel, communicator, number)
        rows.first_path = found.first
        reachable = (found.there >= 0) & (found.back >= 0)
        first = self._routes.links[np.maximum(found.there, 0)]
        rows.paths = np.where(reachable, np.where(first >= 0, self.classes[number].paths, 0), -1)
        rows.next_port = np.where(reachable & (first >= 0), first, 0)
        self._cut_off |= not reachable.all()
        self._routes.mark_ends(rows, found.there)
        self._time(rows, found.there, found.back, self.classes[number])

    def _time(self, rows: np.recarray, there: np.ndarray, back: np.ndarray, chosen: Settings) -> None:
        """Line rate, base RTT (one full packet, its acknowledgement, no queues), timeout, access link of connections.

        The access link is the last one in the network, whose rate the receiver can grant to senders.
        """
        rates, latencies = self._topology.rates, self._topology.latencies
        fabric = np.array([link.kind in FABRIC_KINDS for link in self._topology.links])
        rtt, slowest = np.zeros(len(rows)), np.full(len(rows), np.inf)
        in_network = np.zeros(len(rows), bool)
        for starts, sizes in ((there, rows.mtu + rows.header), (back, np.full(len(rows), chosen.ack))):
            for which, links in self._routes.along(starts):
                rtt[which] += latencies[links] + sizes[which] / rates[links]
                slowest[which] = np.minimum(slowest[which], rates[links])
                if starts is there:
                    later = fabric[links] | ~in_network[which]
                    rows.pull_port[which[later]] = links[later]
                    in_network[which] |= fabric[links]
        new = (rows.base_rtt == 0.0) & (rtt > 0.0)  # what a detour adds is not unlearnt
        rows.line_rate[new], rows.base_rtt[new] = slowest[new], rtt[new]
        rows.timeout[new] = [round(chosen.timeout(t) * SECOND) for t in rtt[new].tolist()]

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
                port.down = 0
                self._ports.ps_per_byte[change.link :: len(self._topology.links)] = SECOND / change.rate
            else:
                failures.cut(change.link, ticks, self._ports, self._devices, self._packets, self._heap, self._world)
        if rerouted:
            self._cut_off = False
            self._router = Router(self._topology, self._rates > 0)
            self._routes.tell_switches(self._router, self._connections, self._world[0])
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
            links = len(self._topology.links)
            names = [self._topology.link_name(row % links) for row in circle]
            if self.port_settings.ports.virtual_lanes > 1:
                names = [f"{name} (lane {row // links})" for name, row in zip(names, circle)]
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
                self._packets, self._connections, self._messages, self._bits, self._routes.rows, self._routes.links,
                self._params, self._balancers, self._records, self._settings_row, self._feedback, self._heap,
                self._world, graphs.rows, graphs.flows, graphs.successors, graphs.pending, graphs.completions,
                graphs.timers, graphs.times, self._sampling.samples, self._sampling.probes, self._routes.hops,
                self._routes.memory,
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
        if world.int_hops:
            records = table(rows * int(world.int_hops), INT)
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
