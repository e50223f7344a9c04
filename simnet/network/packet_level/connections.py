"""Connections of a packet-level model: their rows, set up at the first start of a graph, and their paths."""

import numpy as np

from simnet.errors import SimnetError
from simnet.flow_graph import FlowGraph
from simnet.network.connections import identity
from simnet.network.packet_level.parameters import NETWORK_RTT
from simnet.network.packet_level.paths import Paths
from simnet.network.packet_level.sampling import Sampling
from simnet.network.packet_level.settings import Settings
from simnet.network.packet_level.state import SECOND
from simnet.network.packet_level.tables import Tables
from simnet.network.scenario import Scenario
from simnet.topology.routing import Router

_MOST_PACKETS = 2**31 - 1


class Connections:
    """Finds or makes the connections of started graphs. cut_off: some connection has no path."""

    def __init__(
        self, scenario: Scenario, classes: tuple[Settings, ...], tables: Tables, paths: Paths, sampling: Sampling
    ):
        """classes: settings of all classes of traffic."""
        self.cut_off = False
        self._topology = scenario.topology
        self._classes, self._tables, self._paths, self._sampling = classes, tables, paths, sampling
        self._known: dict = {}

    def of(self, graph: FlowGraph, devices: np.ndarray, communicator: int, router: Router) -> int:
        """First row of a graph's connections, on the paths of `router` where they are new.

        Raises SimnetError where a connection would run out of numbers for its packets.
        """
        key = identity(graph, devices, communicator)
        if key not in self._known:
            first = self._tables.add_connections(graph.connections)
            self._paths.fit_memory(self._tables.connections, self._tables.world[0])
            self._known[key] = (first, graph, devices, communicator)
            self._set_up(*self._known[key], router)
        self._check_numbers(graph, devices, self._known[key][0])
        return self._known[key][0]

    def find_paths(self, router: Router) -> None:
        """Give all connections their paths anew."""
        self.cut_off = False
        self._paths.tell_switches(router, self._tables.connections, self._tables.world[0])
        for known in self._known.values():
            self._find_paths(*known, router)

    def _rows(self, first: int, graph: FlowGraph) -> np.recarray:
        return self._tables.connections[first : first + graph.connections]

    def _set_up(self, first: int, graph: FlowGraph, devices, communicator: int, router: Router) -> None:
        rows = self._rows(first, graph)
        rows.source, rows.destination = graph.source, graph.destination
        rows.delay = np.rint(graph.delay * SECOND)
        rows.cap = graph.rate_cap
        rows.params = rows.balancer_params = graph.traffic_class
        self._classes[graph.traffic_class].fill_connections(rows)
        self._sampling.watch(first, devices[graph.source], devices[graph.destination])
        self._find_paths(first, graph, devices, communicator, router)
        rows.port = rows.next_port
        rows.row = rows.port + rows.lane * int(self._tables.world[0].links)

    def _find_paths(self, first: int, graph: FlowGraph, devices, communicator: int, router: Router) -> None:
        """Give a graph's connections their paths through the network as it is now."""
        rows, number = self._rows(first, graph), graph.traffic_class
        source, destination = devices[graph.source], devices[graph.destination]
        found = self._paths.find(router, source, destination, graph.channel, communicator, number)
        rows.first_path = found.first
        reachable = (found.there >= 0) & (found.back >= 0)
        link = self._paths.links[np.maximum(found.there, 0)]
        rows.paths = np.where(reachable, np.where(link >= 0, self._classes[number].paths, 0), -1)
        rows.next_port = np.where(reachable & (link >= 0), link, 0)
        self.cut_off |= not reachable.all()
        self._paths.mark_ends(rows, found.there)
        self._time(rows, found.there, found.back, self._classes[number])

    def _time(self, rows: np.recarray, there: np.ndarray, back: np.ndarray, chosen: Settings) -> None:
        """Line rate, base RTT (one full packet, its acknowledgement, no queues), timeout, access link of connections.

        The access link is the last one in the network, whose rate the receiver can grant to senders.
        """
        rates, latencies, in_fabric = self._topology.rates, self._topology.latencies, self._topology.in_fabric
        rtt, slowest = np.zeros(len(rows)), np.full(len(rows), np.inf)
        in_network = np.zeros(len(rows), bool)
        for starts, sizes in ((there, rows.mtu + rows.header), (back, np.full(len(rows), chosen.ack))):
            for which, links in self._paths.along(starts):
                rtt[which] += latencies[links] + sizes[which] / rates[links]
                slowest[which] = np.minimum(slowest[which], rates[links])
                if starts is there:
                    later = in_fabric[links] | ~in_network[which]
                    rows.pull_port[which[later]] = links[later]
                    in_network[which] |= in_fabric[links]
        new = (rows.base_rtt == 0.0) & (rtt > 0.0)  # what a detour adds is not unlearnt
        rows.line_rate[new], rows.base_rtt[new] = slowest[new], rtt[new]
        controls = self._tables.params
        controls[:, NETWORK_RTT] = max(controls[0, NETWORK_RTT], rtt[new].max(initial=0.0))
        rows.timeout[new] = [round(chosen.timeout(t) * SECOND) for t in rtt[new].tolist()]

    def _check_numbers(self, graph: FlowGraph, devices: np.ndarray, first: int) -> None:
        rows = self._rows(first, graph)
        packets = np.ceil(graph.size / rows.mtu[graph.connection])
        total = rows.total + np.bincount(graph.connection, packets, graph.connections)
        if total.max(initial=0.0) >= _MOST_PACKETS:
            c = int(np.argmax(total))
            a, b = self._topology.names(devices[end] for end in (rows.source[c], rows.destination[c]))
            raise SimnetError(
                f"the packet-level model numbers up to {_MOST_PACKETS:.3g} packets of a connection; from {a} to {b} "
                f"there would be {total[c]:.3g}: send less, or choose network.model: flow"
            )
