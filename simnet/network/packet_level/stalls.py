"""Why a run can go no further: flows without a path, circles of waiting links, packets sent again without end."""

import math

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
    for port in np.flatnonzero((ports.data_head >= 0) | (ports.control_head >= 0)).tolist():
        for head in (int(ports[port].data_head), int(ports[port].control_head)):
            slot = head
            while slot >= 0:
                ingress = int(packets[slot].ingress)
                if ingress >= 0:
                    waits.setdefault(ingress, set()).add(port)
                slot = int(packets[slot].next)
    done: set[int] = set()
    for start in sorted(waits):
        path: list[int] = []
        port = start
        while port in waits and port not in done:
            if port in path:
                return path[path.index(port) :]
            path.append(port)
            done_before = [q for q in sorted(waits[port]) if q in waits and (q not in done)]
            if not done_before:
                break
            port = next((q for q in done_before if q in path), done_before[0])
        done.update(path)
    return []
