"""Dragonfly networks."""

from collections.abc import Iterator
from itertools import combinations

from pydantic import Field, PositiveInt, field_validator

from simnet.topology.builders.fabric import Fabric, add_switches
from simnet.topology.topology import Topology


class Dragonfly(Fabric):
    """Dragonfly (Kim et al. 2008): groups of fully meshed routers, any two groups joined by global links.

    routers_per_group, ports_per_router and global_links are the paper's a, p and h.
    """

    routers_per_group: PositiveInt = Field(4, description="all joined to one another")
    ports_per_router: PositiveInt = Field(2, description="ports for hosts on every router")
    global_links: PositiveInt = Field(2, description="links of every router to other groups")
    groups: PositiveInt | None = Field(
        None,
        description="default the most there can be, routers_per_group x global_links + 1, one link between any two; "
        "fewer share the links out evenly and leave the remainder unplugged",
    )

    @field_validator("groups")
    @classmethod
    def _can_be_joined(cls, groups: int | None, info) -> int | None:
        known = info.data.get("routers_per_group"), info.data.get("global_links")
        if groups is not None and None not in known and groups > known[0] * known[1] + 1:
            raise ValueError(f"{groups} cannot all be joined; routers_per_group x global_links + 1 are the most")
        return groups

    @property
    def _groups(self) -> int:
        return self.groups or self.routers_per_group * self.global_links + 1

    def fits(self, ports: int) -> int:
        """Port after port."""
        return self._groups * self.routers_per_group * self.ports_per_router // ports

    def build(self) -> Topology:
        """The cluster as a topology."""
        node, topology = self.node_ports(), Topology("dragonfly")
        groups = [
            add_switches(topology, (f"group{group}/router{i}" for i in range(self.routers_per_group)))
            for group in range(self._groups)
        ]
        for group in groups:
            for a, b in combinations(group, 2):
                self.wire(topology, a, b, node.rate)
        for (g, i), (h, j) in self._global_cables():
            self.wire(topology, groups[g][i], groups[h][j], node.rate)
        routers = (router for group in groups for router in group)
        self.plug_in_order(topology, node, (router for router in routers for _ in range(self.ports_per_router)))
        return topology

    def _global_cables(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """((group, router), (group, router)) of every global cable.

        Global port `turn` (groups - 1) + d - 1 of group g leads to group g + d (modulo groups), where the cable ends in
        the port that leads back.
        """
        others = self._groups - 1
        ports = self.routers_per_group * self.global_links
        for turn in range(ports // others if others else 0):
            for g, h in combinations(range(self._groups), 2):
                there, back = h - g - 1, others - (h - g)
                yield (
                    (g, (turn * others + there) // self.global_links),
                    (h, (turn * others + back) // self.global_links),
                )
