"""What the library sees of a group: the generation of its GPUs, and what a pattern of traffic loads its links with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simnet.topology.topology import FABRIC_KINDS, Topology
from simnet.workload.collectives.library.presets import DEFAULT_GENERATION, GENERATION_OF

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group

CLASSES = NVLINK, PCIE, NET = "nvlink", "pcie", "net"
"""Classes of links and hops: GPU to GPU over NVLink, over the host's PCIe, between servers."""
PCIE_CLASS = CLASSES.index(PCIE)


@dataclass(frozen=True, eq=False)
class Load:
    """What connections do to links when all carry their bytes at once.

    busy [s]: how long the busiest link is busy at its nominal rate, by class of hop. Bytes of copies over PCIe:
    into_host into the busiest socket, between over the busiest link between two sockets, staged over the busiest PCIe
    link on the way through host memory. copy [s]: the longest of a copy over PCIe at the rate that servers allow.
    leaving [bytes]: the most that one server sends into the fabric, over links of kind `fabric` ('' where nothing
    does). classes: of every connection [index into CLASSES, int8]. latency [s]: of its path.
    """

    busy: dict[str, float]
    into_host: float
    between: float
    staged: float
    copy: float
    leaving: float
    fabric: str
    classes: np.ndarray
    latency: np.ndarray

    @property
    def kinds(self) -> set[str]:
        """Classes of the connections."""
        return {CLASSES[c] for c in np.unique(self.classes)}


def generation_of(group: Group) -> str:
    """The oldest generation among the GPUs of a group, as the slowest rank sets the pace."""
    order = list(dict.fromkeys(GENERATION_OF.values()))
    known = [_generation(model) for model in {group.topology.devices[d].model: None for d in group.devices}]
    return min(known, key=order.index)


def load(group: Group, source, destination, channel, size) -> Load:
    """Load of connections between members that carry `size` [bytes] each, evenly spread over equal paths."""
    devices, links, size = np.array(group.devices), group.topology.links, np.asarray(size)
    source, destination = np.asarray(source), np.asarray(destination)
    keys = np.zeros(len(source), np.uint64)
    routes = group.router.routes(devices[source], devices[destination], np.asarray(channel), keys, spray=True)
    owner = np.repeat(np.arange(len(source)), np.diff(routes.start))
    kind = np.array([_class_of_link(link.kind) for link in links], np.int8)[routes.links]
    classes = np.zeros(len(source), np.int8)
    np.maximum.at(classes, owner, kind)
    kind[kind == PCIE_CLASS] = classes[owner][kind == PCIE_CLASS]  # NICs reach GPUs by themselves
    ends = _Ends(group.topology)
    carried = [
        np.bincount(routes.links[kind == i], (routes.shares * size[owner])[kind == i], len(links))
        for i in range(len(CLASSES))
    ]
    copied = carried[PCIE_CLASS]
    busy = {name: float((amount / group.topology.rates).max(initial=0.0)) for name, amount in zip(CLASSES, carried)}
    through_memory = np.isin(owner, owner[ends.into_memory[routes.links]]) & ends.pcie[routes.links]
    return Load(
        busy,
        float(np.bincount(ends.destination[ends.into_host], copied[ends.into_host]).max(initial=0.0)),
        float(copied[ends.between].max(initial=0.0)),
        float(np.bincount(routes.links[through_memory], size[owner[through_memory]]).max(initial=0.0)),
        _copies(group, source, size, classes),
        *_leaving(group, carried[CLASSES.index(NET)]),
        classes,
        routes.latency,
    )


class _Ends:
    """What links of a topology lead to, as arrays over all links: pcie, into_host (over PCIe), between (sockets)."""

    def __init__(self, topology: Topology):
        kind = [device.kind for device in topology.devices]
        links = topology.links
        self.destination = np.array([link.destination for link in links], np.int64)
        self.pcie = np.array([link.kind == "pcie" for link in links], bool)
        self.into_memory = np.array([kind[link.destination] == "memory" for link in links], bool)
        into_cpu = np.array([kind[link.destination] == "cpu" for link in links], bool)
        self.into_host = into_cpu & self.pcie
        self.between = into_cpu & np.array([kind[link.source] == "cpu" for link in links], bool)


def _leaving(group: Group, carried: np.ndarray) -> tuple[float, str]:
    """Most bytes that leave one server into the fabric, and the kind of the links ('' where none do)."""
    topology, out, kinds = group.topology, Counter(), Counter()
    for link, amount in zip(topology.links, carried.tolist()):
        end = topology.devices[link.source]
        if amount and link.kind in FABRIC_KINDS and end.kind != "switch":
            out[end.server or end.name] += amount
            kinds[link.kind] += 1
    return (max(out.values()), kinds.most_common(1)[0][0]) if out else (0.0, "")


def _copies(group: Group, source, size, classes) -> float:
    """The longest copy inside a server over PCIe at its `copy_rate` [s]."""
    over_pcie = np.flatnonzero(classes == PCIE_CLASS)
    servers, devices = group.topology.servers, group.topology.devices
    rates = [servers[devices[group.devices[m]].server].copy_rate for m in np.asarray(source)[over_pcie]]
    return float((size[over_pcie] / np.array(rates, np.float64)).max(initial=0.0))


def _class_of_link(kind: str) -> int:
    name = NET if kind in FABRIC_KINDS else NVLINK if kind == "nvlink" else PCIE
    return CLASSES.index(name)


def _generation(model: str) -> str:
    beginnings = [start for start in GENERATION_OF if model.startswith(start)]
    return GENERATION_OF[max(beginnings, key=len)] if beginnings else DEFAULT_GENERATION
