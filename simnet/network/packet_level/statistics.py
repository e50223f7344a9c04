"""What ports and connections have counted, and which settings never acted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simnet.network.packet_level.port_settings import PortSettings
from simnet.network.packet_level.state import PFC, SECOND
from simnet.units import SIZE


def of_ports(rows: np.recarray, world: np.record) -> dict[str, np.ndarray]:
    """The columns `ports` of a NetworkReport, by link; pauses and paused time are sums over its lanes."""
    now, links = int(world.now), int(world.links)
    paused = _paused_time(rows, now)
    ports = rows[:links]
    waiting = ports.data_bytes * np.maximum(now - ports.area_since, 0.0)
    return {
        "packets": np.array(ports.packets_out),
        "marked": np.array(ports.marked),
        "dropped": np.array(ports.dropped),
        "dropped_bytes": np.array(ports.dropped_bytes, np.float64),
        "trimmed": np.array(ports.trimmed),
        "pauses": rows.pauses.reshape(-1, links).sum(axis=0),
        "paused": paused.reshape(-1, links).sum(axis=0) / SECOND,
        "peak_queue": np.array(ports.peak, np.float64),
        "queue_area": (ports.area + waiting) / SECOND,
        "kmin": np.where(ports.kmax > 0, ports.kmin, 0.0),
        "kmax": np.array(ports.kmax, np.float64),
        "xoff": np.where(ports.lossless == PFC, ports.xoff, 0.0),
    }


def of_priorities(rows: np.recarray, world: np.record, queues: Sequence[PortSettings]) -> list[dict[str, Any]]:
    """The rows `priorities` of a NetworkReport, the lowest number first. queues: of a port, by lane."""
    if len(queues) == 1:
        return []
    lanes, found = rows.reshape(-1, int(world.links))[1:], []
    for queue, lane in zip(queues, lanes):
        counts = {name: int(lane[name].sum()) for name in ("marked", "dropped", "pauses")}
        paused = float(_paused_time(lane, int(world.now)).sum()) / SECOND
        of_queue = {"priority": queue.number, "share": queue.share, "peak_queue": float(lane["peak"].max(initial=0))}
        found.append(of_queue | counts | {"paused": paused})
    return sorted(found, key=lambda row: row["priority"])


def _paused_time(rows: np.recarray, now: int) -> np.ndarray:
    """[ps], those that stand included."""
    return rows["paused_time"] + np.where(rows["paused"] == 1, now - rows["paused_since"], 0)


def of_connections(connections: np.recarray, world: np.record) -> dict[str, int]:
    """The counts `transport` of a NetworkReport."""
    return {
        "retransmitted_packets": int(connections.resent_packets.sum()),
        "retransmitted_bytes": int(connections.resent_bytes.sum()),
        "timeouts": int(connections.timeouts.sum()),
        "duplicates": int(world.duplicates),
    }


def never_acted(queues: Sequence[PortSettings], rows: np.recarray, links: int) -> list[str]:
    """Sentences about settings of ports that made no difference to what has happened so far.

    queues: of a port. rows: of PORT.
    """
    sentences = []
    marked = rows[links:] if len(queues) > 1 else rows[:links]
    marked = marked[marked.kmax > 0]
    if len(marked) and not rows.marked.any():
        peak, kmin = SIZE.format(marked.peak.max()), SIZE.format(marked.kmin.min())
        sentences.append(f"marking never acted: the longest queue was {peak}, Kmin is {kmin}")
    if (rows.lossless == PFC).any() and not rows.pauses.any():
        sentences.append("PFC never paused a link")
    if any(queue.trimming for queue in queues) and not rows.trimmed.any():
        sentences.append("trimming never acted: every packet found room")
    return sentences
