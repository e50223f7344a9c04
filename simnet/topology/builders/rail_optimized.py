"""Rail-optimized fabrics of GPU clusters."""

from pydantic import Field, PositiveInt

from simnet.topology.builders.fabric import Fabric, LeafPorts, Node, Oversubscription, add_switches
from simnet.topology.topology import Topology


class RailOptimized(Fabric):
    """Leaf switch i joins NIC i of all nodes of a group (a rail); spines join the rails and groups."""

    node: Node = Field({"kind": "hgx_h100"}, validate_default=True, description="what is plugged into the fabric")
    groups: PositiveInt = Field(1, description="sets of nodes with leaves of their own")
    rails: PositiveInt | None = Field(
        None, description="leaves of a group; NIC i is on rail i modulo rails; default one for each NIC of a node"
    )
    ports_per_leaf: LeafPorts = 4
    spines: PositiveInt = Field(4, description="number of spine switches")
    oversubscription: Oversubscription = 1.0

    def fits(self, ports: int) -> int:
        """As many in every group as have room on its fullest leaf."""
        return self.groups * self._nodes_per_group(ports)

    def build(self) -> Topology:
        """The cluster as a topology."""
        node, topology = self.node_ports(), Topology("rail_optimized")
        hosts = self.place(topology, node)
        rails, nodes_per_group = self.rails or node.count, self._nodes_per_group(node.count)
        leaves = [
            add_switches(topology, (f"group{group}/rail{rail}" for rail in range(rails)))
            for group in range(self.groups)
        ]
        spines = add_switches(topology, (f"spine{i}" for i in range(self.spines)))
        for i, devices in enumerate(hosts):
            for port, (device, rate) in enumerate(zip(devices, node.rates)):
                self.plug(topology, device, leaves[i // nodes_per_group][port % rails], rate)
        uplink = self.ports_per_leaf * node.rate / (self.oversubscription * self.spines)
        for leaf in (leaf for group in leaves for leaf in group):
            for spine in spines:
                self.wire(topology, leaf, spine, uplink)
        return topology

    def _nodes_per_group(self, ports: int) -> int:
        return self.ports_per_leaf // -(-ports // (self.rails or ports))
