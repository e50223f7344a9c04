"""What tests look at while a packet-level model runs."""

import numpy as np

from simnet.topology.topology import Topology


def run_to(model, time: float) -> None:
    """Advance a model to `time` [s], or to the end of all flows."""
    while model.advance(time):
        pass


def link_to(topology: Topology, a: str, b: str) -> int:
    """The link from device `a` to device `b`."""
    ends = topology.id_of(a), topology.id_of(b)
    return next(i for i, link in enumerate(topology.links) if (link.source, link.destination) == ends)


def delivered(model) -> np.ndarray:
    """Packets acknowledged so far, per connection."""
    return np.array(model.tables.connections.unacknowledged[: model.tables.connected], float)
