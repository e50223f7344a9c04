"""Tori of switches."""

from itertools import product
from math import prod

from pydantic import Field, PositiveInt

from simnet.topology.builders.fabric import Fabric, add_switches
from simnet.topology.topology import Topology


class Torus(Fabric):
    """A torus of any number of dimensions: every switch is joined to its two neighbours in each of them."""

    dimensions: tuple[PositiveInt, ...] = Field(
        (4, 4), min_length=1, description="number of switches along each; along one of two there is a single cable"
    )
    ports_per_switch: PositiveInt = Field(1, description="ports for hosts on every switch")

    def fits(self, ports: int) -> int:
        """Port after port."""
        return prod(self.dimensions) * self.ports_per_switch // ports

    def build(self) -> Topology:
        """The cluster as a topology; hosts and switches count the last dimension fastest."""
        node, topology = self.node_ports(), Topology("torus")
        places = list(product(*(range(size) for size in self.dimensions)))
        switches = add_switches(topology, ("switch" + "_".join(map(str, place)) for place in places))
        stride = [prod(self.dimensions[axis + 1 :]) for axis in range(len(self.dimensions))]
        for i, place in enumerate(places):
            for axis, size in enumerate(self.dimensions):
                if size > 2 or (size == 2 and place[axis] == 0):
                    step = 1 if place[axis] + 1 < size else 1 - size
                    self.wire(topology, switches[i], switches[i + step * stride[axis]], node.rate)
        self.plug_in_order(topology, node, (switch for switch in switches for _ in range(self.ports_per_switch)))
        return topology
