"""The packet-level network model: builds tables from a scenario, runs the kernel, hands over completions."""

import math
from collections.abc import Iterable

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.network.link_states import LinkStates
from simnet.network.model import Completion, NetworkReport
from simnet.network.packet_level import failures, kernel, settings, stalls, statistics
from simnet.network.packet_level.connections import Connections
from simnet.network.packet_level.load_balancing import queue_pairs_of
from simnet.network.packet_level.load_balancing.queue_pairs import SpreadGraphs
from simnet.network.packet_level.paths import Paths
from simnet.network.packet_level.sampling import Sampling
from simnet.network.packet_level.state import NEVER, SECOND
from simnet.network.packet_level.tables import Tables
from simnet.network.scenario import Scenario
from simnet.network.started import StartedGraphs

_BUDGET = 1_000_000  # events between two looks at the outside world: about 0.2 s


class PacketModel:
    """Packets in queues, with congestion control, load balancing, marks, pauses and losses."""

    contention = True

    def __init__(self, scenario: Scenario):
        """See `model.NetworkModel`. Raises InputError where policies contradict each other."""
        self.next_time = math.inf
        self.classes = settings.settings_of(scenario.policies)  # of traffic, the network's own first
        settings.check(self.classes)
        self.port_settings = self.classes[0].ports  # of the queue of all traffic that names no other
        self.queues = settings.queues_in_turn(self.classes)  # of ports
        self.tables = Tables(scenario, self.classes)
        self._scenario, self._topology = scenario, scenario.topology
        self._links = LinkStates(scenario)
        self._immediate: list[Completion] = []
        self._graphs = StartedGraphs(self.tables.world, scenario.record)
        self._spread_graphs = SpreadGraphs()
        world, links = self.tables.world[0], len(self._topology.links)
        self._sampling = Sampling(world, links, scenario.bins, scenario.probes)
        self._paths = Paths(self._topology, scenario.seed, [c.balancer for c in self.classes])
        self._paths.tell_switches(self._links.router, self.tables.connections, world)
        self._connections = Connections(scenario, self.classes, self.tables, self._paths, self._sampling)

    # -- the door -----------------------------------------------------------------------------------------

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        devices = np.asarray(devices, np.int64)
        if self._links.next_change <= now:  # while nothing was under way, nobody has made it
            self._apply_changes(now)
        flows = self._spread_graphs.over(flows, self.classes[flows.traffic_class].balancer)
        first = self._connections.of(flows, devices, communicator, self._links.router)
        number = self._graphs.add(flows, devices, first)
        self._spread_graphs.note(number, flows)
        self.tables.fit_messages(len(self._graphs.flows))
        self._graphs.queue_roots(number, self.tables.ticks(now), self.tables.connections)
        self._immediate += self._graphs.idle(number, now)
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
            change = self._links.next_change
            if self._connections.cut_off and change == math.inf:  # no announced change is left to bring a path
                lost = stalls.cut_off(self.tables, self._graphs, self._topology)
                if lost:
                    return self._hand_over([lost])
            step = min(until, change)
            outcome = self.run_kernel(self.tables.ticks(step) if step < math.inf else NEVER)
            if outcome == kernel.COMPLETED:
                return self._hand_over(self._graphs.take_completions(self.tables.now))
            stuck = stalls.stuck(outcome, step, self.tables, self._graphs, self._topology)
            if stuck:
                return self._hand_over([stuck])
            if change > until:
                self._look_ahead()
                return []
            self._apply_changes(change)

    def report(self) -> NetworkReport:
        """See `model.NetworkModel.report`."""
        world, ports = self.tables.world[0], self.tables.ports[: len(self._topology.links)]
        columns = statistics.of_ports(self.tables.ports, world)
        return NetworkReport(
            time=self.tables.now,
            bytes=np.array(ports.bytes_out, np.float64),
            busy=np.array(ports.busy / SECOND),
            counts={name: int(world[name]) for name in ("events", "data_hops", "progress")},
            notes=self._sampling.notes([device.name for device in self._topology.devices]),
            under_way=self._graphs.under_way(self._arrived()),
            flows=self._recorded(),
            settings=settings.describe(self.classes),
            ports=columns,
            transport=statistics.of_connections(self.tables.connections, world),
            priorities=statistics.of_priorities(self.tables.ports, world, self.queues),
            unused=statistics.never_acted(self.queues, self.tables.ports, len(ports)),
            **self._sampling.columns(ports, columns["queue_area"], int(world.now)),
        )

    def latest(self, graphs: Iterable[FlowGraph]) -> float:
        """See `model.NetworkModel.latest`."""
        of_class = [queue_pairs_of(chosen.balancer) for chosen in self.classes]
        return self.tables.latest(sum(graph.connections * of_class[graph.traffic_class] for graph in graphs))

    def _arrived(self) -> np.ndarray:
        """Bytes of the packets of each flow that have reached their receiver, if it has begun."""
        flows, connections = self._graphs.flows, self.tables.connections
        messages = self.tables.messages[: len(flows)]
        mtu = connections.mtu[flows.connection] if len(connections) else 0
        return np.where(messages.arrived == messages.packets, flows.bytes, messages.arrived * mtu)

    def _recorded(self) -> dict[str, np.ndarray]:
        flows = self._spread_graphs.gathered(self._graphs.recorded())
        return flows | {name: flows[name] / SECOND for name in ("start", "end") if name in flows}

    # -- running ------------------------------------------------------------------------------------------

    def run_kernel(self, until: int) -> int:
        """Run the kernel to `until` [ps] at most, with longer tables where it needs them; returns why it stopped."""
        t, graphs, paths, progress = self.tables, self._graphs, self._paths, self._scenario.progress
        while True:
            outcome = kernel.advance(
                until, _BUDGET, 3 * len(t.device_ports) + 64, t.ports, t.devices, t.device_ports, t.packets,
                t.connections, t.messages, t.bits, paths.rows, paths.links, t.params, t.balancers, t.records,
                t.settings, t.feedback, t.heap, t.world, graphs.rows, graphs.flows, graphs.successors, graphs.pending,
                graphs.completions, graphs.timers, graphs.times, self._sampling.samples, self._sampling.probes,
                paths.hops, paths.memory,
            )  # fmt: skip
            if outcome == kernel.MORE_PACKETS:
                t.add_packets(len(t.packets))
            elif outcome == kernel.MORE_EVENTS:
                t.add_events(len(t.heap) + 3 * len(t.device_ports) + 64)
            elif outcome == kernel.MORE_TIMERS:
                graphs.make_room_for_successors()
            elif outcome != kernel.BUDGET:
                return outcome
            elif progress:
                progress(t.now, int(t.world[0].events))

    def _apply_changes(self, time: float) -> None:
        """Apply what happens at `time` [s]: new rates, then new paths where links came or went."""
        t, ticks = self.tables, self.tables.ticks(time)
        t.add_events(len(self._topology.links))
        failures.look_at_all(ticks, t.ports, t.heap, t.world)
        self.run_kernel(ticks)
        t.world.now = max(int(t.world[0].now), ticks)
        changes, rerouted = self._links.apply(time)
        for change in changes:
            if change.rate > 0:
                t.ports[change.link].down = 0
                t.ports.ps_per_byte[change.link :: len(self._topology.links)] = SECOND / change.rate
            else:
                failures.cut(change.link, ticks, t.ports, t.devices, t.packets, t.heap, t.world)
        if rerouted:
            self._connections.find_paths(self._links.router)
            for c in range(t.connected):
                t.add_events(1)
                failures.put_back(c, int(t.world[0].now), t.connections, t.ports, t.heap, t.world)

    def _look_ahead(self) -> None:
        time = int(kernel.next_event(self.tables.heap, self._graphs.timers, self.tables.world))
        idle = time >= NEVER or not self._graphs.active
        self.next_time = math.inf if idle else time / SECOND
        if self._immediate:
            self.next_time = min(self.next_time, self._immediate[0].time)

    def _hand_over(self, done: list[Completion]) -> list[Completion]:
        for completion in done:
            self._graphs.rank_done(completion.graph)
        self._look_ahead()
        return done
