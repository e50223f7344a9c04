"""The table of servers: what stands alone or behind a fabric. Each row has a `source`."""

from simnet.topology.builders.bridged_server import BRIDGED_SERVERS
from simnet.topology.builders.dgx1_v100 import Dgx1V100
from simnet.topology.builders.nvl72 import Nvl72
from simnet.topology.builders.nvswitch_server import NVSWITCH_SERVERS
from simnet.topology.builders.pcie_server import PCIE_SERVERS

SERVERS = {
    "dgx1_v100": Dgx1V100,
    **NVSWITCH_SERVERS,
    "nvl72": Nvl72,
    **BRIDGED_SERVERS,
    **PCIE_SERVERS,
}
