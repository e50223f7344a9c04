"""What engine and network models speak: the flows of one collective or transfer, as columns.

A flow carries bytes over a connection; a connection joins two ranks; a flow starts when all flows it depends
on have been delivered. A single transfer is a graph of one flow.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class FlowGraph:
    """Flows between the ranks of one group, without their devices.

    Connections (one row each, they keep hash and rate state from flow to flow):
    source, destination: rank within the group [int32]; channel: tells parallel connections of a pair apart [int32];
    rate_cap [bytes/s, float64] limits a connection (inf: none); delay [s, float64] passes before each of its flows.

    Flows (one row each): connection [int32], size [bytes, float64], and the flows to release on delivery in CSR
    form: flow f releases successors[successor_start[f]:successor_start[f + 1]]; `waits` [int32] counts what a
    flow waits for.
    """

    ranks: int
    source: np.ndarray
    destination: np.ndarray
    channel: np.ndarray
    rate_cap: np.ndarray
    delay: np.ndarray
    connection: np.ndarray
    size: np.ndarray
    successor_start: np.ndarray
    successors: np.ndarray
    waits: np.ndarray
    traffic_class: int = 0
    _cache: dict = field(default_factory=dict, repr=False)

    @property
    def flows(self) -> int:
        """Number of flows."""
        return len(self.size)

    def sent(self) -> np.ndarray:
        """Bytes that every rank sends [bytes, float64[ranks]]."""
        return np.bincount(self.source[self.connection], self.size, self.ranks)

    def received(self) -> np.ndarray:
        """Bytes that every rank receives [bytes, float64[ranks]]."""
        return np.bincount(self.destination[self.connection], self.size, self.ranks)


def flow_graph(
    ranks: int,
    source,
    destination,
    connection,
    size,
    before=(),
    after=(),
    *,
    channel=0,
    rate_cap: float = np.inf,
    delay: float = 0.0,
    traffic_class: int = 0,
) -> FlowGraph:
    """Assemble a FlowGraph; scalars are spread over their column.

    source, destination, channel, rate_cap, delay: per connection. connection, size: per flow.
    before, after: one row per dependency; flow after[i] waits for flow before[i].
    """
    source, destination = np.asarray(source, np.int32), np.asarray(destination, np.int32)
    connection = np.asarray(connection, np.int32)
    before, after = np.asarray(before, np.int32), np.asarray(after, np.int32)
    flows = len(connection)
    if len(before) > 1 and np.any(before[1:] < before[:-1]):
        order = np.argsort(before, kind="stable")
        before, after = before[order], after[order]
    start = np.zeros(flows + 1, np.int32)
    np.cumsum(np.bincount(before, minlength=flows), out=start[1:])

    def column(value, dtype, rows):
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype), rows))

    return FlowGraph(
        ranks, source, destination,
        column(channel, np.int32, len(source)),
        column(rate_cap, np.float64, len(source)),
        column(delay, np.float64, len(source)),
        connection,
        column(size, np.float64, flows),
        start, after,
        np.bincount(after, minlength=flows).astype(np.int32),
        traffic_class,
    )  # fmt: skip


def distinct_connections(source, destination, channel=None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Group flows by (source, destination, channel) in order of first appearance.

    Returns the columns source, destination and channel of the connections, and the connection of every flow.
    """
    source, destination = np.asarray(source, np.int64), np.asarray(destination, np.int64)
    channel = np.zeros_like(source) if channel is None else np.asarray(channel, np.int64)
    span = int(max(source.max(initial=0), destination.max(initial=0))) + 1
    key = (channel * span + source) * span + destination
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    rows = np.sort(first)
    return source[rows], destination[rows], channel[rows], rank[inverse]
