"""HPCC (Li et al. 2019): utilization of every hop from INT, window set so that the busiest has a little room.

Per acknowledgement, for each hop with its previous record: u = min(q, q') / (B T) + tx rate / B; U is the moving
average of the largest u over one base RTT T. If U >= eta or after max_stage additive steps W = Wc / (U / eta) + W_AI,
else W = Wc + W_AI; the reference window Wc follows once per RTT. The rate is W / T.
"""

from typing import ClassVar

from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control
from simnet.units import RATE, Rate


class Hpcc(Control):
    """Sets the window from the measured utilization of every hop (INT), with a little room to spare."""

    needs_int: ClassVar[bool] = True

    eta: float = Field(0.95, gt=0, le=1, description="target utilization; HPCC paper, section 5.1 [HPCC]")
    max_stage: int = Field(
        5, ge=0, description="additive steps before a multiplicative one; paper 5, its ns-3 run.py 0"
    )
    additive: Rate = Field(RATE.parse("40Mbps"), description="W_AI as a rate at 100 Gb/s, scaled with the link [HPCC]")


ETA, MAX_STAGE, ADDITIVE = range(3)
(UTILIZATION, STAGE, REFERENCE, LAST_UPDATE, SEEN) = range(5)
FIRST_HOP = 8  # then time, bytes and queue of every hop
MOST_HOPS = 10


@kernel
def start(k, params, now):
    """Line rate with a window of one bandwidth-delay product."""
    k.window = k.line_rate * k.base_rtt
    k.rate = k.line_rate
    k.cc[REFERENCE] = k.window
    k.cc[UTILIZATION] = 1.0


@kernel
def _measured(k, feedback, records):
    """Update U from the INT records; False on the first, which has nothing to compare with."""
    base = k.base_rtt
    highest, span = 0.0, base
    compared = k.cc[SEEN] == feedback.hops
    for hop in range(min(feedback.hops, MOST_HOPS)):
        record = records[feedback.first + hop]
        slot = FIRST_HOP + 3 * hop
        if compared:
            elapsed = record.time - k.cc[slot]
            if elapsed > 0.0:
                rate = (record.bytes - k.cc[slot + 1]) / elapsed
                queue = min(record.queue, k.cc[slot + 2])
                u = queue / (record.rate * base) + rate / record.rate
                if u > highest:
                    highest, span = u, elapsed
        k.cc[slot] = record.time
        k.cc[slot + 1] = record.bytes
        k.cc[slot + 2] = record.queue
    k.cc[SEEN] = feedback.hops
    if not compared:
        return False
    span = min(span, base)
    k.cc[UTILIZATION] += span / base * (highest - k.cc[UTILIZATION])
    return True


@kernel
def on_ack(k, params, now, feedback, records):
    """Set window and rate from the utilization of the busiest hop."""
    if not _measured(k, feedback, records):
        return
    additive = params[ADDITIVE] * (k.line_rate / 12.5e9) * k.base_rtt
    u = k.cc[UTILIZATION]
    full_round = feedback.sequence >= k.cc[LAST_UPDATE]
    if u >= params[ETA] or k.cc[STAGE] >= params[MAX_STAGE]:
        window = k.cc[REFERENCE] / (u / params[ETA]) + additive
        stage = 0.0
    else:
        window = k.cc[REFERENCE] + additive
        stage = k.cc[STAGE] + 1.0
    window = min(max(window, k.mtu + k.header), k.line_rate * k.base_rtt)
    if full_round:
        k.cc[STAGE] = stage
        k.cc[REFERENCE] = window
        k.cc[LAST_UPDATE] = k.next_sequence
    k.window = window
    k.rate = window / k.base_rtt
