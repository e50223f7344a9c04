"""Connections of started flow graphs: who talks to whom over which links, shared by the network models.

Messages of one pair of ranks, communicator and channel share a connection: the hash that picks its path is drawn
from these four and the seed, so a collective that is repeated takes the same paths.
"""

from collections.abc import Hashable

import numpy as np

from simnet import hashing
from simnet.flow_graph import FlowGraph
from simnet.network.load_balancing import Spray, rule_of
from simnet.network.scenario import Scenario
from simnet.topology.routing import Router, Routes


def routes(scenario: Scenario, router: Router, graph: FlowGraph, devices: np.ndarray, communicator: int) -> Routes:
    """Routes of all connections of a graph whose rank r is devices[r], by the load balancing of its traffic class.

    router: of the links that work now.
    """
    source, destination = devices[graph.source], devices[graph.destination]
    keys = hashing.keys(scenario.seed, communicator, source, destination, graph.channel)
    balancer = scenario.policies.balancers[graph.traffic_class]
    spray = isinstance(balancer, Spray)
    return router.routes(source, destination, graph.channel, keys, spray, rule_of(balancer))


def identity(graph: FlowGraph, devices: np.ndarray, communicator: int) -> Hashable:
    """What makes two starts use the same connections; keep `graph` alive while the key is in use."""
    return id(graph), devices.tobytes(), communicator
