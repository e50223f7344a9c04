"""Rings through members of one server: Hamiltonian cycles that use NVLink where it exists.

The best ring is the one whose slowest hop is the fastest. A mesh of NVLinks holds several rings that share no link, and
each of them becomes a channel: 2, 4, 2, 4 and 6 rings of 25 GB/s through 3, 4, 6, 7 and 8 GPUs of a DGX-1, which is
what measured bus bandwidth of NCCL says (45, 85, 46, 87 and 135 GB/s; vTrain, validation data). Behind NVSwitches one
ring in the order of ranks fills the links of every GPU, and on PCIe a second one would share the links of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group

_SEARCHED = 16  # members at most; larger servers hang off NVSwitches, where every order is as good
_STEPS = 20_000  # of one search
_TRIED = 2_000  # rings at most that are tried for a place among others


def server_rings(group: Group, members: list[int]) -> list[list[int]]:
    """Orders of the members, each to be closed to a ring and to carry an equal part of the data."""
    if not 3 <= len(members) <= _SEARCHED:
        return [members]
    slowest = min(group.pair_rate(i, j) for i, j in closed(members))
    leaving = [[group.topology.links[k] for k in group.leaving[m]] for m in members]
    fastest = min(max((link.rate for link in links), default=0.0) for links in leaving)
    nvlinks = min(sum(link.rate for link in links if link.kind == "nvlink") for links in leaving)
    if slowest >= max(fastest, nvlinks):
        return [members]
    hops = _Hops(group, members)
    best = members if slowest >= fastest else hops.widest_ring() or members
    if all(hops.is_nvlink(i, j) for i, j in closed(best)):
        several = hops.disjoint_rings()
        if len(several) * hops.unit >= min(group.pair_rate(i, j) for i, j in closed(best)):
            return several
    return [best]


def closed(order: list[int]) -> list[tuple[int, int]]:
    """The hops of a ring."""
    return list(zip(order, order[1:] + order[:1]))


def hamiltonian_cycles(following: dict[int, list[int]], steps: int = _STEPS) -> Iterator[list[int]]:
    """Cycles through all nodes of a directed graph, by depth-first search that gives up after `steps` steps.

    following: the successors of every node, the most wanted first.
    """
    first = next(iter(following))
    order, untried = [first], [iter(following[first])]
    while untried and steps > 0:
        node = next(untried[-1], None)
        if node is None:
            untried.pop()
            order.pop()
        elif node not in order:
            steps -= 1
            order.append(node)
            untried.append(iter(following[node]))
            if len(order) == len(following) and first in following[node]:
                yield list(order)


class _Hops:
    """Hops between members of one server, and what the rings found so far leave of their links."""

    def __init__(self, group: Group, members: list[int]):
        links = group.topology.links
        self._members = members
        self._pairs = [(i, j) for i in members for j in members if i != j]
        self._paths = {(i, j): group.path(i, j) or [] for i, j in self._pairs}
        self._left = {k: links[k].rate for path in self._paths.values() for k in path}  # [bytes/s]
        self._nvlinks = {k: links[k].rate for k in self._left if links[k].kind == "nvlink"}
        self._rate = {pair: self.room(*pair) for pair in self._pairs}
        self.unit = min(self._nvlinks.values(), default=0.0)  # rate of one of several rings [bytes/s]

    def room(self, i: int, j: int) -> float:
        """Rate that is left from member i to member j [bytes/s]."""
        return min((self._left[k] for k in self._paths[i, j]), default=0.0)

    def is_nvlink(self, i: int, j: int) -> bool:
        """True if the hop uses NVLink alone."""
        path = self._paths[i, j]
        return bool(path) and all(k in self._nvlinks for k in path)

    def widest_ring(self) -> list[int] | None:
        """The ring whose slowest hop is the fastest; among several of them one with the most hops over NVLink."""
        for least in sorted({rate for rate in self._rate.values() if rate > 0}, reverse=True):
            found, most = None, -1
            for ring in hamiltonian_cycles(self._following(lambda i, j, least=least: self._rate[i, j] >= least)):
                over_nvlink = sum(self.is_nvlink(i, j) for i, j in closed(ring))
                if over_nvlink > most:
                    found, most = ring, over_nvlink
                if not self._nvlinks or most == len(ring):
                    break
            if found is not None:
                return found
        return None

    def disjoint_rings(self) -> list[list[int]]:
        """As many NVLink rings of rate `unit` as fit beside one another, in pairs of both directions."""
        egress = [
            dict.fromkeys(self._paths[i, j][0] for j in self._members if i != j and self.is_nvlink(i, j))
            for i in self._members
        ]
        most = int(min(sum(self._nvlinks[k] for k in first) for first in egress) // self.unit)
        best: list[list[int]] = []
        tried = 0

        def pack(found: list[list[int]]) -> None:
            nonlocal best, tried
            best = max(best, found, key=len)
            for ring in hamiltonian_cycles(self._following(self._fits)):
                tried += 1
                both = [ring, [ring[0], *ring[:0:-1]]]
                self._take(both, self.unit)
                if min(self._left.values()) >= 0:
                    pack(found + both)
                self._take(both, -self.unit)
                if len(best) + 2 > most or tried > _TRIED:
                    return

        pack([])
        return best

    def _fits(self, i: int, j: int) -> bool:
        return self.is_nvlink(i, j) and self.room(i, j) >= self.unit

    def _following(self, allowed) -> dict[int, list[int]]:
        """Next members of each member, widest hop first; the links of a pair are used up before others are begun."""
        return {
            i: sorted(
                (j for j in self._members if j != i and allowed(i, j)),
                key=lambda j: (-self.room(i, j), -self._rate[i, j]),
            )
            for i in self._members
        }

    def _take(self, rings: list[list[int]], rate: float) -> None:
        for ring in rings:
            for hop in closed(ring):
                for k in self._paths[hop]:
                    self._left[k] -= rate
