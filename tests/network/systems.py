"""Small topologies and a plain loop that drives a network model without an engine."""

import math

import numpy as np

from simnet.network.model import Completion
from simnet.topology.topology import Topology


def star(hosts: int, rate: float = 1e9, latency: float = 1e-6) -> Topology:
    """Bare hosts on one switch; host i is device i + 1."""
    topology = Topology("star")
    switch = topology.add_device("switch", "switch")
    for i in range(hosts):
        topology.connect(topology.add_device(f"h{i}", "gpu"), switch, rate, latency, "ethernet")
    return topology


def leaf_spine(leaves: int, spines: int, hosts_per_leaf: int, rate: float = 1e9, latency: float = 1e-6) -> Topology:
    """Bare hosts below leaves, all leaves joined to all spines by links of one rate."""
    topology = Topology("leaf_spine")
    leaf = [topology.add_device(f"leaf{i}", "switch") for i in range(leaves)]
    spine = [topology.add_device(f"spine{i}", "switch") for i in range(spines)]
    for a in leaf:
        for b in spine:
            topology.connect(a, b, rate, latency, "ethernet")
    for i in range(leaves * hosts_per_leaf):
        topology.connect(topology.add_device(f"h{i}", "gpu"), leaf[i // hosts_per_leaf], rate, latency, "ethernet")
    return topology


def fat_tree(k: int, rate: float = 1e9, latency: float = 1e-6) -> Topology:
    """k-ary fat tree with k^3 / 4 hosts at full bisection bandwidth (Al-Fares et al. 2008)."""
    topology, half = Topology("fat_tree"), k // 2
    core = [topology.add_device(f"core{i}", "switch") for i in range(half * half)]
    for pod in range(k):
        edge = [topology.add_device(f"edge{pod}.{i}", "switch") for i in range(half)]
        above = [topology.add_device(f"aggregation{pod}.{i}", "switch") for i in range(half)]
        for i in range(half):
            for j in range(half):
                topology.connect(edge[i], above[j], rate, latency, "ethernet")
                topology.connect(above[i], core[i * half + j], rate, latency, "ethernet")
                host = topology.add_device(f"h{(pod * half + i) * half + j}", "gpu")
                topology.connect(host, edge[i], rate, latency, "ethernet")
    return topology


def drain(model) -> list[Completion]:
    """Run a model until nothing can move; completions in order."""
    done = []
    while True:
        more = model.advance(math.inf)
        if not more:
            return done
        done += more


def finish_times(model, graph, devices, start: float = 0.0, communicator: int = 0) -> np.ndarray:
    """When each rank of one graph is through [s]."""
    number = model.start(graph, np.asarray(devices), communicator, start)
    times = np.full(graph.ranks, np.nan)
    for completion in drain(model):
        if completion.graph == number:
            times[completion.rank] = completion.time
    return times
