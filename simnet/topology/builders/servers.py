"""The table of servers: what stands alone or behind a fabric. Each row has a `source`."""

from simnet.topology.builders.bridged_server import (
    A40Server,
    A100PcieServer,
    H100PcieServer,
    H200NvlServer,
    Mi300xServer,
    Rtx2080TiServer,
)
from simnet.topology.builders.dgx1_v100 import Dgx1V100
from simnet.topology.builders.nvl72 import Nvl72
from simnet.topology.builders.nvswitch_server import Dgx2, DgxA100, DgxB200, DgxB300, HgxH20, HgxH100, HgxH200
from simnet.topology.builders.pcie_server import (
    A10gServer,
    L40sServer,
    PcieServer,
    Rtx4090Server,
    Rtx5090Server,
    RtxPro6000Server,
)

SERVERS = {
    "dgx1_v100": Dgx1V100,
    "dgx2": Dgx2,
    "dgx_a100": DgxA100,
    "hgx_h100": HgxH100,
    "hgx_h200": HgxH200,
    "hgx_h20": HgxH20,
    "dgx_b200": DgxB200,
    "dgx_b300": DgxB300,
    "nvl72": Nvl72,
    "mi300x_server": Mi300xServer,
    "a100_pcie_server": A100PcieServer,
    "h100_pcie_server": H100PcieServer,
    "h200_nvl_server": H200NvlServer,
    "a40_server": A40Server,
    "rtx_2080_ti_server": Rtx2080TiServer,
    "rtx_4090_server": Rtx4090Server,
    "rtx_5090_server": Rtx5090Server,
    "rtx_pro_6000_server": RtxPro6000Server,
    "l40s_server": L40sServer,
    "a10g_server": A10gServer,
    "pcie_server": PcieServer,
}
