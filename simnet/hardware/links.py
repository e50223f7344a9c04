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
    latency [s] of one traversal, with the forwarding of the device it leads to.

    both_ways [bytes/s]: measured each way with both in use; nccl_rate [bytes/s]: what NCCL takes it for; 0 where
    unknown.
    """

    rate: float
    achieved: float
    latency: float
    source: str
    both_ways: float = 0.0
    nccl_rate: float = 0.0


# Peer writes below one PCIe switch take 0.36 to 0.45 us over two links [RTX6K]; a root port 1 to 2 us [RTX6K], half of
# which falls to each of its two links; an NVSwitch 936 ns over two with what GPUs do [ASTRA]; a step of an all-reduce
# takes 0.8 us on H100 [AIC], of which NCCL counts 0.6 us as the hop [NCCL-TUNE], so the wire is taken to have 0.5 us.
_PCIE, _NVLINK = 200e-9, 250e-9
PCIE_ROOT_LATENCY = 500e-9
"""Latency [s] of a PCIe link that ends at a CPU."""


def _link(rate, achieved, both_ways, nccl, latency, source) -> LinkType:
    """A row in GB/s."""
    return LinkType(rate * _G, achieved * _G, latency, source, both_ways * _G, nccl * _G)


def _pcie(generation: int, achieved: float, both_ways: float, nccl: float, source: str) -> LinkType:
    rate = pcie_rate(PCIE_SPEED_OF_GENERATION[generation], 16)
    return LinkType(rate, achieved * _G, _PCIE, source, both_ways * _G, nccl * _G)


LINKS: dict[str, LinkType] = {
    #                 achieved, both ways, NCCL
    "pcie3_x16": _pcie(3, 0, 0, 12, "[MLE-NET][NCCL-TOPO]"),
    "pcie4_x16": _pcie(4, 26.1, 18.6, 24, "[MLE-NET][NCCL-TOPO]; host to device [SB]; both ways [NVB]"),
    "pcie5_x16": _pcie(5, 55.4, 53.5, 48, "[MLE-NET][NCCL-TOPO]; host to device; both ways 103 to 111 [RTX6K]"),
    "pcie6_x16": _pcie(6, 0, 0, 96, "[MLE-NET][NCCL-TOPO]"),
    # NVLink rates are those of one link (a brick); GPUs have several
    "nvlink1": _link(20, 0, 0, 0, _NVLINK, "[recall]"),
    "nvlink2": _link(25, 22.4, 0, 20, _NVLINK, "[VTRAIN][MLE-NET][NCCL-TOPO]; V100 ring [VTRAIN]"),
    "nvlink3": _link(25, 22.8, 0, 20, _NVLINK, "[MLE-NET][NCCL-TOPO]; pair of A100, 274 over 12 links"),
    "nvlink3_geforce": _link(14.0625, 0, 0, 0, _NVLINK, "A6000 and A40 bridges: 4 links are 56.25 GB/s [recall]"),
    "nvlink4": _link(
        25, 21.4, 21.7, 20.6, _NVLINK, "[MLE-NET][NCCL-TOPO]; pair of H100, 376 to 396 over 18 links, both ways 783.7"
    ),
    "nvlink5": _link(50, 41.4, 0, 40.1, _NVLINK, "[MLE-NET][NCCL-TOPO]; pair of GB200, 746 over 18 links"),
    "c2c": _link(450, 368, 0, 0, _PCIE, "Grace to its GPU, 359 to 377 [MLE-NET]; latency [assumed]"),
    "xgmi_mi100": _link(46, 0, 0, 0, _NVLINK, "MI50 and MI100 [recall]; latency [assumed]"),
    "xgmi_mi200": _link(50, 0, 0, 0, _NVLINK, "50 GB/s per pair of peers [MLE-ACC]; latency [assumed]"),
    "xgmi_mi300": _link(64, 47.7, 0, 0, _NVLINK, "[MLE-NET]; all-reduce of 2 GPUs; latency [assumed]"),
    "xgmi_mi355": _link(76.5, 0, 0, 0, _NVLINK, "[MLE-NET]; latency [assumed]"),
}  # fmt: skip
"""Links inside servers. What a socket has of memory and socket links is in `HOSTS`, what a NIC has in `NICS`."""
