"""Links inside servers: PCIe, NVLink and its kin, as nominal data rate, measured rate and latency."""

from dataclasses import dataclass

from simnet.units import RATE

_G = 1e9

# Payload bits per transferred bit, by gigatransfers/s of a lane: 8b/10b, 128b/130b, and the 256-byte flits of PCIe 6.
_ENCODING = {2.5: 8 / 10, 5.0: 8 / 10, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130, 64.0: 242 / 256}
PCIE_SPEEDS = tuple(_ENCODING)
PCIE_SPEED_OF_GENERATION = dict(enumerate(PCIE_SPEEDS, start=1))


def pcie_rate(speed: float, width: int) -> float:
    """Data rate [bytes/s] of one direction of a PCIe link of `width` lanes at `speed` [GT/s], to the MB/s.

    speed: a member of PCIE_SPEEDS.
    """
    return round(speed * RATE.units["Gbps"] * width * _ENCODING[speed], -6)


@dataclass(frozen=True)
class LinkType:
    """One kind of link. rate [bytes/s]: nominal, one direction; achieved [bytes/s]: measured, 0 where unknown;
    latency [s] of one traversal, with the forwarding of the device it leads to."""

    rate: float
    achieved: float
    latency: float
    source: str


# Peer writes below one PCIe switch take 0.36 to 0.45 us over two links [RTX6K]; a root port 1 to 2 us [RTX6K], half of
# which falls to each of its two links; an NVSwitch 936 ns over two [ASTRA].
_PCIE, _NVLINK = 200e-9, 468e-9
PCIE_ROOT_LATENCY = 500e-9
"""Latency [s] of a PCIe link that ends at a CPU."""


def _pcie(generation: int, achieved: float, source: str) -> LinkType:
    return LinkType(pcie_rate(PCIE_SPEED_OF_GENERATION[generation], 16), achieved * _G, _PCIE, source)


LINKS: dict[str, LinkType] = {
    "pcie3_x16": _pcie(3, 12, "[MLE-NET]; achieved as NCCL assumes [NCCL-TOPO]"),
    "pcie4_x16": _pcie(4, 26.1, "[MLE-NET]; host to device [SB]; 18.6 each way with both in use [NVB]"),
    "pcie5_x16": _pcie(5, 55.4, "[MLE-NET]; host to device, 88 % [MLE-NET]"),
    "pcie6_x16": _pcie(6, 96, "[MLE-NET]; achieved as NCCL assumes [NCCL-TOPO]"),
    # NVLink rates are those of one link (a brick); GPUs have several
    "nvlink1": LinkType(20 * _G, 0, _NVLINK, "[recall]"),
    "nvlink2": LinkType(25 * _G, 22.4 * _G, _NVLINK, "[VTRAIN][MLE-NET]; V100 ring [VTRAIN]"),
    "nvlink3": LinkType(25 * _G, 22.8 * _G, _NVLINK, "[MLE-NET]; pair of A100, 274 over 12 links"),
    "nvlink3_geforce": LinkType(14.0625 * _G, 0, _NVLINK, "A6000 and A40 bridges: 4 links are 56.25 GB/s [recall]"),
    "nvlink4": LinkType(25 * _G, 21.4 * _G, _NVLINK, "[MLE-NET]; pair of H100, 376 to 396 over 18 links"),
    "nvlink5": LinkType(50 * _G, 41.4 * _G, _NVLINK, "[MLE-NET]; pair of GB200, 746 over 18 links"),
    "c2c": LinkType(450 * _G, 368 * _G, _PCIE, "Grace to its GPU [MLE-NET]; latency [assumed]"),
    "xgmi_mi200": LinkType(50 * _G, 0, _NVLINK, "50 GB/s per pair of peers [MLE-ACC]; latency [assumed]"),
    "xgmi_mi300": LinkType(64 * _G, 47.7 * _G, _NVLINK, "[MLE-NET]; all-reduce of 2 GPUs; latency [assumed]"),
    "xgmi_mi100": LinkType(46 * _G, 0, _NVLINK, "MI50 and MI100 [recall]; latency [assumed]"),
}  # fmt: skip
"""Links inside servers. What a socket has of memory and socket links is in `HOSTS`, what a NIC has in `NICS`."""
