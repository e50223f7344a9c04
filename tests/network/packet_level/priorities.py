"""Runs of classes of traffic with priorities, between hosts on small topologies."""

import numpy as np

from simnet.flow_graph import flow_graph
from simnet.network.model import LinkChange
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.topology import Topology
from tests.network.packet_level.measuring import check_that_nothing_is_left, link_to
from tests.network.systems import drain

B = 12.5e9  # [bytes/s], 100 Gb/s
PACKET_TIME = 4160 / B
WIRE = 4160 / 4096  # bytes on the wire per byte of payload
LOSSLESS = {"pfc": {"xoff": "40kB", "xon": "30kB"}}
LOSSY = {"lossless": False}
NONE = {"kind": "none"}


def policies(priorities=(1,), ports=LOSSLESS, own=None, control=NONE, classes=None, **more) -> Policies:
    """The network's own class has priority 0, class i the i-th of `priorities`. own: ports.priorities."""
    chosen = classes or [{}] * len(priorities)
    return Policies(
        congestion_control=control,
        ports={**ports, "priorities": own or {}},
        classes={f"class{i}": {"priority": n, **c} for i, (n, c) in enumerate(zip(priorities, chosen), 1)},
        **more,
    )


def started(topology: Topology, chosen: Policies, sends, changes=(), **more) -> PacketModel:
    """sends: (class, from host, to host, bytes), each a graph of one flow."""
    model = PacketModel(Scenario(topology, 1, chosen, changes, **more))
    for number, (traffic_class, source, destination, size) in enumerate(sends):
        graph = flow_graph(2, [0], [1], [0], size, traffic_class=traffic_class)
        model.start(graph, np.array([topology.id_of(f"h{i}") for i in (source, destination)]), number, 0.0)
    return model


def ends(topology: Topology, chosen: Policies, sends, changes=(), **more) -> list[float]:
    """When each of `sends` has arrived [s]."""
    model = started(topology, chosen, sends, changes, **more)
    done = {c.graph: c.time for c in drain(model) if c.rank == 1}
    check_that_nothing_is_left(model)
    return [done[number] for number in range(len(sends))]


def slowed(topology: Topology, a: str, b: str, rate: float) -> list[LinkChange]:
    return [LinkChange(0.0, link_to(topology, a, b), rate)]


def of_lanes(model: PacketModel, name: str) -> np.ndarray:
    """A column of PORT, lane by lane and link by link."""
    return model.tables.ports[name].reshape(-1, len(model._topology.links))[1:]
