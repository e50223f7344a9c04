"""NSCC of Ultra Ethernet: the window grows and shrinks by both marks and queueing delay, and adapts fast to trims.

a = BDP / (100 Gb/s 12 us), b = target / 12 us, alpha = 4 MSS a b / target, fi = 5 MSS a, eta = 0.15 MSS a.
delay = rtt - base; per acknowledgement of `n` bytes:
  no mark, delay >= target: inc += fi n
  no mark, delay < target:  fast increase W += 0.25 a n once delay was below 1 us for a window, else
                            inc += alpha n (target - delay)
  mark, delay >= target:    once per base RTT, if the average delay is above target:
                            W *= max(1 - 0.8 (average - target) / average, 0.5)
  mark, delay < target:     nothing
Every 8 packets or RTT: W += inc / W; every RTT W += eta. A trim takes its bytes off W.
Quick adapt: once per base RTT + target, after a trim, a loss or a delay above 4 target, if fewer bytes than an eighth
of the largest window arrived: W = those bytes, and what is in flight is ignored. (Equations of htsim's port [UET].)
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import REFERENCE_RATE, Control, Ports, Transport, TrimNack


class Nscc(Control):
    """Ultra Ethernet's window control by marks, delay and trims (needs trimming)."""

    transport: ClassVar[Transport] = TrimNack()
    ports: ClassVar[Ports] = Ports(trimming=True)
    ack_every: ClassVar[int] = 4  # 16 kB [UET]
    marking_bdps: ClassVar[tuple[float, float]] = (0.2, 0.8)
    needs_trimming: ClassVar[bool] = True

    target: float = Field(0.75, gt=0, description="queueing delay aimed at, in base RTTs [UET]")
    most: float = Field(1.5, gt=0, description="largest window and the first, in bandwidth-delay products [UET]")
    proportional: float = Field(4.0, ge=0, description="packets per RTT without delay [UET]")
    fair: float = Field(5.0, ge=0, description="packets per RTT without marks but with delay [UET]")
    steady: float = Field(0.15, ge=0, description="eta, packets per RTT [UET]")
    fast: float = Field(0.25, ge=0, description="fast increase, of the bytes acknowledged [UET]")
    decrease: float = Field(0.8, gt=0, le=1, description="gamma, strength of a decrease [UET]")
    smoothing: float = Field(0.0125, gt=0, le=1, description="weight of a new delay in the average [UET]")


(TARGET, MOST, PROPORTIONAL, FAIR, STEADY, FAST, DECREASE, SMOOTHING) = range(8)
(
    BASE, WINDOW, INCREASE, RECEIVED, LAST_ADJUST, LAST_STEADY, LAST_DECREASE, AVERAGE, FAST_BYTES,
    ACHIEVED, ADAPT_END, TRIGGERED, IGNORE,
) = range(13)  # fmt: skip
REFERENCE_TIME = 12e-6  # [s] the gains are scaled to 100 Gb/s and 12 us
UNDELAYED = 1e-6  # [s] a delay below it allows the fast increase
ADJUST_PACKETS = 8
FAVOURABLE = 0.25  # of the base RTT, counted as delay for an unmarked packet that was late


@kernel
def start(k, params, now):
    """The largest window."""
    k.rate = np.inf
    k.cc[BASE] = k.base_rtt
    k.cc[LAST_ADJUST] = now
    k.cc[LAST_STEADY] = now
    k.cc[LAST_DECREASE] = now
    k.cc[ADAPT_END] = now + k.base_rtt * (1.0 + params[TARGET])
    _set(k, params, np.inf)


@kernel
def _set(k, params, window):
    """A window between one packet and the largest."""
    packet = k.mtu + k.header
    most = max(params[MOST] * k.line_rate * k.cc[BASE], packet)
    k.cc[WINDOW] = min(max(window, packet), most)
    k.window = k.cc[WINDOW]


@kernel
def _quick_adapt(k, params, now, delay, loss):
    """At the end of its period, set the window to what has arrived; True if it did."""
    if now <= k.cc[ADAPT_END]:
        return False
    target = params[TARGET] * k.cc[BASE]
    achieved = k.cc[ACHIEVED]
    k.cc[ACHIEVED] = 0.0
    k.cc[ADAPT_END] = now + k.cc[BASE] + target
    congested = k.cc[TRIGGERED] == 1.0 or loss or delay > 4.0 * target
    k.cc[TRIGGERED] = 0.0
    if not congested or achieved >= params[MOST] * k.line_rate * k.cc[BASE] / 8.0:
        return False
    _set(k, params, achieved)
    k.cc[IGNORE] = k.inflight
    k.cc[INCREASE] = 0.0
    return True


@kernel
def _ignored(k, size):
    """True while packets come back that were sent before the quick adapt."""
    if k.cc[IGNORE] <= 0.0:
        return False
    k.cc[IGNORE] -= size
    return True


@kernel
def _average(k, params, delay):
    k.cc[AVERAGE] += params[SMOOTHING] * (delay - k.cc[AVERAGE])


@kernel
def _react(k, params, now, delay, feedback):
    """The four cases of mark and delay."""
    target = params[TARGET] * k.cc[BASE]
    scale = k.line_rate * k.cc[BASE] / (REFERENCE_RATE * REFERENCE_TIME)
    acked = feedback.bytes
    k.cc[FAST_BYTES] = k.cc[FAST_BYTES] + acked if delay < UNDELAYED and feedback.marked == 0 else 0.0
    if feedback.marked == 0 and delay >= target:
        k.cc[INCREASE] += params[FAIR] * k.mtu * scale * acked
    elif feedback.marked == 0:
        if k.cc[FAST_BYTES] > k.cc[WINDOW]:
            _set(k, params, k.cc[WINDOW] + params[FAST] * scale * acked)
        else:
            alpha = params[PROPORTIONAL] * k.mtu * scale * (target / REFERENCE_TIME) / target
            k.cc[INCREASE] += alpha * acked * (target - delay)
    elif delay >= target and k.cc[AVERAGE] > target and now - k.cc[LAST_DECREASE] > k.cc[BASE]:
        excess = (k.cc[AVERAGE] - target) / k.cc[AVERAGE]
        _set(k, params, k.cc[WINDOW] * max(1.0 - params[DECREASE] * excess, 0.5))
        k.cc[LAST_DECREASE] = now


@kernel
def _adjust(k, params, now):
    """Put collected increases into the window."""
    scale = k.line_rate * k.cc[BASE] / (REFERENCE_RATE * REFERENCE_TIME)
    if k.cc[RECEIVED] > ADJUST_PACKETS * k.mtu or now - k.cc[LAST_ADJUST] > k.cc[BASE]:
        window = k.cc[WINDOW] + k.cc[INCREASE] / k.cc[WINDOW]
        if now - k.cc[LAST_STEADY] > k.cc[BASE]:
            window += params[STEADY] * k.mtu * scale
            k.cc[LAST_STEADY] = now
        _set(k, params, window)
        k.cc[INCREASE] = 0.0
        k.cc[RECEIVED] = 0.0
        k.cc[LAST_ADJUST] = now


@kernel
def on_ack(k, params, now, feedback):
    """Marks and delay of an acknowledged packet."""
    k.cc[BASE] = min(k.cc[BASE], feedback.rtt)
    delay = feedback.rtt - k.cc[BASE]
    late = delay > params[TARGET] * k.cc[BASE]
    _average(k, params, FAVOURABLE * k.cc[BASE] if feedback.marked == 0 and late else delay)
    k.cc[ACHIEVED] += feedback.bytes
    k.cc[RECEIVED] += feedback.bytes
    if _quick_adapt(k, params, now, delay, False) or _ignored(k, feedback.bytes):
        return
    _react(k, params, now, delay, feedback)
    _adjust(k, params, now)


@kernel
def on_loss(k, params, now, lost, timeout):
    """A trimmed or lost packet: adapt quickly, or take its bytes off the window."""
    if timeout:
        k.cc[TRIGGERED] = 1.0
        return
    _average(k, params, k.cc[BASE])
    k.cc[TRIGGERED] = 1.0
    if not _quick_adapt(k, params, now, 0.0, True) and not _ignored(k, lost):
        _set(k, params, k.cc[WINDOW] - lost)
