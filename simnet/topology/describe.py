"""What a topology is, in a few numbers: devices and links by kind, bisection bandwidth."""

from dataclasses import dataclass

import networkx as nx
from networkx.algorithms.flow import dinitz

from simnet.topology.topology import Topology


@dataclass(frozen=True)
class LinkGroup:
    """Links that are alike. count: directed links, so a cable counts twice; rate [bytes/s], latency [s]: of each.

    ends: the kinds of the devices they join, in the order of the first such link.
    """

    kind: str
    ends: tuple[str, str]
    rate: float
    latency: float
    count: int


def devices_by_kind(topology: Topology) -> dict[str, int]:
    """Number of devices of every kind there is, in the order of their first appearance."""
    counts: dict[str, int] = {}
    for device in topology.devices:
        counts[device.kind] = counts.get(device.kind, 0) + 1
    return counts


def link_groups(topology: Topology) -> list[LinkGroup]:
    """Links by kind, ends, rate and latency, in the order of their first appearance; both directions are one group."""
    groups: dict[tuple, tuple[tuple[str, str], int]] = {}
    for link in topology.links:
        ends = topology.devices[link.source].kind, topology.devices[link.destination].kind
        key = link.kind, tuple(sorted(ends)), link.rate, link.latency
        first, count = groups.get(key, (ends, 0))
        groups[key] = first, count + 1
    return [
        LinkGroup(kind, ends, rate, latency, count)
        for (kind, _, rate, latency), (ends, count) in groups.items()
    ]  # fmt: skip


def bisection_bandwidth(topology: Topology) -> float:
    """Most that the first half of the GPUs can send to the second half at once [bytes/s], by all links together.

    The halves are those of the order of the GPUs (the first half is the smaller where their number is odd). It is the
    maximum flow, hence the smallest cut between them: one direction, whatever paths routing may choose. 0 with less
    than two GPUs.
    """
    half = len(topology.gpus) // 2
    return cut_bandwidth(topology, topology.gpus[:half], topology.gpus[half:])


def cut_bandwidth(topology: Topology, senders: list[int], receivers: list[int]) -> float:
    """Rate [bytes/s] of the smallest cut between two sets of device ids, in the direction of the receivers."""
    if not senders or not receivers:
        return 0.0
    graph = nx.DiGraph()
    merged = {**dict.fromkeys(senders, "senders"), **dict.fromkeys(receivers, "receivers")}
    graph.add_nodes_from(("senders", "receivers"))
    for link in topology.links:
        a, b = merged.get(link.source, link.source), merged.get(link.destination, link.destination)
        if a == b:
            continue
        before = graph[a][b]["capacity"] if graph.has_edge(a, b) else 0.0
        graph.add_edge(a, b, capacity=before + link.rate)
    return float(nx.maximum_flow_value(graph, "senders", "receivers", flow_func=dinitz))
