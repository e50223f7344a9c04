"""The shapes of SimGrid's clusters, as its routing zones build them (src/kernel/routing of simgrid/simgrid)."""

from dataclasses import dataclass
from itertools import combinations
from math import prod

from simnet.topology.importers import forwarding_hosts
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology
from simnet.units import RATE


@dataclass(frozen=True)
class Cluster:
    """What a <cluster> says. rate [bytes/s], latency [s]: of every link; backbone: (rate, latency) of the link that all
    traffic shares or, unless `shares_backbone`, that gives each flow its full rate; limiter [bytes/s]: of what a host
    sends and receives together, 0 without."""

    element: Element
    hosts: list[str]
    model: str
    rate: float
    latency: float
    backbone: tuple[float, float] | None
    shares_backbone: bool
    limiter: float


def flat(topology: Topology, cluster: Cluster) -> None:
    """Every host on one crossbar; a backbone lies between what comes from the hosts and what goes to them."""
    name = cluster.element.get("router_id") or f"{cluster.element.get('id') or 'cluster'}_router"
    hosts = _add_hosts(topology, cluster)
    rate, more = _host_rate(topology, cluster), 0.0
    inward = outward = topology.add_device(name, "switch")
    if cluster.backbone and cluster.shares_backbone:
        outward = topology.add_device(f"{name}/out", "switch")
        topology.add_link(inward, outward, *cluster.backbone, "ethernet")
        topology.assumptions.append(
            "The backbone is one link that all traffic between hosts takes in the same direction, as both directions "
            "share it."
        )
    elif cluster.backbone:
        cap, more = cluster.backbone
        if cap < rate:
            rate = cap
            topology.assumptions.append(
                f"The backbone gives every flow {RATE.format(cap)} (FATPIPE): taken as the rate of the hosts' links."
            )
    for host in hosts:
        topology.add_link(host, inward, rate, cluster.latency + more, "ethernet")
        topology.add_link(outward, host, rate, cluster.latency, "ethernet")


def fat_tree(topology: Topology, cluster: Cluster) -> None:
    """'levels; children of a node, by level; parents; cables to each parent': a parallel ports generalized fat tree.

    A node of level l has one digit per level: of its own and the lower ones in the number of parents, of the higher
    ones in the number of children; two nodes of successive levels are joined where all but the digit between them agree
    (Zahavi, D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees, 2010).
    """
    parameters = _parameters(cluster, 4, "'levels;children,..;parents,..;cables,..', such as '2;4,4;1,2;1,2'")
    (levels, *rest), children, parents, cables = parameters
    if rest or not levels == len(children) == len(parents) == len(cables):
        raise cluster.element.error(f"topo_parameters: {levels} levels need as many numbers in every list behind them")
    _expect(cluster, prod(children), "a fat tree of these parameters")
    rows, below = [], _add_hosts(topology, cluster)
    host_rate = _host_rate(topology, cluster)
    for level in range(levels):
        width = prod(parents[: level + 1]) * prod(children[level + 1 :])
        rows.append([topology.add_device(f"level{level + 1}/switch{i}", "switch") for i in range(width)])
    for level, above in enumerate(rows):
        step = prod(parents[:level])
        for i, node in enumerate(below):
            # the digit between the levels is dropped, and each of the parents' put in its place
            low, high = i % step, i // (step * children[level])
            for digit in range(parents[level]):
                parent = above[low + step * (digit + parents[level] * high)]
                for _ in range(cables[level]):
                    rate = cluster.rate if level else host_rate
                    topology.connect(node, parent, rate, cluster.latency, "ethernet")
        below = above


def torus(topology: Topology, cluster: Cluster) -> None:
    """'x,y,z': hosts count the first dimension fastest; along one of two there are two cables, as in SimGrid."""
    (sizes,) = _parameters(cluster, 1, "the size of every dimension, such as '3,2,2'")
    _expect(cluster, prod(sizes), "a torus of these dimensions")
    routers = forwarding_hosts.add_hosts(topology, cluster.hosts, cluster.model)
    step = 1
    for size in sizes:
        for i in range(len(routers)) if size > 1 else ():
            onwards = step if i // step % size < size - 1 else step * (1 - size)
            topology.connect(routers[i], routers[i + onwards], cluster.rate, cluster.latency, "ethernet")
        step *= size
    forwarding_hosts.plug_in(topology, routers)
    if cluster.limiter:
        topology.assumptions.append("The limiter of what a host sends and receives is left out.")


def dragonfly(topology: Topology, cluster: Cluster) -> None:
    """'groups,links;chassis,links;routers,links;nodes': chassis of fully meshed routers (green), routers of one place
    in all chassis of a group meshed, too (black), and router j of group i joined to router i of group j (blue).

    The n links of a pair of routers are one of n times the rate, as in SimGrid.
    """
    parameters = _parameters(cluster, 4, "'groups,links;chassis,links;routers,links;nodes', such as '3,4;4,3;5,1;2'")
    if [len(numbers) for numbers in parameters] != [2, 2, 2, 1]:
        raise cluster.element.error("topo_parameters: expected three pairs and one number, such as '3,4;4,3;5,1;2'")
    (groups, blue), (chassis, black), (blades, green), (nodes,) = parameters
    per_group = chassis * blades
    _expect(cluster, groups * per_group * nodes, "a dragonfly of these parameters")
    if groups > per_group:
        raise cluster.element.error(
            f"topo_parameters: a group has {per_group} routers, too few for one to each of {groups} groups"
        )
    hosts = _add_hosts(topology, cluster)
    rate = _host_rate(topology, cluster)
    routers = [
        topology.add_device(f"group{group}/chassis{i}/router{j}", "switch")
        for group in range(groups)
        for i in range(chassis)
        for j in range(blades)
    ]
    for i, host in enumerate(hosts):
        topology.connect(host, routers[i // nodes], rate, cluster.latency, "ethernet")

    def join(a: int, b: int, links: int) -> None:
        topology.connect(routers[a], routers[b], links * cluster.rate, cluster.latency, "ethernet")

    for first in range(0, len(routers), blades):
        for a, b in combinations(range(first, first + blades), 2):
            join(a, b, green)
    for first in range(0, len(routers), per_group):
        for i, j in combinations(range(first, first + per_group, blades), 2):
            for blade in range(blades):
                join(i + blade, j + blade, black)
    for i, j in combinations(range(groups), 2):
        join(i * per_group + j, j * per_group + i, blue)


def _add_hosts(topology: Topology, cluster: Cluster) -> list[int]:
    return [topology.add_device(name, "gpu", model=cluster.model) for name in cluster.hosts]


def _host_rate(topology: Topology, cluster: Cluster) -> float:
    """Rate [bytes/s] of a host's link, each way; a limiter of both directions together is only told of."""
    if not cluster.limiter or cluster.limiter >= 2 * cluster.rate:
        return cluster.rate
    topology.assumptions.append(
        f"A limiter holds what a host sends and receives to {RATE.format(cluster.limiter)} together: taken as the most "
        "of each direction."
    )
    return min(cluster.rate, cluster.limiter)


def _parameters(cluster: Cluster, count: int, expected: str) -> list[list[int]]:
    """The lists of `topo_parameters`, of numbers of at least 1."""
    text = cluster.element.get("topo_parameters")
    lists = [part.split(",") for part in text.split(";")]
    numbers = [number.strip() for numbers in lists for number in numbers]
    if len(lists) != count or not all(n.isascii() and n.isdigit() and len(n) < 10 and int(n) for n in numbers):
        raise cluster.element.error(f"topo_parameters: expected {expected}, got '{text[:60]}'")
    return [[int(number) for number in numbers] for numbers in lists]


def _expect(cluster: Cluster, hosts: int, what: str) -> None:
    if len(cluster.hosts) != hosts:
        raise cluster.element.error(f"radical: names {len(cluster.hosts)} hosts, but {what} has {hosts}")
