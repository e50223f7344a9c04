"""What engine and network models speak: the flows of one collective or transfer, as columns.

A flow carries bytes over a connection; a connection joins two ranks. A flow starts when every flow that it waits for
has been delivered; behind a flow of its own connection it starts when that one's last byte has left, as messages of
one queue pair follow one another without a gap. A flow from a rank to itself uses no link and takes no time: it joins
many dependencies into one. A single transfer is a graph of one flow.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class FlowGraph:
    """Flows between the ranks of one group, without their devices.

    Connections (one row each, they keep hash and rate state from flow to flow):
    source, destination: rank within the group [int32]; channel: tells parallel connections of a pair apart [int32];
    rate_cap [bytes/s, float64] limits a connection (inf: none); delay [s, float64] passes before each of its flows.

    Flows (one row each): connection [int32], size [bytes, float64], and the flows to release in CSR form:
    flow f releases successors[successor_start[f]:successor_start[f + 1]]; `waits` [int32] counts what a flow waits for.
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

    @property
    def flows(self) -> int:
        """Number of flows."""
        return len(self.size)

    @property
    def connections(self) -> int:
        """Number of connections."""
        return len(self.source)

    def dependencies(self) -> tuple[np.ndarray, np.ndarray]:
        """Flows before and after, one row for each time that a flow waits for another [int32]."""
        counts = np.diff(self.successor_start)
        return np.repeat(np.arange(self.flows, dtype=np.int32), counts), self.successors

    def sent(self, size: np.ndarray | None = None) -> np.ndarray:
        """Bytes that every rank puts on the wire [bytes, float64[ranks]]. size: of every flow, if not the whole."""
        return self._carried(self.source, size)

    def received(self, size: np.ndarray | None = None) -> np.ndarray:
        """Bytes that every rank gets from the wire [bytes, float64[ranks]]. size: of every flow, if not the whole."""
        return self._carried(self.destination, size)

    def _carried(self, end: np.ndarray, size: np.ndarray | None) -> np.ndarray:
        carried = np.bincount(self.connection, self.size if size is None else size, self.connections)
        carried[self.source == self.destination] = 0.0
        return np.bincount(end, carried, self.ranks)


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
    rate_cap=np.inf,
    delay=0.0,
    traffic_class: int = 0,
) -> FlowGraph:
    """Assemble a FlowGraph; scalars are spread over their column.

    source, destination, channel, rate_cap, delay: per connection. connection, size: per flow.
    before, after: one row per dependency; flow after[i] waits for flow before[i]. Rows sorted by `before` save a sort.
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


class FlowGraphBuilder:
    """Collects blocks of flows and their dependencies; `build` merges flows of a pair and channel into connections."""

    def __init__(self, ranks: int):
        self.ranks = ranks
        self._count = 0
        self._flows: list[tuple[np.ndarray, ...]] = []
        self._edges: list[tuple[np.ndarray, np.ndarray]] = []

    def flows(self, source, destination, size, channel=0) -> np.ndarray:
        """Add flows and return their numbers [int32], in the common shape of the arguments.

        source, destination: ranks; size [bytes].
        """
        columns = np.broadcast_arrays(source, destination, channel, np.asarray(size, np.float64))
        self._flows.append(tuple(c.ravel() for c in columns))
        numbers = np.arange(self._count, self._count + columns[0].size, dtype=np.int32)
        self._count += columns[0].size
        return numbers.reshape(columns[0].shape)

    def wait(self, after, before) -> None:
        """Flow after[i] waits for flow before[i]; the two are broadcast against each other."""
        after, before = np.broadcast_arrays(after, before)
        self._edges.append((before.ravel().astype(np.int32), after.ravel().astype(np.int32)))

    def join(self, ranks, before=()) -> np.ndarray:
        """Flows from every rank to itself, released by before[i, :]; later flows wait for one of them, not for many."""
        joined = self.flows(ranks, ranks, 0.0)
        if len(before):
            self.wait(joined[:, None], before)
        return joined

    def build(self) -> FlowGraph:
        """The FlowGraph of everything added."""
        none = np.zeros(0, np.int32)
        source, destination, channel, size = (
            [np.concatenate(column) for column in zip(*self._flows)] if self._flows else [none] * 4
        )
        before, after = [np.concatenate(c) for c in zip(*self._edges)] if self._edges else (none, none)
        source, destination, channel, connection = distinct_connections(source, destination, channel)
        return flow_graph(self.ranks, source, destination, connection, size, before, after, channel=channel)


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
