"""What this suite reads off a model while it runs: ends of flows, queues over time, bytes that have been sent."""

import math

import numpy as np

from simnet.errors import SimnetError
from simnet.network.model import DONE
from simnet.network.packet_level.model import PacketModel


def run_to(model: PacketModel, time: float) -> None:
    """Advance to `time` [s], or to the end of all flows.

    Raises SimnetError where a flow cannot go on.
    """
    while done := model.advance(time):
        for completion in done:
            if completion.outcome != DONE:
                raise SimnetError(completion.detail)


def ends(model: PacketModel) -> np.ndarray:
    """When every flow has arrived at its receiver [s]."""
    run_to(model, math.inf)
    return model.report().flows["end"]


def mean_queue(model: PacketModel, link: int, begin: float, end: float) -> float:
    """Mean of a port's data queue [bytes] from `begin` to `end` [s]."""
    run_to(model, begin)
    first = model.report()
    run_to(model, end)
    last = model.report()
    return (last.ports["queue_area"][link] - first.ports["queue_area"][link]) / (last.time - first.time)


def queue_trace(model: PacketModel, link: int, begin: float, end: float, step: float) -> np.ndarray:
    """A port's data queue [bytes] from `begin` to `end` [s]: means over intervals of `step`."""
    seen = []
    for time in np.arange(begin, end, step):
        run_to(model, time)
        report = model.report()
        seen.append((report.time, report.ports["queue_area"][link]))
    times, areas = np.array(seen).T
    return np.diff(areas) / np.diff(times)


def sent(model: PacketModel, links, begin: float, end: float) -> np.ndarray:
    """Bytes on the wire of some links per second from `begin` to `end` [s]."""
    run_to(model, begin)
    before = model.report()
    run_to(model, end)
    after = model.report()
    return (after.bytes[links] - before.bytes[links]) / (after.time - before.time)


def jain(shares: np.ndarray) -> float:
    """Jain's fairness index: 1 for equal shares, 1/n for one that has all."""
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def acknowledged(model: PacketModel) -> np.ndarray:
    """When the sender of every flow has its last acknowledgement [s], flows on connections of their own.

    A model stops at the last delivery, so this goes on event by event in its own tables.
    """
    run_to(model, math.inf)
    world = model.tables.world[0]
    found = np.full(model.tables.connected, np.inf)
    while not np.isfinite(found).all():
        rows = model.tables.connections[: model.tables.connected]
        through = np.isinf(found) & (rows.unacknowledged == rows.total)
        found[through] = int(world.now) * 1e-12
        following = int(model.tables.heap[: int(world.heap)].min()) >> int(world.bits)
        model.run_kernel(max(int(world.now) + 1, following))
    return found
