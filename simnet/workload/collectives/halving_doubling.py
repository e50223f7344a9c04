"""Recursive halving and doubling: log2 n exchanges with partners at distance 1, 2, 4 and so on.

Reduce-scatter by recursive halving and all-gather by recursive doubling (Thakur, Rabenseifner and Gropp 2005,
"Optimization of collective communication operations in MPICH"): 2 log2 n steps and 2 (n - 1) / n S bytes for
all_reduce. The longest messages go to the nearest partner. Where n is no power of two, the first 2 (n - p) ranks, p
the power of two below n, form pairs: the odd one of a pair hands its data to the even one first and gets its result
last.
"""

import numpy as np

from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.workload.collectives.group import Group
from simnet.workload.task_graph import Operation


def all_reduce(group: Group, operation: Operation) -> FlowGraph:
    """Halve, then double: 2 log2 n steps, 2 more where n is no power of two."""
    exchange = _Exchange(group.members)
    parts = np.full(len(exchange.ranks), operation.size / len(exchange.ranks))
    exchange.fold(operation.size)
    exchange.halve(parts)
    exchange.double(parts)
    exchange.unfold(operation.size)
    return exchange.flows.build()


def reduce_scatter(group: Group, operation: Operation) -> FlowGraph:
    """Recursive halving; a rank sends half of what it still has to the partner that needs it."""
    exchange = _Exchange(group.members)
    block = operation.size / group.members
    exchange.fold(operation.size - block)
    exchange.halve(block * exchange.weight)
    exchange.unfold(block)
    return exchange.flows.build()


def all_gather(group: Group, operation: Operation) -> FlowGraph:
    """Recursive doubling; a rank sends all it has by now to its partner."""
    exchange = _Exchange(group.members)
    block = operation.size / group.members
    exchange.fold(block)
    exchange.double(block * exchange.weight)
    exchange.unfold(operation.size - block)
    return exchange.flows.build()


class _Exchange:
    """Flows so far, and the flows that each of the p exchanging ranks received and sent last (-1: none).

    A rank takes its next step when it is through with both, as MPI's sendrecv has it.
    """

    def __init__(self, members: int):
        power = 1 << (members.bit_length() - 1)
        extra = members - power
        self.flows = FlowGraphBuilder(members)
        self.ranks = np.concatenate([np.arange(0, 2 * extra, 2), np.arange(2 * extra, members)])
        self.weight = np.where(np.arange(power) < extra, 2, 1)  # ranks that an exchanging rank stands for
        self._folded = self.ranks[:extra]
        self._received = np.full(power, -1, np.int32)
        self._sent = np.full(power, -1, np.int32)
        self._distances = [1 << k for k in range(power.bit_length() - 1)]

    def fold(self, size: float) -> None:
        """The odd rank of each pair hands `size` bytes to the even one."""
        self._received[: len(self._folded)] = self.flows.flows(self._folded + 1, self._folded, size)

    def unfold(self, size: float) -> None:
        """The even rank of each pair returns `size` bytes to the odd one."""
        self._step(self.flows.flows(self._folded, self._folded + 1, size))

    def halve(self, parts: np.ndarray) -> None:
        """Reduce-scatter parts[v] bytes to exchanging rank v: at distance d, v keeps the parts w = v modulo 2d."""
        for distance in self._distances:
            self._swap(distance, lambda v, d=distance: self._held(parts, 2 * d, v ^ d))

    def double(self, parts: np.ndarray) -> None:
        """All-gather parts[v] bytes of exchanging rank v, the way of `halve` backwards."""
        for distance in reversed(self._distances):
            self._swap(distance, lambda v, d=distance: self._held(parts, 2 * d, v))

    def _held(self, parts, modulus, v):
        """Bytes of all parts w = v modulo `modulus`."""
        return np.bincount(np.arange(len(parts)) % modulus, parts)[v % modulus]

    def _swap(self, distance: int, size) -> None:
        v = np.arange(len(self.ranks))
        sent = self.flows.flows(self.ranks, self.ranks[v ^ distance], size(v))
        self._step(sent)
        self._sent, self._received = sent, sent[v ^ distance]

    def _step(self, sent: np.ndarray) -> None:
        for before in (self._received[: len(sent)], self._sent[: len(sent)]):
            there = before >= 0
            self.flows.wait(sent[there], before[there])
