"""Tables of independent point-to-point flows: who sends whom how much, when it starts and what it waits for."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Traffic:
    """Flows, one row each, as columns; equal only to itself, so that it can be part of an operation.

    source, destination [int32]: members. size [bytes, float64]. start [s, float64]: from the start of the operation
    or, for a flow that waits for others, from when they let it go. channel [int32]: flows of a pair of members and a
    channel are messages of one connection, which go one after the other and start alike.
    before, after [int32]: one row per dependency; flow before[i] lets go flow after[i] when it has arrived or, on
    the same connection, when its last byte has left. needed [int32]: how many of the flows before it a flow waits
    for.
    """

    source: np.ndarray
    destination: np.ndarray
    size: np.ndarray
    start: np.ndarray
    channel: np.ndarray
    before: np.ndarray
    after: np.ndarray
    needed: np.ndarray

    def __len__(self) -> int:
        return len(self.source)

    @property
    def largest_buffer(self) -> float:
        """The most that a member sends or receives [bytes], as for all_to_all_v."""
        return float(
            max(np.bincount(end, self.size).max(initial=0.0) for end in (self.source, self.destination))
            if len(self)
            else 0.0
        )

    def problem(self, members: int) -> str | None:
        """What is wrong with the table among so many members, or None."""
        ends = np.concatenate([self.source, self.destination])
        if len(ends) and not 0 <= ends.min() <= ends.max() < members:
            wrong = int(ends[(ends < 0) | (ends >= members)][0])
            return f"has a flow from or to rank {wrong}; ranks are 0 to {members - 1}"
        if np.any(self.source == self.destination):
            rank = int(self.source[self.source == self.destination][0])
            return f"has a flow from rank {rank} to itself"
        for name, column in (("size", self.size), ("start", self.start)):
            if not np.all(np.isfinite(column) & (column >= 0)):
                return f"has a flow whose {name} is not finite and at least 0"
        if len(stuck := self.never_started()):
            return f"has {len(stuck)} flows that never start, the first from rank {int(self.source[stuck[0]])}"
        return None

    def never_started(self) -> np.ndarray:
        """Numbers of the flows that wait for what does not come."""
        enough = np.bincount(self.after, minlength=len(self)) >= self.needed
        if enough.all() and np.all(self.before < self.after):  # in the order of the table they all start
            return np.zeros(0, np.int64)
        waits = self.needed.copy()
        following: dict[int, list[int]] = {}
        for a, b in zip(self.before.tolist(), self.after.tolist()):
            following.setdefault(a, []).append(b)
        ready = np.flatnonzero(waits <= 0).tolist()
        while ready:
            for flow in following.get(ready.pop(), ()):
                waits[flow] -= 1
                if waits[flow] == 0:
                    ready.append(flow)
        return np.flatnonzero(waits > 0)


def traffic(source, destination, size, start=0.0, *, channel=None, before=(), after=(), needed=None) -> Traffic:
    """A Traffic from columns; scalars are spread.

    channel: by default every flow has a connection of its own. needed: by default all flows before it.
    """
    source, destination = (np.ascontiguousarray(end, np.int32) for end in np.broadcast_arrays(source, destination))
    flows = len(source)
    before, after = np.asarray(before, np.int32), np.asarray(after, np.int32)

    def column(value, dtype):
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype), flows))

    return Traffic(
        source,
        destination,
        column(size, np.float64),
        column(start, np.float64),
        _occurrence(source, destination) if channel is None else column(channel, np.int32),
        before,
        after,
        np.bincount(after, minlength=flows).astype(np.int32) if needed is None else column(needed, np.int32),
    )


def _occurrence(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """How many flows of the same pair stand before each one [int32]."""
    order = np.lexsort((np.arange(len(source)), destination, source))
    place = np.arange(len(source))
    first = np.r_[True, (source[order][1:] != source[order][:-1]) | (destination[order][1:] != destination[order][:-1])]
    first = first[: len(source)]
    occurrence = np.empty(len(source), np.int32)
    occurrence[order] = place - np.maximum.accumulate(np.where(first, place, 0))
    return occurrence
