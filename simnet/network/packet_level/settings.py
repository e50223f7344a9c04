"""What a packet-level run is set to: packet sizes, ports, transport, and the policies of its connections."""

from dataclasses import dataclass

import numpy as np

from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level.state import GO_BACK_N, SELECTIVE, TRIM
from simnet.params import Params

_REFERENCE_RATE = 12.5e9  # [bytes/s] 100 Gb/s, for which thresholds are stated


@dataclass(frozen=True)
class Settings:
    """Sizes in bytes, rates in bytes/s, times in seconds; thresholds are for 100 Gb/s and scale with the link."""

    mtu: int = 4096
    header: int = 64
    ack_size: int = 64
    ack_priority: bool = True
    control: Params = controls.CONGESTION_CONTROLS["none"]()
    control_kind: int = 0
    balancer_kind: int = 0
    paths: int = 1
    transport: int = GO_BACK_N
    reorder: int = 0
    window_packets: int = 1024
    duplicates: int = 0
    kmin: float = 0.0
    kmax: float = 0.0
    pmax: float = 1.0
    trimming: bool = False
    trim_size: int = 64
    limit: float = 0.0
    buffer: float = 0.0
    alpha: float = 1.0
    pfc: bool = False
    xoff: float = 0.0
    xon: float = 0.0
    headroom: float | None = None
    int_hops: int = 0
    min_timeout: float = 4e-3

    @property
    def words(self) -> int:
        """Words of 64 bits per ring of bits."""
        return max(self.window_packets // 64, 1) if self.transport != GO_BACK_N or self.reorder else 1

    def marking(self, rate: float) -> tuple[int, int, float]:
        """Kmin, Kmax, Pmax of a link."""
        scale = rate / _REFERENCE_RATE
        return round(self.kmin * scale), round(self.kmax * scale), self.pmax

    def queue_limit(self, rate: float) -> int:
        """Limit of a data queue; 0: none of its own."""
        return round(self.limit * rate / _REFERENCE_RATE)

    def pause_thresholds(self, rate: float, latency: float) -> tuple[int, int, int]:
        """XOFF, XON and headroom of a link: two flights of the wire and two packets, where not given."""
        bound = 2 * rate * latency + 2 * (self.mtu + self.header) + self.ack_size
        return round(self.xoff), round(self.xon), round(bound if self.headroom is None else self.headroom)

    def inner_buffer(self, rate: float, latency: float) -> int:
        """Credits of a link inside a server: enough that it never waits for them, and two packets."""
        return round(2 * rate * latency + 4 * (self.mtu + self.header))

    def timeout(self, rtt: float, rate: float) -> float:
        """Retransmission timeout [s]."""
        return max(self.min_timeout, 3 * rtt)

    def control_rows(self) -> np.ndarray:
        """Numbers of the congestion control, in the order of its fields [float64[1, n]]."""
        values = [float(getattr(self.control, name)) for name in type(self.control).model_fields if name != "kind"]
        return np.array([values + [0.0] * (32 - len(values))])

    def balancer_rows(self) -> np.ndarray:
        """Numbers of the load balancer."""
        return np.zeros((1, 16))

    def fill(self, row) -> None:
        """Put what is the same for all connections into a row of SETTINGS."""
        row.ack_size, row.ack_priority = self.ack_size, self.ack_priority
        row.trim_size, row.duplicates = self.trim_size, self.duplicates

    def fill_connections(self, rows: np.recarray) -> None:
        """Put the policies into rows of CONNECTION."""
        rows.control_kind, rows.balancer = self.control_kind, self.balancer_kind
        rows.transport, rows.reorder = self.transport, self.reorder if self.transport == GO_BACK_N else 2**30
        rows.mtu, rows.header = self.mtu, self.header
        rows.window, rows.rate, rows.credit = np.inf, np.inf, np.inf
        rows.message = rows.oldest = rows.newest = -1
        rows.nacked = -1


__all__ = ["SELECTIVE", "TRIM", "Settings"]
