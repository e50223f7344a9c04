"""Paths of connections: rows of PATH, the links that they name, and the tables by which switches choose on the way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simnet import hashing
from simnet.errors import InputError
from simnet.network.load_balancing import rule_of
from simnet.network.packet_level import load_balancing as balancing
from simnet.network.packet_level.connection_state import MEMORY, PATH
from simnet.network.packet_level.load_balancing import conga, dragonfly, flowlet
from simnet.network.records import grown, table
from simnet.params import Params
from simnet.topology.routing import Router
from simnet.topology.topology import Topology

_AT_ONCE = 1 << 19  # paths walked in one go, which bounds the memory that this takes


@dataclass(frozen=True)
class Found:
    """Paths of some connections, per connection: first row of PATH [int64], and where the first path there and the one
    back start in `links` [int64, -1: there is none]."""

    first: np.ndarray
    there: np.ndarray
    back: np.ndarray


class Paths:
    """All paths of a packet-level model. `links`: of path after path, each ended by -1; `rows`: PATH."""

    def __init__(self, topology: Topology, seed: int, balancers: Sequence[Params]):
        """balancers: of every class of traffic."""
        self.topology = topology
        self.links = np.full(1024, -1, np.int32)
        self.rows = table(0, PATH)
        self.hops = np.zeros(1, np.int32)  # see `load_balancing.steer`
        self.memory = table(1, MEMORY)
        self._seed, self._balancers = seed, tuple(balancers)
        self._links_used, self._rows_used = 1, 0
        self._is_switch, self._ends = topology.is_switch, np.stack(topology.ends, axis=1)
        self._goal_of = np.full(len(topology.devices), -1, np.int64)
        self._groups: dragonfly.Groups | None = None
        if self._any(conga.Conga) and max(topology.tiers, default=0) > 2:
            raise InputError("network.load_balancing: 'conga' knows two tiers of switches, this topology has more")

    def find(self, router: Router, source, destination, channel, communicator: int, traffic_class: int = 0) -> Found:
        """Find the paths of connections through the network as it is now. source, destination: device ids."""
        balancer = self._balancers[traffic_class]
        turn = np.arange(len(source)) % balancing.queue_pairs_of(balancer)
        there = self._walk(balancer, router, source, destination, channel, communicator, turn)
        back = self._walk(balancer, router, destination, source, channel, communicator, turn)
        first = self._rows_used + 2 * balancing.paths_of(balancer) * np.arange(len(source))
        self._rows_used += 2 * there.size
        if self._rows_used > len(self.rows):
            self.rows = grown(self.rows, self._rows_used) if len(self.rows) else table(self._rows_used, PATH)
        rows = self.rows[self._rows_used - 2 * there.size : self._rows_used]
        rows.start = np.concatenate([there, back], axis=1).ravel()
        return Found(first, there[:, 0], back[:, 0])

    def along(self, starts: np.ndarray):
        """Step along paths in parallel: yields (indices of the paths that go on, their links)."""
        at, which = starts.copy(), np.flatnonzero(starts >= 0)
        while True:
            links = self.links[at[which]]
            which, links = which[links >= 0], links[links >= 0]
            if not len(which):
                return
            yield which, links
            at[which] += 1

    # -- schemes at switches ----------------------------------------------------------------------------------

    def tell_switches(self, router: Router, connections: np.recarray, world: np.record) -> None:
        """Make the tables of next hops anew, for the network as it is now."""
        code = max(map(balancing.code_of, self._balancers))
        world.steered = code >= balancing.AT_SWITCHES
        if code < balancing.AT_EVERY_SWITCH:
            return
        world.conga_class = 1 + next((i for i, b in enumerate(self._balancers) if isinstance(b, conga.Conga)), -1)
        attached = router.attachments()
        goals = np.unique(attached[attached >= 0])
        places, sets = router.next_hops(goals)
        self._goal_of = np.where(attached >= 0, np.searchsorted(goals, attached), -1)
        cells = places.size
        self.hops = np.concatenate([np.where(places > 0, places + cells, 0).ravel(), sets, goals]).astype(np.int32)
        world.goals, world.goal_devices = len(goals), cells + len(sets)
        uplinks = self._ends[self._is_switch[self._ends[:, 1]], 0]
        world.uplinks = np.bincount(uplinks, minlength=len(attached))[goals].max(initial=0)
        self.fit_memory(connections, world)

    def fit_memory(self, connections: np.recarray, world: np.record) -> None:
        """Make room for what switches remember of `connections`, and for CONGA's tables behind it, started anew."""
        flowlets = flowlet.ROWS * len(connections) if self._any(flowlet.Flowlet, conga.Conga) else 0
        pairs = world.goals**2 * (world.uplinks + 1) if self._any(conga.Conga) else 0
        if flowlets + pairs == 0 or (flowlets <= world.conga and flowlets + pairs <= len(self.memory)):
            return
        memory = table(flowlets + int(pairs), MEMORY)
        memory.switch = -1
        kept = min(int(world.conga), flowlets)
        memory[:kept] = self.memory[:kept]
        if world.conga > 0:
            memory[flowlets:][: len(self.memory) - int(world.conga)] = self.memory[int(world.conga) :][: int(pairs)]
        self.memory, world.conga = memory, flowlets

    def mark_ends(self, rows: np.recarray, starts: np.ndarray) -> None:
        """Note in rows of CONNECTION where their first paths enter and leave the fabric's switches."""
        rows.home = rows.goal = rows.entry = -1
        for step, (which, links) in enumerate(self.along(starts)):
            at_switch = self._is_switch[self._ends[links, 0]]
            entering = which[at_switch & (rows.entry[which] < 0)]
            before = self.links[starts[entering] + step - 1]
            rows.entry[entering] = step
            rows.home[entering] = self._goal_of[self._ends[before, 0]]
            rows.exit[which[at_switch]] = starts[which[at_switch]] + step
            rows.goal[which[at_switch]] = self._goal_of[self._ends[links[at_switch], 1]]

    def _any(self, *rows: type[Params]) -> bool:
        return any(isinstance(balancer, rows) for balancer in self._balancers)

    # -- finding paths ------------------------------------------------------------------------------------------

    def _walk(self, balancer, router: Router, source, destination, channel, communicator: int, turn) -> np.ndarray:
        """Where the paths of every connection start in `links` [int64[connections, paths]]; -1: none."""
        count = balancing.paths_of(balancer)
        starts = np.empty((len(source), count), np.int64)
        keys = hashing.keys(self._seed, communicator, source, destination, channel)
        step = max(_AT_ONCE // count, 1)
        for first in range(0, len(source), step):
            part = slice(first, first + step)
            entropy = turn[part, None] + np.arange(count)
            drawn = hashing.keys(self._seed, keys[part, None].view(np.int64), entropy)
            drawn = np.where(entropy == 0, keys[part, None], drawn)  # the first path is that of the flow-level model
            routes = router.routes(source[part], destination[part], channel[part], drawn, rule=rule_of(balancer))
            start, links = routes.start, routes.links.astype(np.int32)
            if isinstance(balancer, dragonfly.Minimal | dragonfly.Valiant | dragonfly.Ugal):
                start, links = self._over_groups(balancer, router, start, links, drawn)
            found = self._keep(start, links)
            starts[part] = np.where(routes.reachable, found, -1).reshape(-1, count)
        return starts

    def _keep(self, start: np.ndarray, links: np.ndarray) -> np.ndarray:
        """Put routes behind the others, each ended by -1; returns where they start."""
        ended = np.insert(links, start[1:], -1)
        begin, self._links_used = self._links_used, self._links_used + len(ended)
        if self._links_used > len(self.links):
            larger = np.full(max(self._links_used, 2 * len(self.links)), -1, np.int32)
            larger[:begin] = self.links[:begin]
            self.links = larger
        self.links[begin : self._links_used] = ended
        return begin + start[:-1] + np.arange(len(start) - 1)

    def _over_groups(self, balancer, router: Router, start, links, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same routes with dragonfly paths between their first and last switch."""
        if self._groups is None or self._groups.usable is not router.usable:
            self._groups = dragonfly.Groups(self.topology, router.usable)
        count = balancing.paths_of(balancer)
        half = {dragonfly.Minimal: count, dragonfly.Valiant: 0}.get(_row_of(balancer), max(count // 2, 1))
        routes = []
        for i, key in enumerate((keys.ravel() >> np.uint64(1)).tolist()):
            route = links[start[i] : start[i + 1]].tolist()
            inside = [j for j, link in enumerate(route) if self._is_switch[self._ends[link, 0]]]
            if inside:
                a, b = int(self._ends[route[inside[0]], 0]), int(self._ends[route[inside[-1]], 0])
                by_group = self._groups.minimal if i % count < half else self._groups.valiant
                between = by_group(a, b, key)
                if between is not None:
                    route = [*route[: inside[0]], *between, *route[inside[-1] :]]
            routes.append(route)
        lengths = np.array([len(route) for route in routes], np.int64)
        return np.concatenate([[0], np.cumsum(lengths)]), np.array([k for r in routes for k in r], np.int32)


def _row_of(balancer: Params) -> type[Params]:
    """The class of a row, also where `kind` was added to it."""
    return balancing.LOAD_BALANCERS[balancing.name_of(balancer)]
