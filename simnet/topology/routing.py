"""Which links carry the traffic between two devices.

Rules, in this order:

1. NVLink alone, where it joins the two (directly or through an NVSwitch).
2. Inside one server: the cheapest PCIe path (same switch, then over the CPU, then across sockets); between GPUs of
   a server without peer-to-peer it passes through host memory on the sender's socket.
3. Between servers: each side's nearest NIC (through host memory without GPUDirect), and equal-cost shortest
   paths through the switches in between. GPUs share out the NICs nearest to them, channels take a GPU's in turn.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simnet.topology import routing_kernels as kernels
from simnet.topology.next_hops import next_hops
from simnet.topology.nic_choice import NicChoice
from simnet.topology.server_paths import ServerPaths
from simnet.topology.topology import Topology

_RULES = {
    "independent": kernels.INDEPENDENT,
    "shared": kernels.SHARED,
    "d_mod_k": kernels.STATIC,
    "pinned_destination": kernels.STATIC,
    "pinned_source": kernels.STATIC,
}
RULES = tuple(_RULES)


@dataclass(frozen=True)
class Routes:
    """Links of many connections in CSR form: connection c uses links[start[c]:start[c + 1]].

    shares: the part of the connection's traffic that each link carries (1 on a single path). reachable: bool per
    connection. latency [s]: per connection, averaged over its paths where it is sprayed.
    """

    start: np.ndarray
    links: np.ndarray
    shares: np.ndarray
    reachable: np.ndarray
    latency: np.ndarray


class Router:
    """Routes of one topology; `usable` [bool per link] leaves out failed links."""

    def __init__(self, topology: Topology, usable: np.ndarray | None = None):
        self.topology = topology
        self.usable = np.ones(len(topology.links), bool) if usable is None else usable
        self._servers = ServerPaths(topology, self.usable)

    def path(self, a: int, b: int, channel: int = 0, key: int = 0) -> list[int] | None:
        """Link ids from device a to device b, or None; `channel` and `key` choose where several are as good."""
        routes = self.routes(np.array([a]), np.array([b]), np.array([channel]), np.array([key], np.uint64))
        return routes.links.tolist() if routes.reachable[0] else None

    def routes(self, source, destination, channel, keys, spray: bool = False, rule: str = "independent") -> Routes:
        """Routes of many connections.

        source, destination: device ids; channel: numbers that tell parallel connections of a pair apart; keys [uint64]:
        choose among equal-cost next hops of the fabric, unless `spray` splits over all of them. With `keys` of shape
        [connections, n] every connection has n routes, which stand one after the other; one that sits on the fabric
        itself leaves by the same link on all of them.

        rule: how a device chooses, one of RULES: by hash of key and device (independent), by hash of the key alone
        (shared: switches of all tiers choose alike), or without a hash: by the number of the destination modulo the
        number of choices, then by its quotient (d_mod_k); by the port of the destination at its leaf, then by the
        number of the leaf (pinned_destination, pinned_source).
        """
        legs = _Legs()
        up, down = np.zeros(len(source), np.int64), np.zeros(len(source), np.int64)
        origin, target = np.array(source, np.int64), np.array(destination, np.int64)
        lost = np.zeros(len(source), bool)
        if self._servers.any:
            for c, (a, b, lane) in enumerate(zip(source.tolist(), destination.tolist(), channel.tolist())):
                ends = self._ends(a, b, lane)
                if ends is None:
                    lost[c] = True
                    origin[c] = target[c]
                else:
                    first, origin[c], target[c], last = ends
                    up[c], down[c] = legs.add(first), legs.add(last)
        first = keys = np.asarray(keys, np.uint64)
        if keys.ndim == 2:
            count = keys.shape[1]
            bare = np.asarray(source) == origin
            first = np.where(bare[:, None], keys[:, :1], keys).ravel()
            keys = keys.ravel()
            origin, target, lost, up, down = (np.repeat(column, count) for column in (origin, target, lost, up, down))
        digits, rests = self._static(rule, origin, target)
        rows = kernels.fabric_routes(
            origin, target, _RULES[rule], first, keys, digits, rests, spray, *self._fabric, self.usable
        )
        rows[1][lost] = -1
        start, links, shares = kernels.joined(up, down, *legs.csr(), *rows)
        owner = np.repeat(np.arange(len(origin)), np.diff(start))
        latency = np.bincount(owner, shares * self.topology.latencies[links], len(origin))
        return Routes(start, links, shares, rows[1] >= 0, latency)

    def nics(self, device: int) -> list[int]:
        """A device's part of its nearest NICs, which its channels take in turn; itself where it sits on the fabric."""
        return self._nics.of(device)

    def attachments(self) -> np.ndarray:
        """Where devices other than switches hang: the one switch that leads to them, themselves where several do or
        one does by several links, -1 where none does [int64 per device]."""
        sources, destinations = (ends.tolist() for ends in self.topology.ends)
        is_switch, last = self.topology.is_switch, np.full(len(self.topology.devices), -1, np.int64)
        for i in np.flatnonzero(self.topology.in_fabric & self.usable).tolist():
            near, far = sources[i], destinations[i]
            if not is_switch[far]:
                last[far] = near if last[far] < 0 and is_switch[near] else far
        return last

    def next_hops(self, targets) -> tuple[np.ndarray, np.ndarray]:
        """Equal-cost next hops at every switch towards every one of the devices `targets`.

        Returns (place [int32[devices, targets]], sets [int32]): with i = place[device, target] the links are
        sets[i + 2 : i + 2 + sets[i]]; 0: none. The place behind the number is free for the caller. A switch has one
        set of places for all targets that it reaches by the same links.
        """
        return next_hops(np.asarray(targets, np.int64), *self._fabric, self.usable)

    def _static(self, rule: str, origin, target) -> tuple[np.ndarray, np.ndarray]:
        """What the rules without a hash choose by: (digits, rest), see `routing_kernels.chosen_path`."""
        none = np.full(len(origin), -1, np.int64)
        if rule in ("independent", "shared"):
            return none, none
        number, port, leaf = self._numbers
        if rule == "d_mod_k":
            return number[target], none
        end = target if rule == "pinned_destination" else origin
        return port[end], leaf[end]

    @cached_property
    def _numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every device on the fabric, counted leaf by leaf: its number, that of its port at its leaf, its leaf's."""
        source, destination = self.topology.ends
        leaf_of: dict[int, int] = {}
        for i in np.flatnonzero(self.topology.in_fabric & ~self.topology.is_switch[source]).tolist():
            leaf_of.setdefault(int(source[i]), int(destination[i]))
        number, port, leaf = np.zeros((3, len(self.topology.devices)), np.int64)
        order = sorted(leaf_of, key=lambda device: (leaf_of[device], device))
        leaves = {switch: i for i, switch in enumerate(dict.fromkeys(leaf_of[device] for device in order))}
        taken = dict.fromkeys(leaves, 0)
        for i, device in enumerate(order):
            switch = leaf_of[device]
            number[device], port[device], leaf[device] = i, taken[switch], leaves[switch]
            taken[switch] += 1
        return number, port, leaf

    def _ends(self, a: int, b: int, channel: int):
        """(links before the fabric, where they enter it, where they leave it, links after it), or None."""
        if a == b:
            return (), a, a, ()
        inside = self._servers.between(a, b)
        if inside is not None:
            return tuple(inside), b, b, ()
        near_a, near_b = self.nics(a), self.nics(b)
        if not near_a or not near_b:
            return None
        out, into = near_a[channel % len(near_a)], near_b[channel % len(near_b)]
        first, last = self._servers.with_nic(a, out, a), self._servers.with_nic(into, b, b)
        return None if first is None or last is None else (tuple(first), out, into, tuple(last))

    # -- the fabric ---------------------------------------------------------------------------------------

    @cached_property
    def _nics(self) -> NicChoice:
        """Devices other than switches with a usable fabric link stand on the fabric themselves."""
        sources, _ = self.topology.ends
        on_fabric = np.zeros(len(self.topology.devices), bool)
        on_fabric[sources[self.topology.in_fabric & self.usable]] = True
        return NicChoice(self._servers, on_fabric & ~self.topology.is_switch)

    @cached_property
    def _fabric(self) -> tuple[np.ndarray, ...]:
        """Fabric links leaving and entering every device (CSR), ends of all links, and which devices forward."""
        fabric, devices = np.flatnonzero(self.topology.in_fabric).astype(np.int32), len(self.topology.devices)

        def grouped(ends):
            order = fabric[np.argsort(ends[fabric], kind="stable")]
            start = np.zeros(devices + 1, np.int64)
            np.cumsum(np.bincount(ends[fabric], minlength=devices), out=start[1:])
            return start, order

        source, destination = self.topology.ends
        return *grouped(source), *grouped(destination), source, destination, self.topology.is_switch


class _Legs:
    """Distinct link sequences, numbered; number 0 is the empty one."""

    def __init__(self):
        self._numbers: dict[tuple[int, ...], int] = {(): 0}

    def add(self, links: tuple[int, ...]) -> int:
        return self._numbers.setdefault(links, len(self._numbers))

    def csr(self) -> tuple[np.ndarray, np.ndarray]:
        start = np.zeros(len(self._numbers) + 1, np.int64)
        np.cumsum([len(links) for links in self._numbers], out=start[1:])
        return start, np.array([k for links in self._numbers for k in links], np.int32)
