"""Two-tier Clos networks."""

from pydantic import Field, PositiveInt

from simnet.topology.builders.fabric import Fabric, LeafPorts, Oversubscription, add_switches
from simnet.topology.topology import Topology


class LeafSpine(Fabric):
    """Leaf switches with nodes below and every spine above; all NICs of a node are on one leaf."""

    leaves: PositiveInt = Field(4, description="number of leaf switches")
    spines: PositiveInt = Field(4, description="number of spine switches")
    ports_per_leaf: LeafPorts = 4
    parallel_links: PositiveInt = Field(1, description="cables between a leaf and a spine")
    oversubscription: Oversubscription = 1.0

    def fits(self, ports: int) -> int:
        """Whole nodes on every leaf."""
        return self.leaves * (self.ports_per_leaf // ports)

    def build(self) -> Topology:
        """The cluster as a topology."""
        node, topology = self.node_ports(), Topology("leaf_spine")
        hosts = self.place(topology, node)
        leaves = add_switches(topology, (f"leaf{i}" for i in range(self.leaves)))
        spines = add_switches(topology, (f"spine{i}" for i in range(self.spines)))
        nodes_per_leaf = self.ports_per_leaf // node.count
        for i, devices in enumerate(hosts):
            for device, rate in zip(devices, node.rates):
                self.plug(topology, device, leaves[i // nodes_per_leaf], rate)
        uplink = self.ports_per_leaf * node.rate / (self.oversubscription * self.spines * self.parallel_links)
        for leaf in leaves:
            for spine in spines:
                for _ in range(self.parallel_links):
                    self.wire(topology, leaf, spine, uplink)
        return topology
