"""One crossbar."""

from itertools import repeat

from pydantic import Field, PositiveInt

from simnet.topology.builders.fabric import Fabric, add_switches
from simnet.topology.topology import Topology


class SingleSwitch(Fabric):
    """One non-blocking switch of any number of ports, with every node plugged into it."""

    nodes: PositiveInt = Field(8, description="how many of them")

    def fits(self, ports: int) -> int:
        """As many as wanted."""
        return self.nodes

    def build(self) -> Topology:
        """The cluster as a topology."""
        node, topology = self.node_ports(), Topology("single_switch")
        (switch,) = add_switches(topology, ["switch0"])
        self.plug_in_order(topology, node, repeat(switch))
        return topology
