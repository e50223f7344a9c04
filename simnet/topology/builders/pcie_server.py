"""Servers whose GPUs have nothing but PCIe."""

import math

from pydantic import Field

from simnet.topology.builders.server import ServerParams, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate


class PcieServer(ServerParams):
    """A server without NVLink: GPUs below PCIe switches or root ports, staging through host memory where P2P is off."""

    p2p: bool = Field(True, description="GPUs reach each other over PCIe without staging in host memory")
    gpudirect: bool = Field(True, description="NICs reach the memory of GPUs without staging in host memory")

    copy_rate: Rate | None = Field(None, description="the most that one copy from GPU to GPU reaches; default no limit")

    def build(self) -> Topology:
        """The server as a topology."""
        return server_topology(
            "pcie_server", self, p2p=self.p2p, gpudirect=self.gpudirect, copy_rate=self.copy_rate or math.inf
        )
