"""DCTCP (Alizadeh et al. 2010, RFC 8257): the window shrinks by the smoothed fraction of marked bytes.

Once per window alpha = (1 - g) alpha + g F, F the fraction of its bytes that were marked. At a mark
W = W (1 - alpha / 2), and then not again until what was sent before the cut has been acknowledged; a window without a
cut ends with W = W + one packet. Starts with one bandwidth-delay product and never exceeds it, as hardware does that
starts at line rate.
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control, Ecn, Pfc, Ports


class Dctcp(Control):
    """The window shrinks by the smoothed fraction of marked bytes, once per round trip."""

    # K = 30 KB per 10 Gb/s [HPCC run.py]
    ports: ClassVar[Ports] = Ports(pfc=Pfc(), ecn=Ecn(kmin="300kB", kmax="300kB", at="100Gbps"))

    gain: float = Field(1 / 16, gt=0, le=1, description="g of the moving average of alpha; RFC 8257")
    initial_alpha: float = Field(1.0, ge=0, le=1, description="alpha at the start; HPCC's ns-3 [HPCC]")


(GAIN, INITIAL_ALPHA) = range(2)  # slots of params, in the order of the fields
(ALPHA, ACKED, MARKED, WINDOW_END, CUT_END) = range(5)  # slots of k.cc


@kernel
def start(k, params, now):
    """One bandwidth-delay product."""
    k.window = _most(k)
    k.rate = np.inf
    k.cc[ALPHA] = params[INITIAL_ALPHA]


@kernel
def _most(k):
    """One bandwidth-delay product and a packet, as [HPCC] stops at a full window and not before it."""
    return k.line_rate * k.base_rtt + k.mtu + k.header


@kernel
def on_ack(k, params, now, feedback):
    """Count marked bytes, cut at a mark; once per window update alpha and grow."""
    packet = k.mtu + k.header
    k.cc[ACKED] += feedback.bytes
    if feedback.marked == 1:
        k.cc[MARKED] += feedback.bytes
    full_window = feedback.sequence >= k.cc[WINDOW_END]
    if full_window:
        if k.cc[ACKED] > 0.0 and k.cc[WINDOW_END] > 0.0:  # the first window only sets the mark
            k.cc[ALPHA] += params[GAIN] * (k.cc[MARKED] / k.cc[ACKED] - k.cc[ALPHA])
        k.cc[ACKED] = 0.0
        k.cc[MARKED] = 0.0
        k.cc[WINDOW_END] = k.next_sequence
    if feedback.sequence < k.cc[CUT_END]:
        return
    if feedback.marked == 1:
        k.window = max(k.window * (1.0 - k.cc[ALPHA] / 2.0), packet)
        k.cc[CUT_END] = k.next_sequence
    elif full_window:
        k.window = min(k.window + packet, _most(k))


@kernel
def on_loss(k, params, now, lost, timeout):
    """Halve the window, or start anew after a timeout."""
    packet = k.mtu + k.header
    k.window = packet if timeout else max(k.window / 2.0, packet)
