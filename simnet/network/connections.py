"""Connections of started flow graphs: who talks to whom over which links, shared by the network models.

Messages of one pair of ranks, communicator and channel share a connection: the hash that picks its path is drawn
from these four and the seed, so a collective that is repeated takes the same paths.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from simnet import hashing
from simnet.flow_graph import FlowGraph
from simnet.network.load_balancing import Ecmp, Spray, rule_of
from simnet.params import Params
from simnet.topology.routing import Router, Routes
from simnet.topology.topology import Topology


class ConnectionRouter:
    """Finds the routes of a flow graph's connections, around failed links."""

    def __init__(self, topology: Topology, seed: int, balancers: Sequence[Params]):
        """balancers: a load balancing of `load_balancing` for every class of traffic; none: ecmp."""
        self.topology = topology
        self.rates = topology.rates.copy()  # now, 0: failed
        self._seed = seed
        self._ways = [(isinstance(balancer, Spray), rule_of(balancer)) for balancer in balancers or [Ecmp()]]
        self._router = Router(topology)

    def routes(self, graph: FlowGraph, devices: np.ndarray, communicator: int) -> Routes:
        """Routes of all connections of a graph whose rank r is devices[r]."""
        source, destination = devices[graph.source], devices[graph.destination]
        keys = hashing.keys(self._seed, communicator, source, destination, graph.channel)
        return self._router.routes(source, destination, graph.channel, keys, *self._ways[graph.traffic_class])

    def change(self, link: int, rate: float) -> bool:
        """Set the rate of a link [bytes/s, 0: failed]; True if links came or went, so that routes are void."""
        differs = (rate > 0) != (self.rates[link] > 0)
        self.rates[link] = rate
        if differs:
            self._router = Router(self.topology, self.rates > 0)
        return differs


def identity(graph: FlowGraph, devices: np.ndarray, communicator: int) -> Hashable:
    """What makes two starts use the same connections; keep `graph` alive while the key is in use."""
    return id(graph), devices.tobytes(), communicator
