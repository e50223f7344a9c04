"""Why a run can go no further: flows without a path, circles of waiting links, packets sent again without end."""

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from simnet.network.model import STUCK, Completion, unreachable
from simnet.network.packet_level import kernel
from simnet.network.packet_level.tables import Tables
from simnet.network.started import StartedGraphs
from simnet.topology.topology import Topology


def cut_off(tables: Tables, graphs: StartedGraphs, topology: Topology) -> Completion | None:
    """A rank whose flow has no path."""
    rows = tables.connections[: tables.connected]
    waiting = np.flatnonzero((rows.paths < 0) & (rows.unacknowledged < rows.total))
    if not len(waiting):
        return None
    connection = rows[waiting[0]]
    number, rank, ends = graphs.ends(connection.oldest, connection, topology)
    return unreachable(number, rank, tables.now, ends)


def stuck(outcome: int, step: float, tables: Tables, graphs: StartedGraphs, topology: Topology) -> Completion | None:
    """A rank of a run that makes no progress, with the reason; outcome: of a kernel that was to go to `step` [s]."""
    nothing_left = outcome == kernel.REACHED and step == math.inf and graphs.active
    if outcome != kernel.STUCK and not nothing_left:
        return None
    c = int(tables.world[0].stuck) - 1
    if c < 0:
        rows = tables.connections[: tables.connected]
        waiting = np.flatnonzero(rows.unacknowledged < rows.total)
        c = int(waiting[0]) if len(waiting) else 0
    connection = tables.connections[c]
    number, rank, (a, b) = graphs.ends(connection.oldest, connection, topology)
    circle = circular_wait(tables.ports, tables.packets)
    if circle:
        lane_of, link_of = zip(*(divmod(row, len(topology.links)) for row in circle))
        names = [topology.link_name(link) for link in link_of]
        if tables.lane_names:
            names = [f"{name} ({tables.lane_names[lane - 1]})" for name, lane in zip(names, lane_of)]
        reason = f"deadlock: these links wait for one another in a circle: {', '.join(names)}"
    else:
        reason = f"livelock: {a} sends to {b} again and again without progress"
    return Completion(number, rank, tables.now, STUCK, reason)


def circular_wait(ports: np.recarray, packets: np.recarray) -> list[int]:
    """Lanes of links that wait for one another in a circle (a deadlock of pauses or credits), or []: rows of `ports`.

    A lane waits for another if it is held back and some packet that came by it stands in the other's queue.
    """
    waits: dict[int, set[int]] = {}
    for row in np.flatnonzero((ports.data_head >= 0) | (ports.control_head >= 0)).tolist():
        for slot in chain(_queued(ports[row].data_head, packets), _queued(ports[row].control_head, packets)):
            if packets[slot].ingress >= 0:
                waits.setdefault(int(packets[slot].ingress), set()).add(row)
    done: set[int] = set()
    for start in sorted(waits):
        path, row = [], start
        while row is not None and row not in done:
            if row in path:
                return path[path.index(row) :]
            path.append(row)
            others = [other for other in sorted(waits[row]) if other in waits and other not in done]
            row = next((other for other in others if other in path), others[0] if others else None)
        done.update(path)
    return []


def _queued(slot: int, packets: np.recarray) -> Iterator[int]:
    """A packet and all behind it in its queue; -1: none."""
    while slot >= 0:
        yield int(slot)
        slot = packets[slot].next
