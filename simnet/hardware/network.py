"""NICs and switches of the fabric."""

from dataclasses import dataclass

from simnet.units import RATE

_GBPS, _G, _MB = RATE.units["Gbps"], 1e9, 1e6


@dataclass(frozen=True)
class Nic:
    """One port. rate [bytes/s]: nominal data rate, one direction; achieved [bytes/s]: measured, 0 where unknown;
    kind: of the link, 'ib' or 'ethernet'."""

    rate: float
    achieved: float
    kind: str
    source: str


@dataclass(frozen=True)
class Switch:
    """One switch ASIC. ports of rate [bytes/s] each; buffer [bytes], shared by all ports, 0 where unknown; latency [s]
    through it, 0 where unknown."""

    ports: int
    rate: float
    buffer: float
    latency: float
    source: str


NICS: dict[str, Nic] = {
    "fdr": Nic(54.3 * _GBPS, 0, "ib", "4x FDR, 56 Gb/s signalled [recall]"),
    "edr": Nic(100 * _GBPS, 12.2 * _G, "ib", "[MLE-NET]; [NT29]"),
    "hdr": Nic(200 * _GBPS, 23.5 * _G, "ib", "[MLE-NET]; 23.2 to 24 GB/s [SB][NT160]"),
    "ndr": Nic(400 * _GBPS, 48 * _G, "ib", "[MLE-NET]; 46 to 49 GB/s [NT267][NT290]"),
    "xdr": Nic(800 * _GBPS, 0, "ib", "[MLE-NET]"),
    "gdr": Nic(1600 * _GBPS, 0, "ib", "[MLE-NET]"),
    "10gbe": Nic(10 * _GBPS, 0, "ethernet", "port rate"),
    "25gbe": Nic(25 * _GBPS, 0, "ethernet", "port rate"),
    "50gbe": Nic(50 * _GBPS, 0, "ethernet", "port rate"),
    "100gbe": Nic(100 * _GBPS, 12.2 * _G, "ethernet", "port rate; [NT29]"),
    "200gbe": Nic(200 * _GBPS, 24.2 * _G, "ethernet", "port rate; EFA, 193.7 Gb/s [MLE-NET]"),
    "400gbe": Nic(400 * _GBPS, 0, "ethernet", "port rate [MLE-NET]"),
    "800gbe": Nic(800 * _GBPS, 0, "ethernet", "port rate [MLE-NET]"),
}
"""Ports of NICs."""

SWITCHES: dict[str, Switch] = {
    "trident_plus": Switch(64, 10 * _GBPS, 9 * _MB, 0, "[PBUF]"),
    "trident2": Switch(32, 40 * _GBPS, 12 * _MB, 600e-9, "[PBUF]; 550 to 650 ns, cut-through, Arista 7050X [UCSC]"),
    "trident3": Switch(32, 100 * _GBPS, 32_732_160, 0, "Arista 7050CX3 [SONIC]"),
    "trident4": Switch(32, 400 * _GBPS, 73_964_892, 0, "Nokia IXR7220-D4 [SONIC]; ports [recall]"),
    "tomahawk": Switch(32, 100 * _GBPS, 16 * _MB, 500e-9, "[UCSC]; latency also quoted as 300 ns [IPSPACE]"),
    "tomahawk3": Switch(32, 400 * _GBPS, 67_117_056, 0, "Nokia IXR7220-H3 [SONIC]"),
    "tomahawk4": Switch(64, 400 * _GBPS, 113 * _MB, 0, "[MEGASCALE]; buffer [recall]"),
    "tomahawk5": Switch(64, 800 * _GBPS, 166_298_880, 0, "Arista 7060X6-64PE [SONIC]"),
    "tomahawk6": Switch(64, 1600 * _GBPS, 636_183 * 420, 0, "102.4 Tb/s, cells of 420 bytes [SONIC]; ports [recall]"),
    "spectrum3": Switch(32, 400 * _GBPS, 60.8 * _MB, 0, "SN4700, egress pool [SONIC]"),
    "spectrum4": Switch(64, 800 * _GBPS, 158.2 * _MB, 0, "SN5600, egress pool [SONIC]"),
    "quantum_hdr": Switch(40, 200 * _GBPS, 0, 110e-9, "QM8790, 90 to 130 ns [recall]"),
    "quantum2_ndr": Switch(64, 400 * _GBPS, 0, 250e-9, "QM9700; resellers quote below 150 [Q2A] and 330 ns [Q2B]"),
}  # fmt: skip
"""Switch ASICs, for buffers and latencies of fabric links."""

FABRIC_LINK_LATENCY = 300e-9
"""Latency [s] of one fabric link with the switch or NIC it leads to: two of them give the 0.6 us that HDR InfiniBand is
quoted with from end to end [MLE-NET]."""
