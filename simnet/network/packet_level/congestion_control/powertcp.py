"""PowerTCP (Addanki et al. 2022): acts on power, the product of a hop's arrival rate and of what it holds.

INT form, per acknowledgement and hop: arrival rate l = tx rate + dq/dt, at least B / 2;
u = l (q + B T) / (B^2 T), T the base RTT. Theta form, from the RTT alone: u = max(d rtt / dt + 1, 1/2) rtt / (1.05 T).
U is the moving average of the largest u over T; R = g (R' / (U / eta) + beta) + (1 - g) R', R' the rate of one RTT
ago. The window is R T. (Equations as in the authors' ns-3 code [TUB].)
"""

from typing import Literal

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.congestion_control.telemetry import (
    BYTES,
    FIRST_HOP,
    MOST_HOPS,
    PER_HOP,
    QUEUE,
    TIME,
    keep,
    known,
)
from simnet.network.packet_level.parameters import REFERENCE_RATE, Control
from simnet.units import RATE, Rate


class PowerTcp(Control):
    """Sets the window from the power of the busiest hop: its arrival rate times what it holds (INT or RTT)."""

    form: Literal["int", "theta"] = Field("int", description="measured by switches (INT), or from the RTT alone")
    gain: float | None = Field(None, gt=0, le=1, description="g; default 0.9 with INT, 0.7 in the theta form [TUB]")
    eta: float | None = Field(None, gt=0, le=1, description="utilization; default 0.95 with INT, 1 in theta [TUB]")
    additive: Rate = Field(RATE.parse("150Mbps"), description="beta of every flow, at every link rate [TUB]")
    minimum: Rate = Field(RATE.parse("1Gbps"), description="lowest rate at 100 Gb/s, scaled with the link [HPCC]")

    @property
    def needs_int(self) -> bool:
        """True for the INT form."""
        return self.form == "int"


(FORM, GAIN, ETA, ADDITIVE, MINIMUM) = range(5)
(POWER, REFERENCE, LAST_UPDATE, LAST_RTT, LAST_TIME) = range(5)
INT_FORM = 0.0
TARGET_RTT = 1.05  # the theta form aims at 1.05 base RTTs [TUB]


@kernel
def start(k, params, now):
    """Line rate with a window of one bandwidth-delay product."""
    k.cc[REFERENCE] = k.line_rate
    k.cc[POWER] = 1.0
    k.cc[LAST_RTT] = k.base_rtt
    _set(k, k.line_rate)


@kernel
def _set(k, rate):
    """Rate and window; a packet more than the window may be under way, as in [HPCC], whose code [TUB] extends."""
    k.rate = rate
    k.window = rate * k.base_rtt + k.mtu + k.header


@kernel
def _average(k, u, span):
    k.cc[POWER] += min(span / k.base_rtt, 1.0) * (u - k.cc[POWER])


@kernel
def _measure_hops(k, feedback, records):
    """Update the power from INT records."""
    base = k.base_rtt
    highest, span = 0.0, 0.0
    for hop in range(min(feedback.hops, MOST_HOPS)):
        record = records[feedback.first + hop]
        slot = FIRST_HOP + PER_HOP * hop
        if known(k, hop, record):
            elapsed = record.time - k.cc[slot + TIME]
            arrived = record.bytes - k.cc[slot + BYTES] + record.queue - k.cc[slot + QUEUE]
            arrival = max(arrived / elapsed, record.rate / 2.0)
            u = arrival * (record.queue + record.rate * base) / (record.rate * record.rate * base)
            if u > highest:
                highest, span = u, elapsed
        keep(k, hop, record)
    _average(k, highest, span)


@kernel
def _measure_rtt(k, now, rtt):
    """Update the power from the RTT and its slope."""
    elapsed = now - k.cc[LAST_TIME]
    if elapsed > 0.0:
        slope = (rtt - k.cc[LAST_RTT]) / elapsed
        _average(k, max(slope + 1.0, 0.5) * rtt / (TARGET_RTT * k.base_rtt), elapsed)
    k.cc[LAST_RTT] = rtt
    k.cc[LAST_TIME] = now


@kernel
def on_ack(k, params, now, feedback, records):
    """Set rate and window from the power."""
    theta = params[FORM] != INT_FORM
    if theta:
        _measure_rtt(k, now, feedback.rtt)
    else:
        _measure_hops(k, feedback, records)
    if k.cc[LAST_UPDATE] == 0.0:  # the first RTT only records
        k.cc[LAST_UPDATE] = k.next_sequence
        return
    gain = (0.7 if theta else 0.9) if np.isnan(params[GAIN]) else params[GAIN]
    eta = (1.0 if theta else 0.95) if np.isnan(params[ETA]) else params[ETA]
    reference = k.cc[REFERENCE]
    rate = gain * (reference / (k.cc[POWER] / eta) + params[ADDITIVE]) + (1.0 - gain) * reference
    rate = min(max(rate, params[MINIMUM] * (k.line_rate / REFERENCE_RATE)), k.line_rate)
    if feedback.sequence >= k.cc[LAST_UPDATE]:
        k.cc[REFERENCE] = rate
        k.cc[LAST_UPDATE] = k.next_sequence
    _set(k, rate)
