"""DGX-1: eight V100 in the NVLink hybrid cube mesh."""

from typing import ClassVar

from pydantic import Field, NonNegativeInt

from simnet.hardware import LINKS, NICS
from simnet.topology.builders.server import GpuModel, PcieKind, ServerParams, server_topology
from simnet.topology.topology import Topology
from simnet.units import Rate

# NVLinks between any two GPUs, six per GPU, numbered as in the NCCL dump proteus_dgx1_v100_1ib_n8.xml of JF-D/Proteus
NVLINKS = (
    (0, 1, 2, 1, 0, 0, 0, 2),
    (1, 0, 1, 2, 0, 0, 2, 0),
    (2, 1, 0, 2, 0, 1, 0, 0),
    (1, 2, 2, 0, 1, 0, 0, 0),
    (0, 0, 0, 1, 0, 2, 2, 1),
    (0, 0, 1, 0, 2, 0, 1, 2),
    (0, 2, 0, 0, 2, 1, 0, 1),
    (2, 0, 0, 0, 1, 2, 1, 0),
)


class Dgx1V100(ServerParams):
    """DGX-1: 8 V100 in the NVLink cube mesh (1 or 2 links of 25 GB/s a pair), 4 PCIe switches, 4 EDR NICs."""

    source: ClassVar[str] = "[PROTEUS][DLPERF]; four NICs [NT29]"

    gpus: int = Field(8, ge=1, le=len(NVLINKS), description="number of GPUs, the first of the mesh")
    gpu: GpuModel = "v100_sxm2"
    pcie: PcieKind = "pcie3_x16"
    nics: NonNegativeInt = 4
    nic_rate: Rate = NICS["edr"].rate

    def build(self) -> Topology:
        """The server as a topology; the links of a pair of GPUs are one link of their summed rate."""
        topology = server_topology("dgx1_v100", self)
        gpus, link = topology.gpus, LINKS["nvlink2"]
        for a in range(self.gpus):
            for b in range(a + 1, self.gpus):
                if NVLINKS[a][b]:
                    topology.connect(gpus[a], gpus[b], NVLINKS[a][b] * link.rate, link.latency, "nvlink")
        return topology
