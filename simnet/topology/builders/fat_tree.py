"""The k-ary fat tree."""

from pydantic import Field

from simnet.topology.builders.fabric import Fabric, add_switches
from simnet.topology.topology import Topology


class FatTree(Fabric):
    """Three-tier fat tree of k-port switches (Al-Fares et al. 2008): k^3/4 host ports at full bisection bandwidth."""

    k: int = Field(4, ge=2, multiple_of=2, description="ports of every switch, and number of pods")

    def fits(self, ports: int) -> int:
        """k/2 hosts at each of k/2 edge switches of k pods, port after port."""
        return self.k**3 // 4 // ports

    def build(self) -> Topology:
        """The cluster as a topology; aggregation switch i of every pod goes to cores i k/2 to (i + 1) k/2 - 1."""
        node, topology = self.node_ports(), Topology("fat_tree")
        half = self.k // 2
        cores = add_switches(topology, (f"core{i}" for i in range(half * half)))
        ports = []
        for pod in range(self.k):
            edges = add_switches(topology, (f"pod{pod}/edge{i}" for i in range(half)))
            aggregations = add_switches(topology, (f"pod{pod}/aggregation{i}" for i in range(half)))
            ports += [edge for edge in edges for _ in range(half)]
            for i, aggregation in enumerate(aggregations):
                for edge in edges:
                    self.wire(topology, edge, aggregation, node.rate)
                for core in cores[i * half : (i + 1) * half]:
                    self.wire(topology, aggregation, core, node.rate)
        self.plug_in_order(topology, node, ports)
        return topology
