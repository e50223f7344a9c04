"""What holds at a queue of ports, which the classes of a priority share: set by the user, or brought by controls."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level.parameters import (
    REFERENCE_RATE,
    Control,
    Ecn,
    Packets,
    Pfc,
    Ports,
    Priority,
)
from simnet.network.packet_level.state import SETTINGS
from simnet.network.records import table
from simnet.units import RATE, SIZE

_MOST_INT_HOPS = 10
_BUFFER = 32 * 2**20  # [bytes] of a switch with 100 Gb/s ports: 16 MiB x rate / 50 Gb/s [HPCC]
_XON_BELOW_XOFF = 3e3  # [bytes] [HPCC]


def int_records(packets: Packets, control: Control) -> float:
    """INT on a data packet of a control, and on its acknowledgement [bytes]."""
    return packets.int_records if control.needs_int else 0


@dataclass(frozen=True)
class PortSettings:
    """Settings of all ports for the classes of one priority. Each of them has one of the `controls`, first the
    network's own; what it does not bring comes from the next one that does. `contradictions` tells where two of them
    bring different things.

    ports: as this priority has them. everyone: the controls of all priorities. own: what is set for this one alone.
    """

    ports: Ports
    packets: Packets
    controls: tuple[Control, ...]
    everyone: tuple[Control, ...]
    number: int
    own: Priority

    # -- what holds ---------------------------------------------------------------------------------------

    @property
    def full_packet(self) -> float:
        """The largest data packet on the wire [bytes]."""
        return self.packets.payload + self.packets.header + self._int_records

    @property
    def ack(self) -> float:
        """The largest acknowledgement [bytes]."""
        return self.packets.ack + self._int_records

    @property
    def _int_records(self) -> float:
        return max(int_records(self.packets, control) for control in self.everyone)

    @property
    def int_hops(self) -> int:
        """INT records kept per packet."""
        return _MOST_INT_HOPS if any(control.needs_int for control in self.everyone) else 0

    @property
    def pfc(self) -> Pfc | None:
        """Pause settings of a lossless network, or None."""
        if self.ports.lossless is False or self.ports.credits is not None:
            return None
        brought = next((c.ports.pfc for c in self.controls if c.ports.pfc), None)
        asked = self.ports.lossless and not any(c.link_credits for c in self.controls)
        return self.ports.pfc or brought or (Pfc() if asked else None)

    @property
    def _marked_by(self) -> tuple[Ecn | None, tuple[float, float] | None]:
        """Thresholds, or Kmin and Kmax in bandwidth-delay products: of the user, else of the first control with any."""
        if self.ports.ecn:
            return self.ports.ecn, None
        brought = ((control.ports.ecn, control.marking_bdps) for control in self.controls)
        return next((marking for marking in brought if any(marking)), (None, None))

    @property
    def trimming(self) -> bool:
        """True where switches trim."""
        if self.ports.trimming is not None:
            return self.ports.trimming
        return any(control.ports.trimming is True for control in self.controls)

    @property
    def lossless(self) -> bool:
        """True where pauses or credits hold senders back before a queue is full."""
        return self.flow_control != "none"

    @property
    def flow_control(self) -> str:
        """What holds senders back before a queue is full: 'pfc', 'credits' or 'none'."""
        return "pfc" if self.pfc else "credits" if self.link_credits(1.0, 0.0) else "none"

    @property
    def share(self) -> str:
        """What of a port it gets, in words."""
        return "strict" if self.own.strict else f"weight {self.own.weight}"

    def describe(self) -> dict[str, str]:
        """In words, for a result."""
        lanes = self.ports.virtual_lanes
        return {
            "marking": _marking_in_words(*self._marked_by) or "none",
            "flow_control": self.flow_control + (f", {lanes} lanes" if lanes > 1 else ""),
            "trimming": "yes" if self.trimming else "no",
        }

    # -- what cannot hold ---------------------------------------------------------------------------------

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Where the user's settings contradict each other: the keys of one of them, and what is wrong."""
        found = []
        if self.ports.credits is not None and (self.ports.pfc or self.ports.lossless is False):
            other = "pfc" if self.ports.pfc else "lossless: false"
            other = f"{other}' of '{self._keys}" if self.number else other
            found.append((("ports", "credits"), f"are a lossless link's flow control, against '{other}'; set one"))
        for of in ("queue", "buffer", "credits"):
            limit = getattr(self.ports, of)
            if limit is not None and limit < self.full_packet:
                sentence = f"holds {limit:g} B, less than a packet of {self.full_packet:g} B"
                found.append((self.place_of(of), sentence))
        if self.ports.virtual_lanes > 1 and not self.lossless:
            sentence = "are for links with pauses or credits; set ports.pfc or ports.credits"
            found.append((("ports", "virtual_lanes"), sentence))
        return found

    def contradictions(self, control: Control) -> Iterator[str]:
        """What a control needs of ports otherwise than one before it, in words."""
        before = self.controls[: self.controls.index(control)]
        keys_of_full = f"{'pfc' if self.number else 'pfc, credits'} or lossless of {self._keys}"
        for needs_of, keys in ((self._marking_needed, f"{self._keys}.ecn"), (self._full_queues_needed, keys_of_full)):
            needs, others = needs_of(control), {needs_of(other): other for other in reversed(before)}
            others.pop(None, None)
            if needs and others and needs not in others:
                words, other = others.popitem()
                yield (
                    f"'{controls.name_of(control)}' brings {needs}, '{controls.name_of(other)}' {words}, "
                    f"and classes of one priority share a queue; set {keys}, or another `priority` for one of them"
                )

    def place_of(self, key: str) -> tuple[str, ...]:
        """Where in `Policies` a key of ports is set for this queue."""
        own = getattr(self.own, key, None) is not None
        return ("ports", "priorities", str(self.number), key) if own else ("ports", key)

    @property
    def _keys(self) -> str:
        return f"network.ports.priorities.{self.number}" if self.number else "network.ports"

    def _marking_needed(self, control: Control) -> str | None:
        words = _marking_in_words(control.ports.ecn, control.marking_bdps)
        return f"marking {words}" if words and self.ports.ecn is None else None

    def _full_queues_needed(self, control: Control) -> str | None:
        """What a control has switches do where queues are full, unless the user has said it."""
        if self.ports.pfc or self.ports.credits is not None or self.ports.lossless is False:
            return None
        if control.link_credits:
            return "credits"
        trimming = control.ports.trimming and self.ports.trimming is None
        return "pauses" if control.ports.pfc else "trimming" if trimming else None

    # -- numbers ------------------------------------------------------------------------------------------

    def row(self) -> np.recarray:
        """What is the same for all packets, as a table of SETTINGS."""
        row = table(1, SETTINGS)
        row.ack_priority, row.trim_size = self.packets.ack_priority, self.packets.ack
        return row

    def marking(self, rate: float, base_rtt: float) -> tuple[int, int, float]:
        """Kmin, Kmax [bytes] and Pmax of a link of `rate`; zeros: no marking."""
        ecn, bdps = self._marked_by
        if ecn:
            scale = rate / ecn.at if ecn.at else 1.0
            return round(ecn.kmin * scale), max(round(ecn.kmax * scale), 1), ecn.pmax
        if bdps:
            return round(bdps[0] * rate * base_rtt), max(round(bdps[1] * rate * base_rtt), 1), 1.0
        return 0, 0, 0.0

    @property
    def marks_arrivals(self) -> bool:
        """True where a packet is marked by the queue that it finds, instead of the one that it leaves behind."""
        ecn, _ = self._marked_by
        return ecn is not None and ecn.when == "arrival"

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
        brought = any(control.link_credits for control in self.controls)
        return self.inner_buffer(rate, latency) if brought and not other else 0

    def inner_buffer(self, rate: float, latency: float) -> int:
        """Credits of a link inside a server [bytes]: what is under way on it, there and back, and a few packets."""
        return round(2 * rate * latency + 4 * self.full_packet)


def _marking_in_words(ecn: Ecn | None, bdps: tuple[float, float] | None) -> str | None:
    if ecn is None:
        return f"{bdps[0]:g} to {bdps[1]:g} BDP, 1" if bdps else None
    at = f" at {RATE.exact(ecn.at)}" if ecn.at else ""
    arriving = ", on arrival" if ecn.when == "arrival" else ""
    if ecn.kmin == ecn.kmax:
        return f"above {SIZE.exact(ecn.kmin)}{at}{arriving}"
    return f"{SIZE.exact(ecn.kmin)} to {SIZE.exact(ecn.kmax)}{at}, up to {ecn.pmax:.0%}{arriving}"
