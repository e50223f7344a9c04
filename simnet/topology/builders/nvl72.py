"""GB200 NVL72: a rack whose 72 GPUs are one NVLink domain."""

from typing import ClassVar

from pydantic import Field

from simnet.hardware import LINKS, NICS
from simnet.hardware.links import PCIE_ROOT_LATENCY
from simnet.params import Params
from simnet.topology.builders.nvswitch_server import MERGED
from simnet.topology.builders.server import add_sockets
from simnet.topology.topology import Topology
from simnet.units import Rate

_GPUS_PER_TRAY, _GRACES_PER_TRAY = 4, 2


class Nvl72(Params):
    """GB200 NVL72: 18 trays of 4 GPUs and 2 Grace, all 72 GPUs at 900 GB/s into one NVSwitch layer, a NIC per GPU."""

    source: ClassVar[str] = "[MLE-NET][AIC]"

    trays: int = Field(18, ge=1, le=18, description="compute trays, each a server")
    nic_rate: Rate = Field(NICS["ndr"].rate, description="of the port of each GPU's NIC")

    @property
    def ports(self) -> int:
        """What the rack plugs into a fabric."""
        return self.trays * _GPUS_PER_TRAY

    def build(self) -> Topology:
        """The rack as a topology: servers tray0, tray1, ... and one NVSwitch device that belongs to none of them."""
        topology = Topology("nvl72")
        spine = topology.add_device("nvswitch0", "nvswitch")
        for i in range(self.trays):
            _add_tray(topology, spine, topology.add_server(f"tray{i}"), self.nic_rate)
        topology.assumptions += [
            MERGED.replace("a server", "the rack"),
            "The C2C link between a Grace and its GPU is a PCIe link of 450 GB/s.",
        ]
        return topology


def _add_tray(topology: Topology, spine: int, tray: str, nic_rate: float) -> None:
    """Two Grace, each with two GPUs over C2C and their two NICs over PCIe 5."""
    nvlink, c2c = LINKS["nvlink5"], LINKS["c2c"]
    gpus = [topology.add_device(f"{tray}/gpu{i}", "gpu", tray, "gb200") for i in range(_GPUS_PER_TRAY)]
    graces = add_sockets(topology, tray, ["grace"] * _GRACES_PER_TRAY, prefix=f"{tray}/")
    for i, gpu in enumerate(gpus):
        grace = graces[i * _GRACES_PER_TRAY // _GPUS_PER_TRAY]
        nic = topology.add_device(f"{tray}/nic{i}", "nic", tray, port_rate=nic_rate)
        topology.connect(gpu, spine, 18 * nvlink.rate, nvlink.latency, "nvlink")
        topology.connect(gpu, grace, c2c.rate, c2c.latency, "pcie")
        topology.connect(nic, grace, LINKS["pcie5_x16"].rate, PCIE_ROOT_LATENCY, "pcie")
