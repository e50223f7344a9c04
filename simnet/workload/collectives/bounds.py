"""Times that no schedule of a collective can beat, whatever the algorithm: physics' side of the argument.

Of every set of devices that a group straddles (a GPU, a server, a leaf switch with what hangs below it, a pod), some
bytes must come out and some must go in; divided by the rates of the links across its boundary they take a time. For
m of n members inside, with S as in `KINDS`:

- all_reduce: S out and S in: the sum depends on both sides. Besides, members send 2 (n - 1) S in all, so that takes as
  long as their own links together need for it, unless switches reduce (Patarasuk and Yuan 2009).
- all_gather: m / n S out, (n - m) / n S in; reduce_scatter the other way round.
- broadcast: S out of a set with the root, S into any other; reduce the other way round.
- all_to_all, all_to_all_v, send_recv: what the members inside send to those outside, and back.
- traffic: the same, from the earliest start of a flow on; and no flow can have arrived before it starts.

Latency is left out. Where a collective reads and writes at the same time, in and out count separately.
"""

from functools import cached_property

import numpy as np

from simnet.topology.topology import Topology
from simnet.workload.collectives.kinds import IN_NETWORK
from simnet.workload.task_graph import Operation
from simnet.workload.traffic import Traffic


class Bounds:
    """Lower bounds of one topology; what a group's cuts are is worked out once per group.

    rates [bytes/s]: of every link, by default the nominal ones; where rates change over time, the highest of each.
    switches_reduce: some switch adds up or copies what passes through it, also where the algorithm does not say so.
    """

    def __init__(self, topology: Topology, rates: np.ndarray | None = None, switches_reduce: bool = False):
        self.topology = topology
        self.rates = topology.rates if rates is None else np.asarray(rates, np.float64)
        self.switches_reduce = switches_reduce
        self._groups: dict[tuple[int, ...], _Cuts] = {}

    def lower_bound(self, operation: Operation, devices: tuple[int, ...]) -> float:
        """Least time [s] from the first member's start to the last member's end; member i is device devices[i]."""
        if len(devices) < 2:
            return 0.0
        devices = tuple(devices)
        if devices not in self._groups:
            self._groups[devices] = self._cuts_of(devices)
        cuts = self._groups[devices]
        out, into = _crossing(operation, cuts)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.maximum(
                np.where(out > 0, out / cuts.out_rate, 0.0), np.where(into > 0, into / cuts.in_rate, 0.0)
            )
        bound = float(times.max(initial=0.0))
        reduced_by_ranks = not self.switches_reduce and operation.algorithm not in IN_NETWORK
        if operation.kind == "all_reduce" and reduced_by_ranks:
            bound = max(bound, 2 * (len(devices) - 1) * operation.size / cuts.egress)
        if operation.kind == "traffic" and len(operation.traffic):
            start = operation.traffic.start
            bound = max(float(start.min()) + bound, float(start.max()))
        return bound

    def _cuts_of(self, devices: tuple[int, ...]) -> "_Cuts":
        """The sets of devices that the group straddles, told apart by the members in them."""
        members = self._sets[:, devices]
        count = members.sum(axis=1)
        straddled = np.flatnonzero((count > 0) & (count < len(devices)))
        egress = self.rates[np.isin(self._ends[0], devices)].sum()
        return _Cuts(members[straddled], self._boundary[0][straddled], self._boundary[1][straddled], egress)

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        links = self.topology.links
        return np.array([k.source for k in links], np.int64), np.array([k.destination for k in links], np.int64)

    @cached_property
    def _sets(self) -> np.ndarray:
        """bool[set, device] of the nested sets of the topology."""
        cuts = self.topology.cuts
        inside = np.zeros((len(cuts), len(self.topology.devices)), bool)
        for row, cut in zip(inside, cuts):
            row[cut] = True
        return inside

    @cached_property
    def _boundary(self) -> tuple[np.ndarray, np.ndarray]:
        """Rates [bytes/s] of all links that leave, and that enter, each set together."""
        source, destination = self._ends
        out, into = np.zeros(len(self._sets)), np.zeros(len(self._sets))
        for i, inside in enumerate(self._sets):
            starts, ends = inside[source], inside[destination]
            out[i] = self.rates[starts & ~ends].sum()
            into[i] = self.rates[ends & ~starts].sum()
        return out, into


class _Cuts:
    """Sets that a group straddles: members[set, member] inside, and the rates [bytes/s] across the boundaries.

    egress [bytes/s]: of all links that leave members.
    """

    def __init__(self, members: np.ndarray, out_rate: np.ndarray, in_rate: np.ndarray, egress: float):
        self.members = members
        self.inside = members.sum(axis=1)
        self.out_rate = out_rate
        self.in_rate = in_rate
        self.egress = egress


def lower_bound(operation: Operation, devices, topology: Topology, rates: np.ndarray | None = None) -> float:
    """Least time [s] of one operation; see `Bounds`, which is faster for many."""
    return Bounds(topology, rates).lower_bound(operation, tuple(devices))


def _crossing(operation: Operation, cuts: _Cuts) -> tuple[np.ndarray, np.ndarray]:
    """Bytes that must leave, and that must enter, each set."""
    n, m = cuts.members.shape[1], cuts.inside
    size = np.full(len(m), operation.size)
    match operation.kind:
        case "all_reduce":
            return size, size
        case "all_gather":
            return m / n * size, (n - m) / n * size
        case "reduce_scatter":
            return (n - m) / n * size, m / n * size
        case "broadcast":
            holds_root = cuts.members[:, operation.root]
            return np.where(holds_root, size, 0.0), np.where(holds_root, 0.0, size)
        case "reduce":
            holds_root = cuts.members[:, operation.root]
            return np.where(holds_root, 0.0, size), np.where(holds_root, size, 0.0)
        case "all_to_all":
            return m * (n - m) / n * size, m * (n - m) / n * size
        case "all_to_all_v":
            matrix, inside = np.asarray(operation.matrix, np.float64), cuts.members.astype(np.float64)
            sent, received = inside @ matrix, inside @ matrix.T
            return (sent * (1 - inside)).sum(axis=1), (received * (1 - inside)).sum(axis=1)
        case "traffic":
            return _between(operation.traffic, cuts.members), _between(operation.traffic, ~cuts.members)
        case "send_recv":
            first, second = cuts.members[:, 0], cuts.members[:, 1]
            return np.where(first & ~second, size, 0.0), np.where(second & ~first, size, 0.0)
    raise ValueError(f"no bound for {operation.kind}")


def _between(traffic: Traffic, inside: np.ndarray) -> np.ndarray:
    """Bytes that flows carry from members inside each set to members outside it."""
    source, destination, size = traffic.source, traffic.destination, traffic.size
    return np.array([size[members[source] & ~members[destination]].sum() for members in inside])
