"""Drives a congestion control without a network: one connection, fed with acknowledgements by hand."""

import numpy as np

from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level.connection_state import CONNECTION, FEEDBACK
from simnet.network.packet_level.parameters import NETWORK_RTT, ROW
from simnet.network.packet_level.state import INT, PACKET
from simnet.network.records import table

GBPS = 1e9 / 8  # [bytes/s]
PACKET_SIZE = 1000  # [bytes]


class Driver:
    """A connection over 100 Gb/s with packets of 1000 bytes, and the hooks of its control."""

    def __init__(self, kind: str, base_rtt: float = 12e-6, rate: float = 100 * GBPS, **params):
        control = controls.CONGESTION_CONTROLS[kind](**params)
        self.code = controls.code_of(control)
        self.params = np.zeros(ROW)
        self.params[: len(control.numbers())] = control.numbers()
        self.params[NETWORK_RTT] = base_rtt
        self.k = table(1, CONNECTION)[0]
        self.k.line_rate, self.k.base_rtt = rate, base_rtt
        self.k.mtu, self.k.header = PACKET_SIZE, 0.0
        self.k.credit = np.inf
        controls.start(self.code, self.k, self.params, 0.0)

    def ack(self, now: float, size: float = PACKET_SIZE, marked: int = 0, rtt: float = 0.0, sequence: int = 0, hops=()):
        """An acknowledgement; hops: (time, bytes, queue, rate, port) of every switch."""
        feedback, records = table(1, FEEDBACK)[0], table(max(len(hops), 1), INT)
        for row, hop in zip(records, hops, strict=False):
            row.time, row.bytes, row.queue, row.rate, row.port = hop
        feedback.bytes, feedback.marked, feedback.rtt, feedback.sequence = size, marked, rtt, sequence
        feedback.hops = len(hops)
        self.k.rtt = rtt
        self.before_send(now)
        controls.on_ack(self.code, self.k, self.params, now, feedback, records)

    def before_send(self, now: float) -> None:
        """Time goes on to `now`."""
        controls.before_send(self.code, self.k, self.params, now)

    def loss(self, now: float, lost: float, timeout: bool = False) -> None:
        """`lost` bytes are known to be lost."""
        controls.on_loss(self.code, self.k, self.params, now, lost, timeout)

    def data(self, now: float, marked: int = 0, trimmed: int = 0, told: int = 0) -> int:
        """A data packet reaches the receiver; whether it echoes a mark."""
        packet = table(1, PACKET)[0]
        packet.marked, packet.trimmed, packet.acknowledged = marked, trimmed, told
        return controls.on_data(self.code, self.k, self.params, now, packet)

    @property
    def gbps(self) -> float:
        """The rate [Gb/s]."""
        return self.k.rate / GBPS
