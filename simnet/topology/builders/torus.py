"""Tori of switches."""

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
        stride = [prod(self.dimensions[axis + 1 :]) for axis in range(len(self.dimensions))]
        places = (
            "_".join(str(i // step % size) for step, size in zip(stride, self.dimensions))
            for i in range(prod(self.dimensions))
        )
        switches = add_switches(topology, (f"switch{place}" for place in places))
        for i in range(len(switches)):
            for step, size in zip(stride, self.dimensions):
                at = i // step % size
                if size > 2 or (size == 2 and at == 0):
                    onwards = 1 if at + 1 < size else 1 - size
                    self.wire(topology, switches[i], switches[i + onwards * step], node.rate)
        self.plug_in_order(topology, node, (switch for switch in switches for _ in range(self.ports_per_switch)))
        return topology
