"""What a cluster is made of: devices, directed links, routes; builders and importers of topologies."""

from simnet.topology.file import TopologyFile
from simnet.topology.topology import Device, Link, Server, Topology

__all__ = ["Device", "Link", "Server", "Topology", "TopologyFile"]
