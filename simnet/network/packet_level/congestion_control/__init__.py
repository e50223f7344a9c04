"""Congestion controls: frozen parameters and compiled hooks, one file each; this is their table.

Adding one: a file with its Params and hooks, a row here, a number and a branch in each hook that it has.
`k` is the record of a connection, `params` its row of numbers, `now` [s], `feedback` a record of `state.FEEDBACK`.
"""

from simnet.jit import kernel
from simnet.network.packet_level.congestion_control import dctcp, hpcc, simple
from simnet.network.packet_level.parameters import Control

CONGESTION_CONTROLS: dict[str, type[Control]] = {
    "none": simple.NoControl,
    "fixed_window": simple.FixedWindow,
    "dctcp": dctcp.Dctcp,
    "hpcc": hpcc.Hpcc,
}
NONE, FIXED_WINDOW, DCTCP, HPCC = range(4)  # in the order of the table


def name_of(control: Control) -> str:
    """Row of a control in the table."""
    return next(name for name, row in CONGESTION_CONTROLS.items() if isinstance(control, row))


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


@kernel
def before_send(kind, k, params, now):
    """Bring what depends on time alone up to date: called before a connection may send and before each ACK."""


@kernel
def on_ack(kind, k, params, now, feedback, records):
    """A packet has been acknowledged."""
    if kind == DCTCP:
        dctcp.on_ack(k, params, now, feedback)
    elif kind == HPCC:
        hpcc.on_ack(k, params, now, feedback, records)


@kernel
def on_loss(kind, k, params, now, lost, timeout):
    """Packets of `lost` bytes are known to be lost (or trimmed), by a NACK or by a timeout."""
    if kind == DCTCP:
        dctcp.on_loss(k, params, now, lost, timeout)


@kernel
def on_data(kind, k, params, now, marked):
    """A data packet has arrived; returns 1 if its acknowledgement shall echo a mark."""
    return marked
