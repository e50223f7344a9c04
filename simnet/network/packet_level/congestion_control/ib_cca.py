"""InfiniBand congestion control (IBA vol. 1, annex A10), over links with credits instead of pauses.

Switches mark packets (FECN) where a queue passes a threshold and the port has credits, the root of congestion; the
receiver returns the mark (BECN). The sender then raises CCTI by CCTI_Increase up to CCTI_Limit, and a timer lowers it
by one per CCTI_Timer until 0. The table CCT, linear here, makes of it the delay between packets: rate B / (1 + CCTI).
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control, Ecn, Ports
from simnet.units import TIME, Time

_RECALLED = "Gran et al. 2010, recalled, unverified"


class IbCca(Control):
    """InfiniBand's congestion control over links with credits: marks raise an index into a table of delays."""

    # threshold 15 of 15, the lowest; how many bytes that is is left to the switch: four large packets, assumed
    ports: ClassVar[Ports] = Ports(ecn=Ecn(kmin="16kB", kmax="16kB"))
    link_credits: ClassVar[bool] = True

    increase: int = Field(1, ge=1, description=f"CCTI_Increase, per BECN; {_RECALLED}")
    limit: int = Field(127, ge=1, description=f"CCTI_Limit; {_RECALLED}")
    minimum: int = Field(0, ge=0, description=f"CCTI_Min; {_RECALLED}")
    timer: Time = Field(TIME.parse("153.6us"), gt=0, description=f"CCTI_Timer, 150 units of 1.024 us; {_RECALLED}")


(INCREASE, LIMIT, MINIMUM, TIMER) = range(4)
(CCTI, EXPIRY) = range(2)


@kernel
def _set(k):
    k.rate = k.line_rate / (1.0 + k.cc[CCTI])


@kernel
def start(k, params, now):
    """Line rate, no window."""
    k.window = np.inf
    k.cc[CCTI] = params[MINIMUM]
    _set(k)


@kernel
def before_send(k, params, now):
    """Count down what the timer has by `now`."""
    if k.cc[CCTI] > params[MINIMUM] and k.cc[EXPIRY] <= now:
        expiries = np.floor((now - k.cc[EXPIRY]) / params[TIMER]) + 1.0
        k.cc[CCTI] = max(k.cc[CCTI] - expiries, params[MINIMUM])
        k.cc[EXPIRY] += expiries * params[TIMER]
        _set(k)


@kernel
def on_ack(k, params, now, feedback):
    """A BECN, if the acknowledgement carries one."""
    if feedback.marked == 1:
        if k.cc[CCTI] <= params[MINIMUM]:
            k.cc[EXPIRY] = now + params[TIMER]
        k.cc[CCTI] = min(k.cc[CCTI] + params[INCREASE], params[LIMIT])
        _set(k)
