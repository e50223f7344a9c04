"""DGX-1: eight V100 in the NVLink hybrid cube mesh."""

from itertools import combinations
from typing import ClassVar

from pydantic import Field, NonNegativeInt

from simnet.hardware import LINKS, NICS
from simnet.topology.builders.server import GpuModel, PcieKind, ServerParams
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

    name: ClassVar[str] = "dgx1_v100"
    source: ClassVar[str] = "[PROTEUS][DLPERF]; four NICs [NT29]"

    gpus: int = Field(8, ge=1, le=len(NVLINKS), description="number of GPUs, the first of the mesh")
    gpu: GpuModel = "v100_sxm2"
    pcie: PcieKind = "pcie3_x16"
    nics: NonNegativeInt = 4
    nic_rate: Rate = NICS["edr"].rate

    def add_nvlinks(self, topology: Topology) -> None:
        """Join GPUs by the mesh; the links of a pair are one link of their summed rate."""
        gpus, link = topology.gpus, LINKS["nvlink2"]
        for a, b in combinations(range(self.gpus), 2):
            if NVLINKS[a][b]:
                topology.connect(gpus[a], gpus[b], NVLINKS[a][b] * link.rate, link.latency, "nvlink")
