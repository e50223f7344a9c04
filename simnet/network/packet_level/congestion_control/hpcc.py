"""HPCC (Li et al. 2019): utilization of every hop from INT, window set so that the busiest has a little room.

Per acknowledgement, for each hop with its previous record: u = min(q, q') / (B T) + tx rate / B; U is the moving
average of the largest u over one base RTT T. If U >= eta or after max_stage additive steps W = Wc / (U / eta) + W_AI,
else W = Wc + W_AI; the reference window Wc follows once per RTT. The rate is W / T. The first RTT only records.
"""

from typing import ClassVar

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


class Hpcc(Control):
    """Sets the window from the measured utilization of every hop (INT), with a little room to spare."""

    needs_int: ClassVar[bool] = True

    eta: float = Field(0.95, gt=0, le=1, description="target utilization; HPCC paper, section 5.1 [HPCC]")
    max_stage: int = Field(0, ge=0, description="additive steps before a multiplicative one; run.py 0, paper 5 [HPCC]")
    additive: Rate = Field(RATE.parse("40Mbps"), description="W_AI as a rate at 100 Gb/s, scaled with the link [HPCC]")
    minimum: Rate = Field(RATE.parse("1Gbps"), description="lowest rate at 100 Gb/s, scaled with the link [HPCC]")


(ETA, MAX_STAGE, ADDITIVE, MINIMUM) = range(4)
(UTILIZATION, STAGE, REFERENCE, LAST_UPDATE) = range(4)


@kernel
def start(k, params, now):
    """Line rate with a window of one bandwidth-delay product."""
    k.cc[REFERENCE] = k.line_rate * k.base_rtt
    k.cc[UTILIZATION] = 1.0
    _set(k, k.cc[REFERENCE])


@kernel
def _set(k, window):
    """Window and rate; a packet more than the window may be under way, as [HPCC] stops at a full one, not before."""
    k.window = window + k.mtu + k.header
    k.rate = window / k.base_rtt


@kernel
def _measure(k, feedback, records):
    """Update U from the INT records; those of the first acknowledgement have nothing to be compared with."""
    base = k.base_rtt
    highest, span = -1.0, 0.0
    for hop in range(min(feedback.hops, MOST_HOPS)):
        record = records[feedback.first + hop]
        slot = FIRST_HOP + PER_HOP * hop
        if known(k, hop, record):
            elapsed = record.time - k.cc[slot + TIME]
            rate = (record.bytes - k.cc[slot + BYTES]) / elapsed
            u = min(record.queue, k.cc[slot + QUEUE]) / (record.rate * base) + rate / record.rate
            if u > highest:
                highest, span = u, elapsed
        keep(k, hop, record)
    # without a hop to compare, span is 0 and U stays
    k.cc[UTILIZATION] += min(span / base, 1.0) * (highest - k.cc[UTILIZATION])


@kernel
def on_ack(k, params, now, feedback, records):
    """Set window and rate from the utilization of the busiest hop."""
    _measure(k, feedback, records)
    if k.cc[LAST_UPDATE] == 0.0:
        k.cc[LAST_UPDATE] = k.next_sequence
        return
    additive = params[ADDITIVE] * (k.line_rate / REFERENCE_RATE) * k.base_rtt
    u = k.cc[UTILIZATION]
    if u >= params[ETA] or k.cc[STAGE] >= params[MAX_STAGE]:
        window = k.cc[REFERENCE] / (u / params[ETA]) + additive
        stage = 0.0
    else:
        window = k.cc[REFERENCE] + additive
        stage = k.cc[STAGE] + 1.0
    window = min(max(window, params[MINIMUM] * (k.line_rate / REFERENCE_RATE) * k.base_rtt), k.line_rate * k.base_rtt)
    if feedback.sequence >= k.cc[LAST_UPDATE]:
        k.cc[STAGE] = stage
        k.cc[REFERENCE] = window
        k.cc[LAST_UPDATE] = k.next_sequence
    _set(k, window)
