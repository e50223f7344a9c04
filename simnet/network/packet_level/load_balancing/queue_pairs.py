"""Several queue pairs for every pair of ranks: more hashes, so more paths (E-ECMP and queue-pair scaling).

A connection becomes `queue_pairs` connections, each with its own path, sequence numbers, window and rate. Messages are
split evenly over them, and one has arrived when all its parts have; or each goes whole to the next queue pair.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from simnet.flow_graph import FlowGraph
from simnet.params import Params


class EcmpQp(Params):
    """As ecmp, with several queue pairs between two ranks, each hashed on its own (queue-pair scaling)."""

    queue_pairs: int = Field(
        4,
        ge=1,
        le=64,
        description="per pair of ranks and channel; Meta's choice, Gangidhar et al. 2024 [M: unverified]",
    )
    messages: Literal["split", "round_robin"] = Field(
        "split", description="every message over all queue pairs, or whole messages in turn (QP scaling)"
    )


@dataclass(frozen=True, eq=False)
class SpreadGraph(FlowGraph):
    """A flow graph over queue pairs. whole [int64]: per flow, the flow of the graph before that it is (a part of)."""

    whole: np.ndarray | None = None


class SpreadGraphs:
    """Graphs over queue pairs, each made once, and what the parts of their messages come to."""

    def __init__(self):
        self._made: dict[int, tuple[FlowGraph, SpreadGraph]] = {}  # by identity of the first
        self._started: dict[int, SpreadGraph] = {}  # by number

    def over(self, graph: FlowGraph, balancer: Params) -> FlowGraph:
        """The graph with several connections in the place of each, where the load balancer asks for it."""
        if not isinstance(balancer, EcmpQp) or balancer.queue_pairs == 1:
            return graph
        if id(graph) not in self._made:
            self._made[id(graph)] = graph, spread(graph, balancer.queue_pairs, balancer.messages)
        return self._made[id(graph)][1]

    def note(self, number: int, graph: FlowGraph) -> None:
        """Keep in mind that the started graph of this number is one of them, if it is."""
        if isinstance(graph, SpreadGraph):
            self._started[number] = graph

    def gathered(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Recorded flows with the parts of a message in one row; see `gathered`."""
        return gathered(columns, self._started) if self._started else columns


def spread(graph: FlowGraph, count: int, messages: str) -> SpreadGraph:
    """The graph with `count` connections in the place of each: c becomes c * count ... c * count + count - 1.

    split: flow f becomes parts f * count ... of equal size; what waited for f waits for all its parts, on the same
    connection part by part. round_robin: the n-th flow of a connection takes its queue pair n mod count, and no longer
    waits for flows of the others. Joins (flows from a rank to itself) stay whole.
    """
    columns = {
        name: np.repeat(getattr(graph, name), count)
        for name in ("source", "destination", "channel", "rate_cap", "delay")
    }
    before = np.repeat(np.arange(graph.flows, dtype=np.int64), np.diff(graph.successor_start))
    after = graph.successors.astype(np.int64)
    if messages == "round_robin":
        return _in_turn(graph, columns, before, after, count)
    same = graph.connection[before] == graph.connection[after]
    joins = graph.source[graph.connection] == graph.destination[graph.connection]
    parts = np.where(joins, 1, count)
    first = np.concatenate([[0], np.cumsum(parts)[:-1]]).astype(np.int64)
    flow = np.repeat(np.arange(graph.flows), parts)
    part = np.arange(len(flow)) - first[flow]
    pairs = np.where(same, parts[before], parts[before] * parts[after])  # edges in the place of each
    edge = np.repeat(np.arange(len(before)), pairs)
    inner = np.arange(len(edge)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    width = parts[after][edge]
    return _assembled(
        graph, columns, graph.connection[flow].astype(np.int64) * count + part, graph.size[flow] / parts[flow],
        first[before][edge] + np.where(same[edge], inner, inner // width), first[after][edge] + inner % width, flow,
    )  # fmt: skip


def gathered(columns: dict[str, np.ndarray], spread_graphs: dict[int, SpreadGraph]) -> dict[str, np.ndarray]:
    """Recorded flows with the parts of a message in one row: their bytes, the first start, the last end.

    columns: as `StartedGraphs.recorded` returns them; spread_graphs: what `spread` made, by number of the graph; the
    other graphs stay as they are.
    """
    if not columns:
        return columns
    numbers, first, count = np.unique(columns["graph"], return_index=True, return_counts=True)
    order, wholes, offset = np.argsort(first), [], 0
    for number, flows in zip(numbers[order].tolist(), count[order].tolist()):
        whole = spread_graphs[number].whole if number in spread_graphs else np.arange(flows)
        wholes.append(whole + offset)
        offset = int(wholes[-1].max(initial=offset - 1)) + 1
    rows = np.flatnonzero(np.diff(np.concatenate(wholes), prepend=-1))
    merged = {name: column[rows] for name, column in columns.items()}
    merged["size"] = np.add.reduceat(columns["size"], rows)
    merged["start"] = np.minimum.reduceat(columns["start"], rows)
    merged["end"] = np.maximum.reduceat(columns["end"], rows)
    return merged


def _in_turn(graph: FlowGraph, columns, before, after, count: int) -> SpreadGraph:
    order = np.argsort(graph.connection, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(graph.connection, minlength=graph.connections))[:-1]])
    turn = np.empty(graph.flows, np.int64)
    turn[order] = np.arange(graph.flows) - starts[graph.connection[order]]
    joins = graph.source[graph.connection] == graph.destination[graph.connection]
    connection = graph.connection.astype(np.int64) * count + np.where(joins, 0, turn % count)
    kept = (graph.connection[before] != graph.connection[after]) | (connection[before] == connection[after])
    return _assembled(graph, columns, connection, graph.size, before[kept], after[kept], np.arange(graph.flows))


def _assembled(graph: FlowGraph, columns, connection, size, before, after, whole) -> SpreadGraph:
    order = np.argsort(before, kind="stable")
    before, after = before[order], after[order]
    start = np.zeros(len(size) + 1, np.int32)
    np.cumsum(np.bincount(before, minlength=len(size)), out=start[1:])
    changed = dict(
        **columns, connection=connection.astype(np.int32), size=np.asarray(size, np.float64),
        successor_start=start, successors=after.astype(np.int32),
        waits=np.bincount(after, minlength=len(size)).astype(np.int32), whole=whole,
    )  # fmt: skip
    return SpreadGraph(**vars(graph) | changed)
