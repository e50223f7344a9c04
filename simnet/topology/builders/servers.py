"""The table of servers: what stands alone or behind a fabric."""

from simnet.topology.builders.dgx1_v100 import Dgx1V100
from simnet.topology.builders.nvl72 import Nvl72
from simnet.topology.builders.nvswitch_server import DgxA100, DgxB200, HgxH100
from simnet.topology.builders.pcie_server import PcieServer

SERVERS = {
    "dgx1_v100": Dgx1V100,
    "dgx_a100": DgxA100,
    "hgx_h100": HgxH100,
    "dgx_b200": DgxB200,
    "nvl72": Nvl72,
    "pcie_server": PcieServer,
}
