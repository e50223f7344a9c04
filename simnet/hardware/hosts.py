"""Host processors: what passes through their memory and between their sockets."""

from dataclasses import dataclass

_G = 1e9


@dataclass(frozen=True)
class Host:
    """One socket.

    memory_rate [bytes/s]: into, and at the same time out of, host memory: half of what the DRAM channels move, as
    reads and writes share them and staged traffic is written once and read once. socket_rate [bytes/s]: nominal, one
    direction, to the other socket. nccl_rate [bytes/s]: what NCCL expects between GPUs of two sockets, 0 where unknown.
    """

    memory_rate: float
    socket_rate: float
    nccl_rate: float
    source: str
    memory_latency: float = 100e-9  # [recall]
    socket_latency: float = 100e-9  # [recall]


def _dram(channels: int, transfers: float) -> float:
    """Each direction of staged traffic [bytes/s]; transfers [MT/s] of 8 bytes."""
    return channels * transfers * 1e6 * 8 / 2


HOSTS: dict[str, Host] = {
    "broadwell": Host(_dram(4, 2400), 38.4 * _G, 6 * _G, "4x DDR4-2400 [DRAM]; 2 QPI of 9.6 GT/s [recall][NCCL-TOPO]"),
    "skylake": Host(_dram(6, 2666), 41.6 * _G, 10 * _G, "6x DDR4-2666 [DRAM]; 2 UPI of 10.4 GT/s [UPI][NCCL-TOPO]"),
    "cascade_lake": Host(_dram(6, 2933), 41.6 * _G, 10 * _G, "6x DDR4-2933 [DRAM]; 2 UPI of 10.4 GT/s [UPI]"),
    "ice_lake": Host(_dram(8, 3200), 67.2 * _G, 10 * _G, "8x DDR4-3200 [DRAM]; 3 UPI of 11.2 GT/s [recall]"),
    "sapphire_rapids": Host(_dram(8, 4800), 96 * _G, 22 * _G, "8x DDR5-4800 [DRAM]; 3 UPI of 16 GT/s [UPI][NCCL-TOPO]"),
    "emerald_rapids": Host(_dram(8, 5600), 120 * _G, 40 * _G, "8x DDR5-5600; 3 UPI of 20 GT/s [recall][NCCL-TOPO]"),
    "epyc_rome": Host(
        _dram(8, 3200), 128 * _G, 16 * _G, "Milan too: 8x DDR4-3200; 4 xGMI of 16 GT/s [recall][NCCL-TOPO]"
    ),
    "epyc_genoa": Host(
        _dram(12, 4800), 256 * _G, 16 * _G, "12x DDR5-4800 [DRAM]; 4 xGMI of 32 GT/s [recall][NCCL-TOPO]"
    ),
    "grace": Host(256 * _G, 100 * _G, 6 * _G, "LPDDR5X of 512 GB/s [recall]; socket link [assumed]; [NCCL-TOPO]"),
    "power9": Host(_dram(8, 2666), 64 * _G, 32 * _G, "8x DDR4-2666; X bus of 64 GB/s [recall][NCCL-TOPO]"),
}
"""Processors of servers; names of generations."""
