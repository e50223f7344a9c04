"""Paths inside a server: over NVLink, over PCIe, through host memory. GPUs, NICs and memory forward nothing."""

from collections.abc import Iterable
from functools import cached_property

import networkx as nx
import numpy as np

from simnet.topology.topology import Topology

# Preference inside a server, as NCCL ranks its path types: NVLink, one PCIe switch, several, the CPU, across
# sockets. One step of a kind outweighs any number of the cheaper ones on real boards.
_COST = {"nvlink": 1, "pcie": 100, "memory": 10_000}
_COST_AT_CPU = 1_000
_FORWARDING = ("nvswitch", "pcie_switch", "cpu")

Path = list[int] | None  # link ids; None: there is none


class ServerPaths:
    """Paths over the links outside the fabric; `usable` [bool per link] leaves out failed ones."""

    def __init__(self, topology: Topology, usable: np.ndarray):
        self.topology = topology
        self._usable = usable
        self._known: dict[tuple, Path] = {}

    @cached_property
    def any(self) -> bool:
        """Whether there are such links at all, working or not."""
        return not self.topology.in_fabric.all()

    def between(self, a: int, b: int) -> Path:
        """Path between two devices that needs no fabric: NVLink alone, else inside their server."""
        key = ("between", a, b)
        if key not in self._known:
            nvlink = self._cheapest(a, b, nvlink_only=True)
            self._known[key] = nvlink if nvlink is not None else self._in_host(a, b)
        return self._known[key]

    def with_nic(self, a: int, b: int, device: int) -> Path:
        """Path from a to b, of which one is `device` and the other its NIC: through host memory without GPUDirect."""
        key = ("nic", a, b)
        if key not in self._known:
            host = self.topology.devices[device]
            staged = host.kind == "gpu" and host.server and not self.topology.servers[host.server].gpudirect and a != b
            self._known[key] = self._through_memory(a, b, by=device) if staged else self._cheapest(a, b)
        return self._known[key]

    def costs(self, device: int) -> dict[int, int]:
        """Cost of the cheapest path from a device to every one that it reaches."""
        if device not in self._inside:  # no link inside a server leads to it or from it
            return {device: 0}
        return nx.single_source_dijkstra_path_length(self._inside, device, weight=self._weight(device))

    def members(self, device: int) -> list[int]:
        """All devices of a device's server."""
        return self._by_server.get(self.topology.devices[device].server, [])

    def _in_host(self, a: int, b: int) -> Path:
        devices = self.topology.devices
        server = devices[a].server
        if not server or server != devices[b].server:
            return None
        staged = devices[a].kind == devices[b].kind == "gpu" and not self.topology.servers[server].p2p
        return self._through_memory(a, b, by=a) if staged else self._cheapest(a, b)

    def _through_memory(self, a: int, b: int, by: int) -> Path:
        """Path from a to b by way of the host memory nearest to `by`."""
        costs = self.costs(by)
        found = [d for d in self.members(by) if self.topology.devices[d].kind == "memory" and d in costs]
        memory = min(found, key=lambda d: (costs[d], d), default=None)
        if memory is None:
            return self._cheapest(a, b)
        first, second = self._cheapest(a, memory), self._cheapest(memory, b)
        return None if first is None or second is None else first + second

    def _cheapest(self, a: int, b: int, nvlink_only: bool = False) -> Path:
        """Cheapest path inside servers; among parallel links the first."""
        if a == b:
            return []
        key = ("cheapest", a, b, nvlink_only)
        if key not in self._known:
            try:
                graph = self._nvlinks if nvlink_only else self._inside
                hops = nx.dijkstra_path(graph, a, b, weight=self._weight(a))
                self._known[key] = [min(graph[u][v]) for u, v in zip(hops, hops[1:])]
            except (nx.NetworkXNoPath, nx.NodeNotFound):
                self._known[key] = None
        return self._known[key]

    def _weight(self, origin: int):
        devices = self.topology.devices

        def weight(u, v, parallel):
            if u != origin and devices[u].kind not in _FORWARDING:
                return None
            kind = next(iter(parallel.values()))["kind"]
            at_cpu = kind == "pcie" and "cpu" in (devices[u].kind, devices[v].kind)
            return _COST[kind] + (_COST_AT_CPU if at_cpu else 0)

        return weight

    @cached_property
    def _by_server(self) -> dict[str, list[int]]:
        members: dict[str, list[int]] = {}
        for i, device in enumerate(self.topology.devices):
            if device.server:
                members.setdefault(device.server, []).append(i)
        return members

    @cached_property
    def _inside(self) -> nx.MultiDiGraph:
        return self._graph_of(np.flatnonzero(~self.topology.in_fabric & self._usable))

    @cached_property
    def _nvlinks(self) -> nx.MultiDiGraph:
        links = self.topology.links
        return self._graph_of(i for i in np.flatnonzero(self._usable) if links[i].kind == "nvlink")

    def _graph_of(self, links: Iterable[int]) -> nx.MultiDiGraph:
        graph = nx.MultiDiGraph()
        for i in links:
            link = self.topology.links[i]
            graph.add_edge(link.source, link.destination, key=int(i), kind=link.kind)
        return graph
