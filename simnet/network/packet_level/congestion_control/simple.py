"""No control (line rate, held back by PFC alone) and a fixed window."""

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import Control


class NoControl(Control):
    """Line rate without a window; only pauses hold a sender back."""


class FixedWindow(Control):
    """A constant window in units of the bandwidth-delay product, clocked by acknowledgements."""

    bdps: float = Field(1.0, gt=0, description="window in bandwidth-delay products; IRN caps at 1 [CW]")


@kernel
def start_unlimited(k, params, now):
    """No window, no pacing."""
    k.window = np.inf
    k.rate = np.inf


@kernel
def start_window(k, params, now):
    """A window of params[0] bandwidth-delay products, in whole packets (rounded up, so that 1 fills the link)."""
    packet = k.mtu + k.header
    k.window = packet * np.ceil(params[0] * k.line_rate * k.base_rtt / packet)
    k.rate = np.inf
