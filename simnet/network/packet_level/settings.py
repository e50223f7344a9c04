"""From what a user has set and what the control brings to the numbers of ports, connections and kernels."""

from dataclasses import dataclass, field

import numpy as np

from simnet.errors import InputError
from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level import load_balancing as balancers
from simnet.network.packet_level.parameters import (
    LOSSLESS_TIMEOUT,
    REFERENCE_RATE,
    Control,
    Ecn,
    GoBackN,
    Packets,
    Pfc,
    Ports,
    SelectiveRepeat,
    Transport,
    TrimNack,
    numbers_of,
)
from simnet.network.packet_level.state import GO_BACK_N, SELECTIVE, TRIM
from simnet.params import Params
from simnet.units import RATE, SIZE

_CODES = {GoBackN: GO_BACK_N, SelectiveRepeat: SELECTIVE, TrimNack: TRIM}
_MOST_INT_HOPS = 10
_BUFFER = 32 * 2**20  # [bytes] of a switch with 100 Gb/s ports: 16 MiB x rate / 50 Gb/s [HPCC]
_XON_BELOW_XOFF = 3e3  # [bytes] [HPCC]
_PARAMS = 32  # numbers per row of parameters


@dataclass(frozen=True)
class Settings:
    """The policies of one class of traffic, resolved: what the user has not set comes from the control."""

    control: Control = field(default_factory=lambda: controls.CONGESTION_CONTROLS["none"]())
    balancer: Params = field(default_factory=lambda: balancers.LOAD_BALANCERS["ecmp"]())
    transport: Transport | None = None
    ports: Ports = field(default_factory=Ports)
    packets: Packets = field(default_factory=Packets)

    @classmethod
    def of(cls, policies) -> "Settings":
        """Settings from `policies.Policies`."""
        return cls(
            control=policies.congestion_control,
            balancer=policies.load_balancing,
            transport=policies.transport,
            ports=policies.ports,
            packets=policies.packets,
        )

    # -- what holds ---------------------------------------------------------------------------------------

    @property
    def recovery(self) -> Transport:
        """The transport: the user's, else the control's."""
        return self.transport or self.control.transport

    @property
    def pfc(self) -> Pfc | None:
        """Pause settings of a lossless network, or None."""
        if self.ports.lossless is False or self.ports.credits is not None:
            return None
        return self.ports.pfc or self.control.ports.pfc

    @property
    def trimming(self) -> bool:
        """True where switches trim."""
        return self.control.ports.trimming is True if self.ports.trimming is None else self.ports.trimming

    @property
    def int_hops(self) -> int:
        """INT records kept per packet."""
        return _MOST_INT_HOPS if self.control.needs_int else 0

    @property
    def full_packet(self) -> float:
        """A full packet on the wire [bytes]."""
        return self.packets.payload + self.header

    @property
    def header(self) -> float:
        """Headers of a data packet [bytes], INT records included."""
        return self.packets.header + (self.packets.int_records if self.int_hops else 0)

    @property
    def ack(self) -> float:
        """An acknowledgement [bytes], with the INT records that it brings back."""
        return self.packets.ack + (self.packets.int_records if self.int_hops else 0)

    @property
    def words(self) -> int:
        """Words of 64 bits per ring of bits, a power of two."""
        kept = getattr(self.recovery, "window", 0) or getattr(self.recovery, "reorder_window", 0) or 1
        return 1 << max(-(-kept // 64) - 1, 0).bit_length()

    @property
    def paths(self) -> int:
        """Paths of a connection that its packets choose from."""
        return getattr(self.balancer, "paths", 1)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Where settings contradict each other: the keys of one of them in `Policies`, and what is wrong."""
        found = []
        kind = ("congestion_control", "kind")
        name = controls.name_of(self.control)
        if self.control.needs_int and not self.ports.int_stamps:
            found.append((kind, f"'{name}' needs INT, which ports.int_stamps denies"))
        if self.control.needs_trimming and not self.trimming:
            found.append((kind, f"'{name}' needs trimming, which ports.trimming denies"))
        if self.ports.credits is not None and (self.ports.pfc or self.ports.lossless is False):
            other = "pfc" if self.ports.pfc else "lossless: false"
            found.append((("ports", "credits"), f"are a lossless link's flow control, against '{other}'; set one"))
        for of in ("queue", "buffer", "credits"):
            limit = getattr(self.ports, of)
            if limit is not None and limit < self.full_packet:
                sentence = f"holds {limit:g} B, less than a packet of {self.full_packet:g} B"
                found.append((("ports", of), sentence))
        if isinstance(self.transport, TrimNack) and not (self.trimming or self.control.needs_trimming):
            found.append((("transport", "kind"), "'trim_nack' needs switches that trim: set ports.trimming"))
        return found

    def check(self) -> None:
        """Raise InputError where settings contradict each other."""
        if found := self.problems():
            raise InputError("\n".join(f"network.{'.'.join(keys)}: {sentence}" for keys, sentence in found))

    def describe(self) -> dict[str, str]:
        """Transport and ports in words, for a result."""
        ecn, pfc, bdps = self.ports.ecn or self.control.ports.ecn, self.pfc, self.control.marking_bdps
        marking = f"{bdps[0]:g} to {bdps[1]:g} BDP, 1" if bdps else "none"
        return {
            "congestion_control": controls.name_of(self.control),
            "load_balancing": balancers.name_of(self.balancer),
            "transport": next(k for k, v in _NAMES.items() if isinstance(self.recovery, v)),
            "marking": _marking_in_words(ecn) if ecn else marking,
            "flow_control": "pfc" if pfc else "credits" if self.link_credits(1.0, 0.0) else "none",
            "trimming": "yes" if self.trimming else "no",
        }

    # -- ports --------------------------------------------------------------------------------------------

    def marking(self, rate: float, base_rtt: float) -> tuple[int, int, float]:
        """Kmin, Kmax [bytes] and Pmax of a link of `rate`; zeros: no marking."""
        ecn, bdps = self.ports.ecn or self.control.ports.ecn, self.control.marking_bdps
        if ecn is None and bdps is not None:
            return round(bdps[0] * rate * base_rtt), max(round(bdps[1] * rate * base_rtt), 1), 1.0
        if ecn is None:
            return 0, 0, 0.0
        scale = rate / ecn.at if ecn.at else 1.0
        return round(ecn.kmin * scale), max(round(ecn.kmax * scale), 1), ecn.pmax

    def queue_limit(self, rate: float, base_rtt: float) -> int:
        """Limit of a data queue [bytes]; 0: the shared buffer decides. Trimming queues hold one BDP [UET]."""
        if self.ports.queue is not None:
            return round(self.ports.queue)
        return round(max(rate * base_rtt, 4 * self.full_packet)) if self.trimming else 0

    def buffer(self, rate: float) -> int:
        """Shared buffer of a switch whose fastest port has `rate` [bytes]."""
        return round(_BUFFER * rate / REFERENCE_RATE if self.ports.buffer is None else self.ports.buffer)

    def pause_thresholds(self, rate: float, latency: float) -> tuple[int, int, int]:
        """XOFF (0: dynamic), XON (or how far below XOFF it is) and headroom of a link [bytes].

        Headroom by default: what can arrive after XOFF is sent, two flights of the wire, one packet at each end that
        cannot be stopped, and the pause frame itself (IEEE 802.1Q, annex N).
        """
        pfc = self.pfc or Pfc()
        bound = 2 * rate * latency + 2 * self.full_packet + self.packets.ack
        xoff = pfc.xoff or 0.0
        xon = pfc.xon if pfc.xon is not None else max(xoff - _XON_BELOW_XOFF, 0.0) if xoff else _XON_BELOW_XOFF
        return round(xoff), round(xon), round(bound if pfc.headroom is None else pfc.headroom)

    def link_credits(self, rate: float, latency: float) -> int:
        """Input buffer of a fabric link with InfiniBand's flow control [bytes]; 0: it has none."""
        if self.ports.credits is not None:
            return round(self.ports.credits)
        other = self.ports.pfc or self.ports.lossless is False
        return self.inner_buffer(rate, latency) if self.control.link_credits and not other else 0

    def inner_buffer(self, rate: float, latency: float) -> int:
        """Credits of a link inside a server [bytes]: what is under way on it, there and back, and a few packets."""
        return round(2 * rate * latency + 4 * self.full_packet)

    # -- connections --------------------------------------------------------------------------------------

    def timeout(self, rtt: float) -> float:
        """Retransmission timeout [s]."""
        if self.recovery.timeout is not None:
            return self.recovery.timeout
        return LOSSLESS_TIMEOUT if self.pfc or self.link_credits(1.0, 0.0) else 3 * rtt + 100e-6

    def control_row(self) -> np.ndarray:
        """Numbers of the congestion control."""
        row = np.zeros(_PARAMS)
        numbers = self.control.numbers()
        row[: len(numbers)] = numbers
        return row

    def balancer_row(self) -> np.ndarray:
        """Numbers of the load balancer."""
        return _numbers(self.balancer)

    def fill(self, row) -> None:
        """Put what is the same for all connections into a row of SETTINGS."""
        row.ack_size, row.ack_priority = self.ack, self.packets.ack_priority
        row.trim_size, row.duplicates = self.packets.ack, getattr(self.recovery, "duplicates", 0)

    def fill_connections(self, rows: np.recarray) -> None:
        """Put the policies into rows of CONNECTION."""
        rows.control_kind = controls.code_of(self.control)
        rows.balancer = balancers.code_of(self.balancer)
        rows.transport = _CODES[_plain(self.recovery)]
        rows.reorder = getattr(self.recovery, "reorder_window", 64 * self.words - 1)
        rows.mtu, rows.header = self.packets.payload, self.header
        rows.window, rows.rate, rows.credit = np.inf, np.inf, np.inf
        rows.message = rows.oldest = rows.newest = -1
        rows.nacked = -1


def _marking_in_words(ecn: Ecn) -> str:
    at = f" at {RATE.exact(ecn.at)}" if ecn.at else ""
    if ecn.kmin == ecn.kmax:
        return f"above {SIZE.exact(ecn.kmin)}{at}"
    return f"{SIZE.exact(ecn.kmin)} to {SIZE.exact(ecn.kmax)}{at}, up to {ecn.pmax:.0%}"


_NAMES = {"go_back_n": GoBackN, "selective_repeat": SelectiveRepeat, "trim_nack": TrimNack}


def _plain(value: Params) -> type[Params]:
    """The class of a row, also where `kind` was added to it."""
    return next(base for base in type(value).__mro__ if base in _CODES)


def _numbers(params: Params) -> np.ndarray:
    numbers = numbers_of(params)
    row = np.zeros(_PARAMS)
    row[: len(numbers)] = numbers
    return row
