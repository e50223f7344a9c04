"""Inside servers first, then between them: fast links carry most, and every NIC of a server takes part.

all_reduce: the members of a server reduce-scatter the data among m of them, each of these all-reduces its shard with
its like in the other servers, and the servers gather the shards: 2 (g - 1) + 2 (N - 1) steps for N servers of g, and
2 (N - 1) / N S / g bytes per NIC. Servers need not have equally many members: m is the number in the smallest one,
further members take part in the rings inside only. Inside a server everything runs along its rings, over NVLink where
it has it; between servers each shard has a ring of its own, on its own rail.

all_to_all: data for member j of another server goes to the local member of that number first and crosses in one
message, as NCCL's PXN does. broadcast and reduce: a chain through the servers, with a chain inside each.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives import direct, trees
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.pipeline import Pipeline
from simnet.workload.collectives.server_rings import server_rings
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Reduce-scatter inside, all-reduce between, all-gather inside."""
    levels = _Levels(group)
    servers, shards = levels.owners.shape
    shard_sizes = np.full(shards, operation.size / shards)
    parts = np.full((servers, shards), operation.size / (servers * shards))
    ready = levels.reduce_inside(shard_sizes)
    ready = levels.reduce_between(parts, ready)
    ready = levels.gather_between(parts, ready)
    levels.gather_inside(shard_sizes, ready)
    return levels.flows.build()


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """Reduce-scatter inside, then between."""
    levels = _Levels(group)
    parts = levels.members_of_shard * (operation.size / group.members)
    ready = levels.reduce_inside(parts.sum(axis=0))
    ready = levels.reduce_between(parts, ready)
    server, shard, member = levels.further
    parted = levels.flows.flows(levels.owners[server, shard], member, operation.size / group.members)
    levels.flows.wait(parted, ready[server, shard])
    return levels.flows.build()


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """All-gather between, then inside."""
    levels = _Levels(group)
    parts = levels.members_of_shard * (operation.size / group.members)
    server, shard, member = levels.further
    collected = levels.flows.flows(member, levels.owners[server, shard], operation.size / group.members)
    ready = levels.flows.join(levels.owners)
    levels.flows.wait(ready[server, shard], collected)
    ready = levels.gather_between(parts, ready)
    levels.gather_inside(parts.sum(axis=0), ready)
    return levels.flows.build()


def broadcast(group: Group, operation: Operation) -> FlowGraph:
    """Chunks go from server to server and, at the same time, along a chain inside each."""
    flows = FlowGraphBuilder(group.members)
    trees.send_down(flows, _chains(group, operation.root), operation.size, channel=0)
    return flows.build()


def reduce(group: Group, operation: Operation) -> FlowGraph:
    """The way of broadcast backwards, summing up."""
    flows = FlowGraphBuilder(group.members)
    trees.send_up(flows, _chains(group, operation.root), operation.size, channel=0)
    return flows.build()


def all_to_all(group: Group, operation: Operation) -> FlowGraph:
    """Collect by rail inside each server, then one message from a relay to every remote member of its rail."""
    return relays(group, operation).build()


def relays(group: Group, operation: Operation) -> Pipeline:
    """The edges of an all-to-all to the relays, and from these to remote members."""
    everybody = np.arange(group.members)
    matrix = direct.sizes(operation, *np.broadcast_arrays(everybody[:, None], everybody))
    pipeline = Pipeline(group.members)
    for members in map(np.array, group.by_server):
        local = np.arange(len(members))
        elsewhere = [other for other in group.by_server if other[0] != members[0]]
        remote = np.array([m for other in elsewhere for m in other], np.int32)
        relay = np.array([i % len(members) for other in elsewhere for i in range(len(other))], np.int32)
        crossing = matrix[np.ix_(members, remote)]
        inside = matrix[np.ix_(members, members)] + crossing @ (relay[:, None] == local)
        inside[local, local] = 0.0
        source, rail = np.nonzero(inside)
        collected = pipeline.edges(members[source], members[rail], inside[source, rail])
        together = crossing.sum(axis=0)
        sent = np.flatnonzero(together > 0)
        crossed = pipeline.edges(members[relay[sent]], remote[sent], together[sent])
        after, before = np.nonzero(relay[sent][:, None] == rail)
        pipeline.wait(crossed[after], collected[before])
    return pipeline


def _chains(group: Group, root: int) -> np.ndarray:
    """One tree: from the root through one member of each server, and from each of these through its server."""
    servers = sorted(group.by_server, key=lambda members: root not in members)
    parent = np.full(group.members, trees.ROOT)
    place = servers[0].index(root)
    before = trees.ROOT
    for members in servers:
        entry = members[place % len(members)]  # the root's rail, where there is one
        cycle = server_rings(group, members)[0]
        start = cycle.index(entry)
        parent[entry] = before
        order = cycle[start:] + cycle[:start]
        parent[order[1:]] = order[:-1]
        before = entry
    return parent


class _Levels:
    """The flows so far, and who owns which shard: owners[server, shard], the first members of each server.

    members_of_shard[server, shard]: how many members of a server get their part from that shard. further: server,
    shard and number of the members that own none. Each method returns ready[server, shard]: the flow after which an
    owner has what the method was to bring.
    """

    def __init__(self, group: Group):
        self.flows = FlowGraphBuilder(group.members)
        self._rings = [server_rings(group, members) for members in group.by_server]
        self.owners = group.owners()
        shards = self.owners.shape[1]
        self.members_of_shard = np.array(
            [[len(members[shard::shards]) for shard in range(shards)] for members in group.by_server]
        )
        further = [
            (server, i % shards, member)
            for server, members in enumerate(group.by_server)
            for i, member in enumerate(members)
            if i >= shards
        ]
        self.further = tuple(np.array(further, np.int32).reshape(-1, 3).T)

    def reduce_inside(self, sizes: np.ndarray) -> np.ndarray:
        """In every server, sum up shards of sizes[shard] bytes at their owners."""
        ready = []
        for owners, orders in zip(self.owners, self._rings):
            last = []
            for channel, order in enumerate(orders):
                ends = np.array([order.index(owner) for owner in owners])
                last.append(self._reduce(np.array(order), ends, sizes / len(orders), channel)[:, -1:])
            ready.append(self.flows.join(owners, np.concatenate(last, axis=1)))
        return np.stack(ready)

    def gather_inside(self, sizes: np.ndarray, ready: np.ndarray) -> None:
        """In every server, spread shards of sizes[shard] bytes from their owners, each when it is ready."""
        for owners, orders, start in zip(self.owners, self._rings, ready):
            for channel, order in enumerate(orders):
                ends = np.array([order.index(owner) for owner in owners])
                self._gather(np.array(order), ends, sizes / len(orders), start, channel)

    def reduce_between(self, parts: np.ndarray, ready: np.ndarray) -> np.ndarray:
        """Sum up, among the owners of each shard, a part of parts[server, shard] bytes for each."""
        servers = np.arange(len(self.owners))
        done = np.empty_like(ready)
        for shard, owners in enumerate(self.owners.T):
            number = self._reduce(owners, servers, parts[:, shard])
            # what an owner adds on the way must be ready too
            self.flows.wait(number, ready[(servers[:, None] + 1 + np.arange(number.shape[1])) % len(servers), shard])
            arrived = np.concatenate([ready[:, shard, None], number[:, -1:]], axis=1)
            done[:, shard] = self.flows.join(owners, arrived)
        return done

    def gather_between(self, parts: np.ndarray, ready: np.ndarray) -> np.ndarray:
        """Spread, among the owners of each shard, the part of parts[server, shard] bytes of each."""
        servers = np.arange(len(self.owners))
        done = np.empty_like(ready)
        for shard, owners in enumerate(self.owners.T):
            number = self._gather(owners, servers, parts[:, shard], ready[:, shard])
            hops = np.arange(number.shape[1])
            arrived = number[(servers[:, None] - 1 - hops) % len(servers), hops]
            done[:, shard] = self.flows.join(owners, np.concatenate([ready[:, shard, None], arrived], axis=1))
        return done

    def _reduce(self, order, ends, sizes, channel=0) -> np.ndarray:
        """Flows [part, hop] of parts that are summed up once around a ring and end at position ends[part] of it."""
        sender = (ends[:, None] + 1 + np.arange(len(order) - 1)) % len(order)
        return self._around(order, sender, sizes, channel)

    def _gather(self, order, starts, sizes, ready, channel=0) -> np.ndarray:
        """Flows [part, hop] of parts that go once around a ring from position starts[part] of it, when ready[part]."""
        sender = (starts[:, None] + np.arange(len(order) - 1)) % len(order)
        number = self._around(order, sender, sizes, channel)
        self.flows.wait(number[:, :1], ready[:, None][:, : number.shape[1]])
        return number

    def _around(self, order, sender, sizes, channel) -> np.ndarray:
        """Flows [part, hop] from position sender[part, hop] to the next; a rank sends its parts one after the other."""
        number = self.flows.flows(order[sender], order[(sender + 1) % len(order)], sizes[:, None], channel)
        self.flows.wait(number[:, 1:], number[:, :-1])
        by_hop = sender.T.ravel()
        in_turn = np.argsort(by_hop, kind="stable")
        same_sender = np.diff(by_hop[in_turn]) == 0
        queue = number.T.ravel()[in_turn]
        self.flows.wait(queue[1:][same_sender], queue[:-1][same_sender])
        return number
