"""The members of a collective where they are placed: their servers, the paths between them, and rings through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simnet.errors import InputError
from simnet.workload.collectives import rings

if TYPE_CHECKING:  # the router brings numba, which descriptions of workloads do without
    from simnet.topology.routing import Router
    from simnet.topology.topology import Topology
    from simnet.workload.collectives.library import Constants, Library


@dataclass(frozen=True, eq=False)
class Group:
    """Members of a collective, numbered 0 to n - 1; devices[i] is the topology device of member i.

    constants: of the library that members may leave the choice to, None: its presets.
    """

    devices: tuple[int, ...]
    topology: Topology
    router: Router
    constants: Constants | None = None

    def __post_init__(self):
        if not self.devices:
            raise InputError("a group needs at least one member")
        seen: set[int] = set()
        for device in self.devices:
            if device in seen:
                raise InputError(f"device '{self.topology.devices[device].name}' is in a group twice")
            seen.add(device)

    @property
    def members(self) -> int:
        """Number of members n."""
        return len(self.devices)

    @cached_property
    def by_server(self) -> list[list[int]]:
        """Members of each server, in order; servers in order of their first member. A bare host is a server."""
        servers: dict[object, list[int]] = {}
        for member, device in enumerate(self.devices):
            servers.setdefault(self.topology.devices[device].server or device, []).append(member)
        return list(servers.values())

    @cached_property
    def leaving(self) -> list[list[int]]:
        """Ids of the links that leave each member."""
        of_device: dict[int, list[int]] = {device: [] for device in self.devices}
        for i, link in enumerate(self.topology.links):
            if link.source in of_device:
                of_device[link.source].append(i)
        return [of_device[device] for device in self.devices]

    def path(self, i: int, j: int) -> list[int] | None:
        """Link ids from member i to member j, or None."""
        return self.router.path(self.devices[i], self.devices[j])

    def pair_rate(self, i: int, j: int) -> float:
        """Rate of the slowest link from member i to member j [bytes/s]; 0 without a path."""
        path = self.path(i, j)
        return 0.0 if path is None else min((self.topology.links[link].rate for link in path), default=float("inf"))

    def owners(self) -> np.ndarray:
        """First members of every server, as many as the smallest has: owners[server, shard], a column on one rail."""
        shards = min(len(members) for members in self.by_server)
        return np.array([members[:shards] for members in self.by_server])

    def rails(self) -> int:
        """Number of NICs that every server has nearest to its members, at least 1."""
        return max(1, min(rings.nics_of(self, members) for members in self.by_server))

    def heads(self) -> list[list[int]]:
        """Member of every server that stands for it on each channel between servers (see `rings.heads`)."""
        return rings.heads(self)

    def behind_nvswitches(self) -> bool:
        """True if every server has several members, which reach one another through NVSwitches."""
        if min(map(len, self.by_server)) < 2:
            return False
        return all(self._through_nvswitch(a, b) for members in self.by_server for a, b in zip(members, members[1:]))

    def _through_nvswitch(self, a: int, b: int) -> bool:
        links = [self.topology.links[link] for link in self.path(a, b) or ()]
        return any(self.topology.devices[link.destination].kind == "nvswitch" for link in links)

    @cached_property
    def library(self) -> Library:
        """The communication library on these members."""
        from simnet.workload.collectives import library  # which needs groups

        return library.Library(self, self.constants or library.CONSTANTS)

    def rings(self) -> list[list[int]]:
        """Orders of all members, each to be closed to a ring and run on its own channel (see `rings`)."""
        return self._rings

    @cached_property
    def _rings(self) -> list[list[int]]:
        return rings.rings(self)
