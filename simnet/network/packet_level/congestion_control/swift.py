"""Swift (Kumar et al. 2020): the window follows a target delay that grows as the window shrinks.

target = base + clamp(a / sqrt(w) + b, 0, range), a = range / (1 / sqrt(w_min) - 1 / sqrt(w_max)), b = -a / sqrt(w_max),
w the window in packets. delay < target: w += ai acked / w (w >= 1) or w += ai acked; else once per RTT
w *= max(1 - beta (delay - target) / delay, 1 - max_mdf). Below one packet a flow is paced, one packet per RTT / w.
(Equations and values as in the public htsim port [UET], whose authors call several a guess.)
"""

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control, Ports, SelectiveRepeat, Transport
from simnet.params import inside
from simnet.units import TIME, Time


class Swift(Control):
    """The window follows a target delay that grows as the window shrinks, below one packet by pacing."""

    transport: ClassVar[Transport] = SelectiveRepeat(duplicates=64)
    # long enough for the queue of many first windows, before there is an RTT to go by
    least_timeout: ClassVar[float] = TIME.parse("1ms")
    ports: ClassVar[Ports] = Ports()  # lossy: no pauses

    base_target: Time | None = Field(None, description="default 5/3 of the base RTT, 20 us at 12 us, derived [UET]")
    flow_range: Time | None = Field(None, description="most that flow scaling adds; default 5 base_target [UET]")
    flow_min: float = Field(0.1, gt=0, description="window in packets at which all of it is added [UET]")
    flow_max: float = Field(100.0, gt=0, description="window in packets from which none is added [UET]")
    additive: float = Field(1.0, gt=0, description="ai, packets per RTT [UET]")
    beta: float = Field(0.8, gt=0, le=1, description="strength of a decrease [UET]")
    max_decrease: float = Field(0.5, gt=0, lt=1, description="max_mdf, most that one decrease takes [UET]")
    minimum: float = Field(0.001, gt=0, description="smallest window in packets; Swift paper, recalled, unverified")

    @model_validator(mode="after")
    def _in_order(self):
        if self.flow_min >= self.flow_max:
            raise inside(("flow_min",), f"must be below flow_max, got {self.flow_min:g} >= {self.flow_max:g}")
        return self


(BASE, RANGE, FLOW_MIN, FLOW_MAX, ADDITIVE, BETA, MAX_DECREASE, MINIMUM) = range(8)
(WINDOW, LAST_DECREASE) = range(2)  # [packets], [s]


@kernel
def _base(k, params):
    return k.base_rtt * (20.0 / 12.0) if np.isnan(params[BASE]) else params[BASE]


@kernel
def target_delay(k, params, window):
    """Target [s] of a window [packets]."""
    base = _base(k, params)
    span = 5.0 * base if np.isnan(params[RANGE]) else params[RANGE]
    a = span / (1.0 / np.sqrt(params[FLOW_MIN]) - 1.0 / np.sqrt(params[FLOW_MAX]))
    scaled = a / np.sqrt(window) - a / np.sqrt(params[FLOW_MAX])
    return base + min(max(scaled, 0.0), span)


@kernel
def _set(k, params, window, rtt):
    """A window [packets]; below one packet, pace. No more than fills the target at line rate is of use."""
    packet = k.mtu + k.header
    most = k.line_rate * target_delay(k, params, params[FLOW_MAX]) / packet
    window = min(max(window, params[MINIMUM]), max(most, 1.0))
    k.cc[WINDOW] = window
    k.window = max(window, 1.0) * packet
    k.rate = np.inf if window >= 1.0 else window * packet / rtt


@kernel
def start(k, params, now):
    """One bandwidth-delay product."""
    k.cc[LAST_DECREASE] = -1.0
    _set(k, params, k.line_rate * k.base_rtt / (k.mtu + k.header), k.base_rtt)


@kernel
def on_ack(k, params, now, feedback):
    """Grow below the target delay, shrink above it once per RTT."""
    window, delay = k.cc[WINDOW], feedback.rtt
    target = target_delay(k, params, window)
    if delay < target:
        acked = feedback.bytes / (k.mtu + k.header)
        window += params[ADDITIVE] * acked / max(window, 1.0)
    elif now - k.cc[LAST_DECREASE] >= delay:
        factor = 1.0 - params[BETA] * (delay - target) / delay
        window *= max(factor, 1.0 - params[MAX_DECREASE])
        k.cc[LAST_DECREASE] = now
    _set(k, params, window, delay)


@kernel
def on_loss(k, params, now, lost, timeout):
    """Cut by the most that a decrease takes, once per RTT."""
    rtt = max(k.rtt, k.base_rtt)
    if timeout or now - k.cc[LAST_DECREASE] >= rtt:
        k.cc[LAST_DECREASE] = now
        _set(k, params, k.cc[WINDOW] * (1.0 - params[MAX_DECREASE]), rtt)
