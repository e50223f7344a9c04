"""Copies inside a server: where one copy from GPU to GPU over PCIe goes slower than the links could."""

import math
from dataclasses import replace

from simnet.flow_graph import FlowGraph
from simnet.workload.collectives.group import Group


def limited(flows: FlowGraph, group: Group) -> FlowGraph:
    """The flows of a group, each connection over PCIe no faster than its server's `copy_rate`."""
    topology = group.topology
    servers = [topology.servers.get(topology.devices[device].server) for device in group.devices]
    if all(server is None or server.copy_rate == math.inf for server in servers):
        return flows
    caps = flows.rate_cap.copy()
    for i, (a, b) in enumerate(zip(flows.source.tolist(), flows.destination.tolist())):
        if a != b and servers[a] is not None and servers[a] is servers[b] and _over_pcie(group, a, b):
            caps[i] = min(caps[i], servers[a].copy_rate)
    return replace(flows, rate_cap=caps)


def _over_pcie(group: Group, a: int, b: int) -> bool:
    return any(group.topology.links[link].kind == "pcie" for link in group.path(a, b) or ())
