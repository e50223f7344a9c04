"""What stands at the hosts of a fabric whose file names hosts only."""

from pathlib import Path

from simnet.errors import InputError
from simnet.topology.topology import Topology


class HostNode:
    """A server from a file, of which every host is a copy. Raises InputError where it cannot hang behind a fabric.

    rates [bytes/s]: of its NICs, in order; 0 where it does not say.
    """

    def __init__(self, path: Path):
        # a file may name a builder, and builders take files
        from simnet.topology.file import TopologyFile

        self.topology = TopologyFile(file=path).build()
        self.name = self.topology.name
        self.ports = self.topology.find("nic")
        self.rates = [self.topology.devices[port].port_rate for port in self.ports]
        if self.topology.find("switch"):
            raise InputError(f"node: {self.name} has switches of its own, so it cannot hang behind a fabric")
        if not self.ports:
            raise InputError(f"node: {self.name} has no NIC to plug into the fabric")

    def place(self, topology: Topology, host: str) -> list[int]:
        """Put a copy named `host` into a topology; returns the ids of its NICs, in order."""
        from simnet.topology.builders.fabric import place_copy

        for sentence in self.topology.assumptions:
            if sentence not in topology.assumptions:
                topology.assumptions.append(sentence)
        ids = place_copy(topology, self.topology, host)
        return [ids[port] for port in self.ports]
