"""Data that flows through stages in pieces: an edge passes a piece on while it takes in the next.

Three flows stand for all pieces of an edge: the first piece, those in between together, and the last one. The first
goes when those before it have brought theirs, the last likewise, and all follow one another. On links that others
leave alone this takes exactly as long as piece after piece: (stages + pieces - 1) times that of a piece.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, flow_graph


class Pipeline:
    """Edges between ranks, each with the edges that bring what it passes on; every edge is a connection of its own."""

    def __init__(self, ranks: int):
        self.ranks = ranks
        self._edges: list[tuple[np.ndarray, ...]] = []
        self._waits: list[tuple[np.ndarray, np.ndarray]] = []
        self._count = 0

    def edges(self, source, destination, size, channel=0) -> np.ndarray:
        """Add edges that carry `size` bytes each; returns their numbers [int32], in the common shape of the rest."""
        columns = np.broadcast_arrays(source, destination, np.asarray(size, np.float64), channel)
        self._edges.append(tuple(column.ravel() for column in columns))
        numbers = np.arange(self._count, self._count + columns[0].size, dtype=np.int32)
        self._count += len(numbers)
        return numbers.reshape(columns[0].shape)

    def wait(self, after, before) -> None:
        """Edge after[i] passes on what edge before[i] brings; the two are broadcast against each other."""
        after, before = np.broadcast_arrays(after, before)
        self._waits.append((before.ravel().astype(np.int32), after.ravel().astype(np.int32)))

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Source, destination, size [bytes] and channel of every edge."""
        return tuple(np.concatenate(column) for column in zip(*self._edges))

    def waits(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges before and after, one row for each time that an edge waits for another."""
        if not self._waits:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        before, after = zip(*self._waits)
        return np.concatenate(before), np.concatenate(after)

    def build(self, pieces: int = 1) -> FlowGraph:
        """The FlowGraph of data that is cut into so many pieces; connections are the edges."""
        source, destination, size, channel = self.columns()
        before, after = self.waits()
        parts = {1: [1], 2: [1, 1]}.get(pieces, [1, pieces - 2, 1])
        flow = np.arange(len(parts) * len(size), dtype=np.int32).reshape(len(parts), -1)
        befores = [flow[0][before], *flow[:-1]] + ([flow[-1][before]] if len(parts) > 1 else [])
        afters = [flow[0][after], *flow[1:]] + ([flow[-1][after]] if len(parts) > 1 else [])
        return flow_graph(
            self.ranks, source, destination,
            np.tile(np.arange(len(size)), len(parts)),
            np.concatenate([size * part / pieces for part in parts]),
            np.concatenate(befores), np.concatenate(afters),
            channel=channel,
        )  # fmt: skip
