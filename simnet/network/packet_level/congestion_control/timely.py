"""TIMELY (Mittal et al. 2015) and its patched form (Zhu et al. 2016): the rate follows the gradient of the RTT.

Once per window of data: diff = (1 - a) diff + a (rtt - rtt'), gradient = diff / min RTT.
Below T_low R += delta; above T_high R *= 1 - beta (1 - T_high / rtt). Between them
  TIMELY:  gradient <= 0: R += delta; else R *= 1 - beta gradient. After five increases in a row the step is delta_HAI.
  patched: w = 2 gradient + 1/2 within [0, 1], R = R (1 - beta w (rtt - T_low) / T_low) + delta (1 - w).
One update takes no more than max_decrease: the first RTT after the start of an incast is many base RTTs above the one
before, and who met it would be at the lowest rate at once (the authors' code, as eRPC has it in src/cc/timely.h).
T_low, T_high and the scale of the gradient are the same for all connections, near and far: by thresholds of its own a
neighbour would be the first to be cut, and the last to end.
Where the rate is set once per segment, steps come in proportion to the rate, and TIMELY keeps any split of a link;
the patch has one fixed point, with RTT T_low (1 + N delta / (beta C)).
"""

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from simnet.jit import kernel
from simnet.network.packet_level.parameters import NETWORK_RTT, REFERENCE_RATE, Control, Pfc, Ports
from simnet.params import inside
from simnet.units import RATE, TIME, Rate, Size, Time


class Timely(Control):
    """The rate follows the gradient of the round-trip time (software NICs of 2015, scaled)."""

    ports: ClassVar[Ports] = Ports(pfc=Pfc())

    ewma: float = Field(0.875, gt=0, le=1, description="weight of a new RTT difference [HPCC]")
    beta: float = Field(0.8, gt=0, le=1, description="strength of a decrease [HPCC]")
    additive: Rate = Field(RATE.parse("100Mbps"), description="delta at 100 Gb/s, scaled with the link [HPCC]")
    hyper: Rate = Field(RATE.parse("500Mbps"), description="delta after five increases, scaled with the link [HPCC]")
    t_low: Time | None = Field(
        None, description="default base RTT of the network + 3 us, derived; 2015's value is 50 us [HPCC]"
    )
    t_high: Time | None = Field(None, description="default 5 t_low, derived; 2015's value is 500 us [HPCC]")
    min_rtt: Time | None = Field(
        None, description="scale of the gradient; default base RTT of the network; 2015's is 20 us [HPCC]"
    )
    max_decrease: float = Field(
        0.5, gt=0, le=1, description="most that one decrease takes; half in the authors' code, all in [HPCC]"
    )
    minimum: Rate = Field(RATE.parse("1Gbps"), description="lowest rate at 100 Gb/s, scaled with the link [HPCC]")
    segment: Size | None = Field(
        None, description="bytes from one update to the next; default a window [HPCC], 16 to 64 KB in the paper"
    )

    @model_validator(mode="after")
    def _in_order(self):
        if self.t_low is not None and self.t_high is not None and self.t_low > self.t_high:
            raise inside(("t_low",), f"must not be above t_high, got {TIME.exact(self.t_low)}")
        return self


class PatchedTimely(Timely):
    """TIMELY with a unique, fair fixed point (Zhu et al. 2016)."""

    beta: float = Field(0.008, gt=0, le=1, description="strength of a decrease; Zhu et al. 2016, recalled, unverified")


(EWMA, BETA, ADDITIVE, HYPER, T_LOW, T_HIGH, MIN_RTT, MAX_DECREASE, MINIMUM, SEGMENT) = range(10)
(LAST_RTT, DIFFERENCE, INCREASES, NEXT_UPDATE) = range(4)
HYPER_AFTER = 5  # increases in a row [HPCC]


@kernel
def start(k, params, now):
    """Line rate, no window."""
    k.window = np.inf
    k.rate = k.line_rate


@kernel
def _gradient(k, params, rtt):
    """Smoothed gradient of the RTT; NaN where there is nothing to compare with yet."""
    last = k.cc[LAST_RTT]
    k.cc[LAST_RTT] = rtt
    if last == 0.0:
        return np.nan
    k.cc[DIFFERENCE] += params[EWMA] * (rtt - last - k.cc[DIFFERENCE])
    return k.cc[DIFFERENCE] / (params[NETWORK_RTT] if np.isnan(params[MIN_RTT]) else params[MIN_RTT])


@kernel
def _increase(k, params):
    """Step up; after five in a row by more."""
    k.cc[INCREASES] += 1.0
    step = params[HYPER] if k.cc[INCREASES] > HYPER_AFTER else params[ADDITIVE]
    return k.rate + step * (k.line_rate / REFERENCE_RATE)


@kernel
def on_ack(k, params, now, feedback, patched):
    """Once per window of data (or segment), set the rate by the RTT and its gradient."""
    if feedback.sequence < k.cc[NEXT_UPDATE]:
        return
    k.cc[NEXT_UPDATE] = k.next_sequence
    if not np.isnan(params[SEGMENT]):
        k.cc[NEXT_UPDATE] = feedback.sequence + np.ceil(params[SEGMENT] / k.mtu)
    rtt = feedback.rtt
    gradient = _gradient(k, params, rtt)
    if np.isnan(gradient):
        return
    low = params[NETWORK_RTT] + 3e-6 if np.isnan(params[T_LOW]) else params[T_LOW]
    high = 5.0 * low if np.isnan(params[T_HIGH]) else params[T_HIGH]
    delta = params[ADDITIVE] * (k.line_rate / REFERENCE_RATE)
    if rtt < low:
        rate = _increase(k, params)
    elif rtt > high:
        k.cc[INCREASES] = 0.0
        rate = k.rate * (1.0 - params[BETA] * (1.0 - high / rtt))
    elif patched:
        weight = min(max(2.0 * gradient + 0.5, 0.0), 1.0)
        rate = k.rate * (1.0 - params[BETA] * weight * (rtt - low) / low) + delta * (1.0 - weight)
    elif gradient <= 0.0:
        rate = _increase(k, params)
    else:
        k.cc[INCREASES] = 0.0
        rate = k.rate * (1.0 - params[BETA] * gradient)
    rate = max(rate, k.rate * (1.0 - params[MAX_DECREASE]))
    k.rate = min(max(rate, params[MINIMUM] * (k.line_rate / REFERENCE_RATE)), k.line_rate)
