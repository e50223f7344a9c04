"""EQDS (Olteanu et al. 2022) and UEC's RCCC: the receiver grants credit at a little less than its link's rate.

A sender may send an unsolicited window when it begins after idling, then only against credit. Every receiving port
has one pull pacer: it serves the senders that want credit round robin and grants one packet at a time at
pull_rate x line rate, as long as no more than `window` is granted and has not arrived. Switches trim what does not
fit, and a trimmed packet is asked for and granted again. The pacer itself is in `pulls`.
What a sender wants is told by its data packets: all packets that it will ever send beyond its unsolicited ones.
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control, Ports, Transport, TrimNack


class Eqds(Control):
    """The receiver grants credit, one packet at a time, to its senders round robin (needs trimming)."""

    transport: ClassVar[Transport] = TrimNack()
    ports: ClassVar[Ports] = Ports(trimming=True)
    needs_trimming: ClassVar[bool] = True

    unsolicited: float = Field(1.5, gt=0, description="bandwidth-delay products sent without credit at first [UET]")
    window: float = Field(1.5, gt=0, description="most that is granted and under way, in the same unit [UET]")
    pull_rate: float = Field(0.99, gt=0, le=1, description="rate of grants, of the receiving link [UET]")


(UNSOLICITED, WINDOW, PULL_RATE) = range(3)
(FREE, LOST, CREDITED) = range(3)  # of k.cc [packets]: sent without credit, lost without a trace, credited so far
(WANTED, TRIMS, ARRIVED, GRANTED) = range(4)  # of k.receiver [packets]


@kernel
def _bdp(k):
    """Bandwidth-delay product [packets]."""
    return k.line_rate * k.base_rtt / (k.mtu + k.header)


@kernel
def _allow(k, packets):
    """Let the sender have at least so many packets, beyond its credit if need be."""
    more = packets - np.floor(k.credit / (k.mtu + k.header))
    if more > 0.0:
        k.credit += more * (k.mtu + k.header)
        k.cc[FREE] += more


@kernel
def start(k, params, now):
    """No window, no pacing, an unsolicited window."""
    k.window = np.inf
    k.rate = np.inf
    k.credit = 0.0
    wake(k, params, True)


@kernel
def wake(k, params, idle):
    """A message begins where all others have been sent (idle: and have arrived)."""
    _allow(k, np.ceil(params[UNSOLICITED] * _bdp(k)) if idle else 1.0)


@kernel
def wanted(k):
    """Packets for which the sender needs credit, since its beginning."""
    return k.total + k.cc[LOST] - k.cc[FREE]


@kernel
def on_credit(k, granted):
    """The receiver has granted so many packets since its beginning."""
    if granted > k.cc[CREDITED]:
        k.credit += (granted - k.cc[CREDITED]) * (k.mtu + k.header)
        k.cc[CREDITED] = granted


@kernel
def on_loss(k, params, now, lost, timeout):
    """After a timeout one packet may tell the receiver what is wanted; trims are counted by the receiver."""
    if timeout:
        k.cc[LOST] += np.ceil(lost / (k.mtu + k.header))
        _allow(k, 1.0)


@kernel
def on_data(k, params, now, packet):
    """Note what has arrived and what is wanted."""
    k.receiver[ARRIVED] += 1.0
    k.receiver[TRIMS] += packet.trimmed
    k.receiver[WANTED] = max(k.receiver[WANTED], packet.acknowledged)


@kernel
def wants_credit(k, params):
    """True if the receiver may grant this sender a packet."""
    under_way = k.receiver[GRANTED] + k.cc[FREE] - k.receiver[ARRIVED] - k.cc[LOST]
    return k.receiver[GRANTED] < k.receiver[WANTED] + k.receiver[TRIMS] and under_way < params[WINDOW] * _bdp(k)


@kernel
def grant(k):
    """Grant a packet; returns the number granted since the beginning."""
    k.receiver[GRANTED] += 1.0
    return k.receiver[GRANTED]
