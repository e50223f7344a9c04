"""The two clusters of the study, as the same group's measurements describe them.

Parm names no hardware beyond "an 8-GPU server and a 32-GPU cluster". The 32-GPU cluster of ScheMoE (EuroSys 2024) and
FSMoE (ASPLOS 2025) is almost surely the same one: 8 nodes of 4 RTX 2080 Ti on PCIe 3.0, one 100 Gb/s InfiniBand NIC
each. FSMoE fits its collectives there: the all-to-all of one GPU a node, four of them at once, takes 3.06e-10 s/B, that
is 4 x 7/8 / 3.06e-10 = 11.4 GB/s per NIC; the all-gather among the four GPUs of a node takes 1.68e-10 s per gathered
byte, that is 3/4 / 1.68e-10 = 4.46 GB/s per GPU. What limits the latter is not said, and there are two readings:

- `link`: it is what the PCIe path of a GPU can carry, so that all-gather and all-to-all share it;
- `copy`: it is what one copy reaches, on a PCIe 3.0 x16 path that carries several at once.

The 8-GPU server is likely the group's own 8x RTX 4090 (arXiv 2311.03687), with the same host processors and without
peer-to-peer; its rate inside the node is taken to be the same, in the first reading, and swept. All its GPUs sit on one
switch: how its sockets share the traffic is not known.

`topologies/parm_32gpu_measured_link.yaml` and `..._copy.yaml` are the 32-GPU cluster in both readings, for experiments.
"""

from dataclasses import dataclass
from typing import Any

LINK, COPY = "link", "copy"
READINGS = {
    LINK: "4.46 GB/s is what the PCIe path of a GPU carries",
    COPY: "4.46 GB/s is what one copy reaches, on a path of 15.8 GB/s; SAA has one under way to every peer",
}
INSIDE = "4.46GB/s"  # [FSMoE figure 5(d)], see above
NIC = "11.4GB/s"  # [FSMoE figure 5(d)], see above
SWEPT = ("4GB/s", "8GB/s", "12GB/s")  # inside the 8-GPU server


@dataclass(frozen=True)
class Testbed:
    """A cluster: GPUs, GPUs a node, their model, and what limits traffic inside a node."""

    name: str
    gpus: int
    node: int
    gpu: str
    reading: str = LINK
    inside: str = INSIDE

    def topology(self) -> dict[str, Any]:
        """As the YAML of an experiment has it."""
        server = {
            "kind": "pcie_server", "gpus": self.node, "gpu": self.gpu, "host": "cascade_lake", "pcie": "pcie3_x16",
            "gpu_rate" if self.reading == LINK else "copy_rate": self.inside,
        }  # fmt: skip
        if self.gpus == self.node:
            return {**server, "gpus_per_switch": self.node, "sockets": 1, "nics": 0}
        node = {
            **server, "gpus_per_switch": 0, "sockets": 2, "nics": 1, "nic_rate": "100Gbps", "p2p": False,
            "gpudirect": False,
        }  # fmt: skip
        return {"kind": "single_switch", "nodes": self.gpus // self.node, "link_rate": NIC, "node": node}


TESTBEDS = {
    "32": Testbed("32", 32, 4, "rtx_2080_ti"),
    "8": Testbed("8", 8, 8, "rtx_4090"),
}
"""By the number of GPUs."""
