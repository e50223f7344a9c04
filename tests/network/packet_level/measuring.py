"""What tests look at while a packet-level model runs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from simnet.network.packet_level.credits import take_credits
from simnet.network.packet_level.kernel import REACHED
from simnet.topology.topology import Topology


def run_to(model, time: float) -> None:
    """Advance a model to `time` [s], or to the end of all flows."""
    while model.advance(time):
        pass


def settle(model) -> None:
    """Run on until no packet or acknowledgement is under way, and no credit."""
    t = model.tables
    assert model.run_kernel(int(t.world[0].now) + 10**10) == REACHED
    for row in range(len(t.ports)):  # credits that have come back and were not needed
        take_credits(row, t.world[0].now, t.ports, t.packets, t.world)


def check_that_nothing_is_left(model) -> None:
    """Every byte sent has come over its wire, and no queue, pause or account holds any."""
    settle(model)
    ports = model.tables.ports
    assert np.array_equal(ports.bytes_in, ports.bytes_out)
    for name in ("data_bytes", "control_bytes", "ingress_bytes", "pausing", "paused"):
        assert not ports[name].any(), name
    for name in ("data_head", "control_head", "wire_head", "credit_head"):
        assert (ports[name] == -1).all(), name
    assert model.tables.world[0].free_packets == len(model.tables.packets)


def link_to(topology: Topology, a: str, b: str) -> int:
    """The link from device `a` to device `b`."""
    ends = topology.id_of(a), topology.id_of(b)
    return next(i for i, link in enumerate(topology.links) if (link.source, link.destination) == ends)


def delivered(model) -> np.ndarray:
    """Packets acknowledged so far, per connection."""
    return np.array(model.tables.connections.unacknowledged[: model.tables.connected], float)


def printed_without_jit(module: str, code: str) -> list[str]:
    """Lines that `code` prints with the names of a test module in a process whose kernels are plain Python."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"from {module} import *\n{code}"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    ).stdout.splitlines()  # fmt: skip
