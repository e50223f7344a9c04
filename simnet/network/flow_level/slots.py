"""Room for the flows that are being sent: slots, their entries on links, and the winner tree of their ends."""

import numpy as np

from simnet.network.flow_level.state import ENTRY, SLOT
from simnet.network.records import grown, table

_FIRST_SLOTS = 64


class Slots:
    """Tables that grow while flows are under way; slot s owns entries [s * hops, (s + 1) * hops)."""

    def __init__(self, world: np.recarray, links: np.recarray):
        self.links = links
        self.rows = table(0, SLOT)
        self.entries = table(0, ENTRY)
        self.changed = np.zeros(0, np.int32)
        self.free = np.zeros(0, np.int32)  # a stack of free slots; world.free is its height
        self.finish = np.full(2, np.inf)
        self._world = world
        world.hops = 1
        self._add(_FIRST_SLOTS)

    def multiply(self) -> None:
        """Double the number of slots."""
        self._add(2 * len(self.rows))

    def lengthen(self, hops: int) -> None:
        """Make room for paths of `hops` links; flows under way stay on their links."""
        before = int(self._world[0].hops)
        if hops <= before:
            return
        entries = table(len(self.rows) * hops, ENTRY)
        old = np.arange(len(self.entries))
        place = old // before * hops + old % before
        entries[place] = self.entries
        for column in (entries.next, entries.previous):
            column[place] = np.where(column[place] < 0, -1, place[np.maximum(column[place], 0)])
        self.links.head = np.where(self.links.head < 0, -1, place[np.maximum(self.links.head, 0)])
        self.entries = entries
        self._world.hops = hops

    def _add(self, slots: int) -> None:
        old, world = len(self.rows), self._world[0]
        self.rows = grown(self.rows, slots) if old else table(slots, SLOT)
        self.entries = _longer(self.entries, slots * int(world.hops))
        self.changed = np.zeros(slots, np.int32)
        height = int(world.free)
        free = np.zeros(slots, np.int32)
        free[: slots - old] = np.arange(slots - 1, old - 1, -1)
        free[slots - old : slots - old + height] = self.free[:height]
        self.free, world.free = free, slots - old + height
        leaves = 1 << (slots - 1).bit_length()
        finish = np.full(2 * leaves, np.inf)
        finish[leaves : leaves + old] = self.finish[len(self.finish) // 2 :][:old]
        width = leaves
        while width > 1:
            half = width // 2
            finish[half:width] = np.minimum(finish[width : 2 * width : 2], finish[width + 1 : 2 * width : 2])
            width = half
        self.finish = finish


def _longer(array: np.recarray, rows: int) -> np.recarray:
    longer = table(rows, array.dtype)
    longer[: len(array)] = array
    return longer
