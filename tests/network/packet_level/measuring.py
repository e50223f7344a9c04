"""What a queue does while a packet-level model runs: its mean over an interval, and its length at equal steps."""

import math

import numpy as np

from simnet.flow_graph import flow_graph
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.topology.topology import Topology
from tests.network.systems import star

ENDLESS = 1e12  # [bytes] of a flow that outlasts every test


def run_to(model, time: float) -> None:
    """Advance a model to `time` [s], or to the end of all flows."""
    while model.advance(time):
        pass


def area(model, link: int) -> float:
    """Integral of a port's data queue up to now [bytes s]."""
    port = model._ports[link]
    now = int(model._world[0].now)
    return float(port.area + port.data_bytes * max(now - int(port.area_since), 0)) * 1e-12


def mean_queue(model, link: int, begin: float, end: float) -> float:
    """Mean of a port's data queue [bytes] from `begin` to `end` [s]."""
    run_to(model, begin)
    first, since = area(model, link), int(model._world[0].now)
    run_to(model, end)
    return (area(model, link) - first) / ((int(model._world[0].now) - since) * 1e-12)


def queue_trace(model, link: int, begin: float, end: float, step: float) -> np.ndarray:
    """A port's data queue [bytes] at equal steps from `begin` to `end` [s]."""
    lengths = []
    for time in np.arange(begin, end, step):
        run_to(model, time)
        lengths.append(int(model._ports[link].data_bytes))
    return np.array(lengths)


def long_flows(senders: int, policies: Policies, rate: float, latency: float, size: float = ENDLESS):
    """A model in which hosts 1 ... of a star send to host 0 from time 0 on, and the link to that host.

    latency: of every link [s]; the base RTT is 4 of them and the time that packets take on the links.
    """
    topology = star(senders + 1, rate, latency)
    hosts = np.array([topology.id_of(f"h{i}") for i in range(senders + 1)])
    model = PacketModel(topology, 1, policies)
    graph = flow_graph(senders + 1, range(1, senders + 1), [0] * senders, range(senders), size)
    model.start(graph, hosts, 0, 0.0)
    model.graph = graph  # the model tells graphs apart by identity
    return model, link_to(topology, "switch", "h0")


def link_to(topology: Topology, a: str, b: str) -> int:
    """The link from device `a` to device `b`."""
    ends = topology.id_of(a), topology.id_of(b)
    return next(i for i, link in enumerate(topology.links) if (link.source, link.destination) == ends)


def delivered(model) -> np.ndarray:
    """Packets acknowledged so far, per connection."""
    return np.array(model._connections.unacknowledged[: model._connected], float)


def jain(shares: np.ndarray) -> float:
    """Jain's fairness index: 1 for equal shares, 1/n for one that has all."""
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def finish_all(model) -> np.ndarray:
    """Run to the end; completion times [s] of the ranks, in order of their numbers."""
    times = {}
    while True:
        done = model.advance(math.inf)
        if not done:
            return np.array([times[rank] for rank in sorted(times)])
        times.update({completion.rank: completion.time for completion in done})
