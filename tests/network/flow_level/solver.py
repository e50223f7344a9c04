"""Drives the incremental solver without the event loop: add and remove flows, solve, read the rates."""

import numpy as np

from simnet.network.flow_level.accounting import account_touched
from simnet.network.flow_level.live import link_up, unlink
from simnet.network.flow_level.max_min import solve
from simnet.network.flow_level.state import CONNECTION, ENTRY, LINK, ROUTE, SLOT, WORLD
from simnet.network.records import table


class Solver:
    """A set of links on which flows come and go."""

    def __init__(self, capacity, most_flows=64, most_hops=8):
        self.links = table(len(capacity), LINK)
        self.links.capacity = capacity
        self.links.level = np.inf
        self.links.position = -1
        self.links.head = -1
        self.slots = table(most_flows, SLOT)
        self.entries = table(most_flows * most_hops, ENTRY)
        self.world = table(1, WORLD)
        self.world.hops = most_hops
        self.world.bin_width = 1.0
        self.touched = np.zeros(len(capacity), np.int32)
        self.heap = np.zeros(len(capacity), np.int32)
        self.changed = np.zeros(most_flows, np.int32)
        self.bins = np.zeros((len(capacity), 4))

    def add(self, slot, path):
        """Start a flow on [(link, share), ...]."""
        routes = table(len(path), ROUTE)
        routes.link = [link for link, _ in path]
        routes.share = [share for _, share in path]
        connections = table(1, CONNECTION)
        connections.length = len(path)
        self.slots[slot].remaining = 1e9
        self.world.live += 1
        link_up(slot, connections[0], routes, self.links, self.entries, self.slots, self.touched, self.world)

    def remove(self, slot):
        """End a flow."""
        self.world.live -= 1
        unlink(slot, self.links, self.entries, self.slots, self.touched, self.world)

    def solve(self):
        """Bring the rates up to date."""
        solve(self.links, self.entries, self.slots, self.touched, self.heap, self.changed, self.world)
        account_touched(self.links, self.touched, self.bins, self.world)

    def rate(self, slot):
        """Rate of a flow after `solve`."""
        return float(self.slots[slot].rate)
