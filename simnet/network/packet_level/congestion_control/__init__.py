"""Congestion controls: frozen parameters and compiled hooks, one file each; this is their table.

Adding one: a file with its Params and hooks, a row here, a number and a branch in each hook that it has.
`k` is the record of a connection, `params` its row of numbers, `now` [s], `feedback` a record of
`connection_state.FEEDBACK`, `packet` one of `state.PACKET`.
"""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.congestion_control import (
    dcqcn,
    dctcp,
    eqds,
    hpcc,
    ib_cca,
    nscc,
    powertcp,
    simple,
    swift,
    timely,
)
from simnet.network.packet_level.parameters import Control

CONGESTION_CONTROLS: dict[str, type[Control]] = {
    "none": simple.NoControl,
    "fixed_window": simple.FixedWindow,
    "dctcp": dctcp.Dctcp,
    "hpcc": hpcc.Hpcc,
    "dcqcn": dcqcn.Dcqcn,
    "timely": timely.Timely,
    "patched_timely": timely.PatchedTimely,
    "powertcp": powertcp.PowerTcp,
    "swift": swift.Swift,
    "nscc": nscc.Nscc,
    "eqds": eqds.Eqds,
    "ib_cca": ib_cca.IbCca,
}
# in the order of the table
(NONE, FIXED_WINDOW, DCTCP, HPCC, DCQCN, TIMELY, PATCHED_TIMELY, POWERTCP, SWIFT, NSCC, EQDS, IB_CCA) = range(12)


def name_of(control: Control) -> str:
    """Row of a control in the table."""
    kind = getattr(control, "kind", None)
    return kind or next(name for name, row in CONGESTION_CONTROLS.items() if type(control) is row)


def code_of(control: Control) -> int:
    """Number of a control in the kernels."""
    return list(CONGESTION_CONTROLS).index(name_of(control))


@kernel
def start(kind, k, params, now):
    """A connection sends for the first time: set its window [bytes] and rate [bytes/s]."""
    if kind == NONE:
        simple.start_unlimited(k, params, now)
    elif kind == FIXED_WINDOW:
        simple.start_window(k, params, now)
    elif kind == DCTCP:
        dctcp.start(k, params, now)
    elif kind == HPCC:
        hpcc.start(k, params, now)
    elif kind == DCQCN:
        dcqcn.start(k, params, now)
    elif kind in (TIMELY, PATCHED_TIMELY):
        timely.start(k, params, now)
    elif kind == POWERTCP:
        powertcp.start(k, params, now)
    elif kind == SWIFT:
        swift.start(k, params, now)
    elif kind == NSCC:
        nscc.start(k, params, now)
    elif kind == EQDS:
        eqds.start(k, params, now)
    elif kind == IB_CCA:
        ib_cca.start(k, params, now)


@kernel
def wake(kind, k, params, idle):
    """A message begins on a connection that has sent all it had (idle: and all of it has been acknowledged)."""
    if kind == EQDS:
        eqds.wake(k, params, idle)


@kernel
def before_send(kind, k, params, now):
    """Bring what depends on time alone up to date: called before a connection may send and before each ACK."""
    if kind == DCQCN:
        dcqcn.before_send(k, params, now)
    elif kind == IB_CCA:
        ib_cca.before_send(k, params, now)


@kernel
def announced(kind, k):
    """A number that a data packet carries to the receiver."""
    return eqds.wanted(k) if kind == EQDS else 0.0


@kernel
def on_ack(kind, k, params, now, feedback, records):
    """A packet has been acknowledged."""
    if kind == DCTCP:
        dctcp.on_ack(k, params, now, feedback)
    elif kind == HPCC:
        hpcc.on_ack(k, params, now, feedback, records)
    elif kind == DCQCN:
        dcqcn.on_ack(k, params, now, feedback)
    elif kind in (TIMELY, PATCHED_TIMELY):
        timely.on_ack(k, params, now, feedback, kind == PATCHED_TIMELY)
    elif kind == POWERTCP:
        powertcp.on_ack(k, params, now, feedback, records)
    elif kind == SWIFT:
        swift.on_ack(k, params, now, feedback)
    elif kind == NSCC:
        nscc.on_ack(k, params, now, feedback)
    elif kind == IB_CCA:
        ib_cca.on_ack(k, params, now, feedback)


@kernel
def on_loss(kind, k, params, now, lost, timeout):
    """Packets of `lost` bytes are known to be lost (or trimmed), by a NACK or by a timeout."""
    if kind == DCTCP:
        dctcp.on_loss(k, params, now, lost, timeout)
    elif kind == SWIFT:
        swift.on_loss(k, params, now, lost, timeout)
    elif kind == NSCC:
        nscc.on_loss(k, params, now, lost, timeout)
    elif kind == EQDS:
        eqds.on_loss(k, params, now, lost, timeout)


@kernel
def on_data(kind, k, params, now, packet):
    """A data packet has arrived, perhaps trimmed; returns 1 if its acknowledgement shall echo a mark."""
    if kind == DCQCN:
        return dcqcn.on_data(k, params, now, np.int64(packet.marked))
    if kind == EQDS:
        eqds.on_data(k, params, now, packet)
    return np.int64(packet.marked)
