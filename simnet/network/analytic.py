"""The analytic network model: latency + size / rate for every flow, no contention.

Flows do not see one another, so a result may beat what shared links can carry; it is the oracle for a single flow
and the fast double of the other models in tests.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.jit import njit
from simnet.network import connections
from simnet.network.bins import FIRST_WIDTH, LEAST, spread, widened
from simnet.network.link_states import LinkStates
from simnet.network.model import Completion, Delivered, NetworkReport, no_probes, unreachable
from simnet.network.scenario import Scenario


class AnalyticModel:
    """Latency + size / rate of the narrowest link for every flow, no contention."""

    contention = False

    def __init__(self, scenario: Scenario):
        """See `model.NetworkModel`; a change of a link counts for the graphs that start after it."""
        self.next_time = math.inf
        self._scenario, self._topology = scenario, scenario.topology
        self._links = LinkStates(scenario)
        self._recorded: list[dict[str, np.ndarray]] = []
        self._due: list[tuple[float, Completion]] = []
        self._under_way: dict[int, _UnderWay] = {}
        self._started = 0
        self._events = 0
        self._now = 0.0
        links = len(self._topology.links)
        self._bytes, self._busy = np.zeros(links), np.zeros(links)
        self._bins, self._bin_width = np.zeros((links, max(scenario.bins, LEAST))), FIRST_WIDTH

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """See `model.NetworkModel.start`."""
        number, self._started = self._started, self._started + 1
        devices = np.asarray(devices, np.int64)
        self._links.apply(now)
        routes = connections.routes(self._scenario, self._links.router, flows, devices, communicator)
        owner = np.repeat(np.arange(len(flows.source)), np.diff(routes.start))
        rate = flows.rate_cap.copy()
        np.minimum.at(rate, owner, self._links.rates[routes.links] / routes.shares)
        begin, end, ranks = delivery_times(
            now, flows.ranks, flows.source, flows.destination, flows.connection, flows.size, flows.delay,
            routes.latency, rate, flows.successor_start, flows.successors, flows.waits,
        )  # fmt: skip
        for rank, time in enumerate(ranks.tolist()):
            self._due.append((time, Completion(number, rank, time)))
        for c in np.flatnonzero(~routes.reachable).tolist():
            ends = self._topology.names(devices[end[c]] for end in (flows.source, flows.destination))
            self._due.append((now, unreachable(number, int(flows.destination[c]), now, ends)))
        heapq.heapify(self._due)
        sent = end - routes.latency[flows.connection]
        leaves = np.where(routes.reachable[flows.connection], sent, np.inf)
        completions = flows.ranks + int(np.count_nonzero(~routes.reachable))
        self._under_way[number] = _UnderWay(flows, begin, leaves, completions)
        self._book(flows, routes, begin, sent)
        if self._scenario.record:
            source, destination = (devices[e[flows.connection]] for e in (flows.source, flows.destination))
            self._recorded.append({
                "graph": np.full(flows.flows, number), "source": source, "destination": destination,
                "size": flows.size, "start": begin, "end": end,
            })  # fmt: skip
        self._events += flows.flows
        self.next_time = self._due[0][0] if self._due else math.inf
        return number

    def advance(self, until: float) -> list[Completion]:
        """See `model.NetworkModel.advance`."""
        done = []
        if self._due and self._due[0][0] <= until:
            self._now = self._due[0][0]
            while self._due and self._due[0][0] == self._now:
                done.append(heapq.heappop(self._due)[1])
                self._count_off(done[-1].graph)
        self.next_time = self._due[0][0] if self._due else math.inf
        return done

    def report(self) -> NetworkReport:
        """See `model.NetworkModel.report`; a link is busy once for every flow that uses it."""
        columns = self._recorded[0] if self._recorded else {}
        return NetworkReport(
            time=self._now,
            bytes=self._bytes.copy(),
            busy=self._busy.copy(),
            bin_width=self._bin_width,
            bins=self._bins.copy(),
            counts={"events": self._events},
            notes=[
                "the analytic model knows no contention: flows that share a link do not slow one another down",
                *no_probes(self._scenario.probes),
            ],
            under_way={number: graph.delivered(self._now) for number, graph in self._under_way.items()},
            flows={name: np.concatenate([r[name] for r in self._recorded]) for name in columns},
        )

    def latest(self, graphs: Iterable[FlowGraph]) -> float:
        """See `model.NetworkModel.latest`."""
        return math.inf

    def _count_off(self, number: int) -> None:
        self._under_way[number].completions -= 1
        if not self._under_way[number].completions:
            del self._under_way[number]

    def _book(self, flows: FlowGraph, routes, begin: np.ndarray, sent: np.ndarray) -> None:
        last = float(sent.max(initial=0.0))
        self._bin_width = widened(self._bins, self._bin_width, last)
        book(
            flows.connection, flows.size, begin, sent,
            routes.start, routes.links, routes.shares, self._bytes, self._busy, self._bins, self._bin_width,
        )  # fmt: skip


@dataclass
class _UnderWay:
    """A graph that is not through: when each flow begins and has left [s; inf: never], completions to come."""

    flows: FlowGraph
    begin: np.ndarray
    sent: np.ndarray
    completions: int

    def delivered(self, now: float) -> Delivered:
        """What it has delivered at `now` [s]; the latency of what is on its way is left out."""
        span = np.maximum(self.sent - self.begin, np.finfo(float).tiny)
        part = self.flows.size * np.clip((now - self.begin) / span, 0.0, 1.0)
        return Delivered(self.flows.sent(part), self.flows.received(part))


@njit
def delivery_times(
    now, ranks, source, destination, connection, size, delay, latency, rate, successor_start, successors, waits
):
    """Begin and delivery [s] of every flow, and when each rank is through, following dependencies in any order."""
    flows = len(size)
    begin = np.full(flows, now, np.float64)
    end = np.zeros(flows)
    done = np.full(ranks, now, np.float64)
    waiting = waits.copy()
    queue = np.empty(flows, np.int32)
    head, tail = 0, 0
    for f in range(flows):
        if waiting[f] == 0:
            queue[tail] = f
            tail += 1
    while head < tail:
        f = queue[head]
        head += 1
        c = connection[f]
        begin[f] += delay[c]
        end[f] = begin[f] + latency[c] + size[f] / rate[c]
        done[source[c]] = max(done[source[c]], end[f])
        done[destination[c]] = max(done[destination[c]], end[f])
        for i in range(successor_start[f], successor_start[f + 1]):
            follower = successors[i]
            ready = begin[f] + size[f] / rate[c] if connection[follower] == c else end[f]
            begin[follower] = max(begin[follower], ready)
            waiting[follower] -= 1
            if waiting[follower] == 0:
                queue[tail] = follower
                tail += 1
    return begin, end, done


@njit
def book(connection, size, begin, end, start, links, shares, total, busy, bins, width):
    """Add the bytes of every flow, sent evenly between begin and end, to its links."""
    for f in range(len(size)):
        time = end[f] - begin[f]
        for i in range(start[connection[f]], start[connection[f] + 1]):
            amount = size[f] * shares[i]
            total[links[i]] += amount
            if time > 0.0:
                busy[links[i]] += time
                spread(bins[links[i]], amount / time, begin[f], end[f], width)
