"""Dragonfly routing (Kim et al. 2008): minimal, by way of a random group, or whichever queues less.

A group is what stands before the last '/' in the names of its switches, as the dragonfly builder names them. Minimal
paths cross one global link; Valiant paths one into a random third group and one out of it. Within a group traffic is
always minimal. Where links are lossless (pauses or credits) they can deadlock, unless there are virtual lanes: two for
minimal paths, three for the others.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from simnet.errors import InputError
from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_at_switch, draw_below
from simnet.network.packet_level.load_balancing.queues import backlog
from simnet.params import Params
from simnet.topology.topology import Topology
from simnet.units import Size


class Minimal(Params):
    """Each connection takes the path with one global link (dragonfly), hashed where there are several."""


class Valiant(Params):
    """Every packet goes by way of a random third group (dragonfly)."""

    paths: int = Field(64, ge=1, le=65536, description="paths drawn per connection, each by way of a random group")


class Ugal(Params):
    """A packet's first switch sends it by way of a random group if its queues promise to be shorter (UGAL)."""

    paths: int = Field(128, ge=2, le=65536, description="paths per connection, half of them minimal")
    threshold: Size = Field(
        0.0,
        description="bytes x hops by which the minimal path may be worse; Kim et al. 2008 [M: recalled, unverified]",
    )
    view: Literal["local", "global"] = Field(
        "global",
        description="the longest queue of either path (UGAL-G), or that of the switch's own port (UGAL-L), which shows "
        "what is full further on only where links push back; Kim et al. 2008 [M: recalled, unverified]",
    )


UGAL_PATHS, THRESHOLD, VIEW = range(3)  # slots of params of Ugal
LOCAL, GLOBAL = range(2)


@kernel
def length(start, path_links):
    """Links of a path."""
    at = start
    while path_links[at] >= 0:
        at += 1
    return at - start


@kernel
def queue(packet, at, view, now, ports, path_links, world):
    """Backlog of the link at a place of a path, or the largest from there on [bytes]."""
    largest = backlog(packet, path_links[at], now, ports, world)
    while view == GLOBAL and path_links[at + 1] >= 0:
        at += 1
        largest = max(largest, backlog(packet, path_links[at], now, ports, world))
    return largest


@kernel
def choose_minimal(c, k, world):
    """One of the minimal paths, which are the first half."""
    return draw_below(c, k, max(k.paths // 2, 1), world)


@kernel
def divert(packet, k, params, device, now, ports, paths, path_links, world):
    """At a packet's first switch: the minimal path if q_min h_min <= q_val h_val + threshold, else the other."""
    half = max(k.paths // 2, 1)
    start = paths[k.first_path + packet.entropy].start
    if packet.entropy >= half or packet.hop != start + k.entry:
        return
    other = half + np.int64(draw_at_switch(packet, device, 0, now, world) * (k.paths - half))
    detour = paths[k.first_path + other].start
    shortest = queue(packet, packet.hop, params[VIEW], now, ports, path_links, world) * length(start, path_links)
    longer = queue(packet, detour + k.entry, params[VIEW], now, ports, path_links, world) * length(detour, path_links)
    if shortest > longer + params[THRESHOLD]:
        packet.entropy = other
        packet.hop = detour + k.entry


class Groups:
    """Groups of a dragonfly and the links that work between their routers."""

    def __init__(self, topology: Topology, usable: np.ndarray):
        """Raises InputError where the switches are in no groups."""
        names = {i: d.name.rpartition("/")[0] for i, d in enumerate(topology.devices) if d.kind == "switch"}
        self.of, self.usable = names, usable
        self.names = list(dict.fromkeys(names.values()))
        if len(self.names) < 2 or "" in self.names:
            raise InputError(
                "network.load_balancing: this scheme is for a dragonfly, whose switches are named 'group/router'"
            )
        self._local: dict[tuple[int, int], list[int]] = {}
        self._global: dict[tuple[str, str], list[int]] = {}
        self._ends = [(link.source, link.destination) for link in topology.links]
        for i, (a, b) in enumerate(self._ends):
            if a not in names or b not in names or not usable[i]:
                continue
            if names[a] == names[b]:
                self._local.setdefault((a, b), []).append(i)
            else:
                self._global.setdefault((names[a], names[b]), []).append(i)

    def minimal(self, a: int, b: int, key: int) -> list[int] | None:
        """Links from switch a to switch b over one global link at most, hashed among the shortest; None: no way."""
        if a == b:
            return []
        if self.of[a] == self.of[b]:
            local = self._local.get((a, b))
            return None if local is None else [local[key % len(local)]]
        ways = [self._by(link, a, b) for link in self._global.get((self.of[a], self.of[b]), [])]
        return _drawn([way for way in ways if way is not None], key)

    def valiant(self, a: int, b: int, key: int) -> list[int] | None:
        """Links from switch a to switch b by way of a third group, drawn by `key`."""
        first, last = self.of[a], self.of[b]
        others = [g for g in self.names if g not in (first, last)]
        if first == last or not others:
            return self.minimal(a, b, key)
        key, between = divmod(key, len(others))
        links = self._global.get((first, others[between]), [])
        ways = [self._by(link, a, self._ends[link][1]) for link in links]
        out = _drawn([way for way in ways if way is not None], key)
        if out is None:
            return self.minimal(a, b, key)
        back = self.minimal(self._ends[out[-1]][1], b, key // 7)
        return self.minimal(a, b, key) if back is None else out + back

    def _by(self, link: int, a: int, b: int) -> list[int] | None:
        """Links from a to b over one global link."""
        source, destination = self._ends[link]
        up = [] if a == source else self._local.get((a, source), [])[:1]
        down = [] if b == destination else self._local.get((destination, b), [])[:1]
        broken = (a != source and not up) or (b != destination and not down)
        return None if broken else [*up, link, *down]


def _drawn(ways: list[list[int]], key: int) -> list[int] | None:
    """One of the shortest."""
    shortest = [way for way in ways if len(way) == min(map(len, ways))]
    return shortest[key % len(shortest)] if shortest else None
