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


@dataclass(frozen=True, eq=False)
class Load:
    """What connections do to links when all carry their bytes at once.

    busy [s]: by class of link, how long the busiest link of it is busy at its nominal rate. copy [s]: the longest of a
    copy over PCIe at the rate that servers allow. staged [bytes]: through host memory, on the busiest PCIe link;
    through_host [bytes]: into the busiest processor from its PCIe and from other sockets; leaving [bytes]: one server
    at most, all its NICs together, over links of kind `fabric`. classes: of every connection [index into CLASSES,
    int8]. latency [s]: of its path.
    """

    busy: dict[str, float]
    copy: float
    staged: float
    through_host: float
    leaving: float
    fabric: str
    classes: np.ndarray
    latency: np.ndarray


def generation_of(group: Group) -> str:
    """The oldest generation among the GPUs of a group, as the slowest rank sets the pace."""
    order = list(dict.fromkeys(GENERATION_OF.values()))
    known = [_generation(model) for model in {group.topology.devices[d].model: None for d in group.devices}]
    return min(known, key=order.index)


def load(group: Group, source, destination, channel, size) -> Load:
    """Load of connections between members that carry `size` [bytes] each, evenly spread over equal paths."""
    devices, links = np.array(group.devices), group.topology.links
    source, destination = np.asarray(source), np.asarray(destination)
    keys = np.zeros(len(source), np.uint64)
    routes = group.router.routes(devices[source], devices[destination], np.asarray(channel), keys, spray=True)
    owner = np.repeat(np.arange(len(source)), np.diff(routes.start))
    sent = routes.shares * np.asarray(size)[owner]
    carried = np.bincount(routes.links, sent, len(links))
    kind = np.array([_class_of_link(link.kind) for link in links], np.int8)
    times = carried / group.topology.rates
    busy = {name: float(times[kind == i].max(initial=0.0)) for i, name in enumerate(CLASSES)}
    classes = np.zeros(len(source), np.int8)
    np.maximum.at(classes, owner, kind[routes.links])
    ends = _Ends(group.topology)
    staged = np.isin(owner, owner[ends.into_memory[routes.links]])
    return Load(
        busy,
        _copies(group, source, destination, size, classes),
        float(np.bincount(routes.links[staged], sent[staged], len(links))[ends.pcie].max(initial=0.0)),
        float(np.bincount(ends.destination[ends.into_processor], carried[ends.into_processor]).max(initial=0.0)),
        *_leaving(group, carried),
        classes,
        routes.latency,
    )


class _Ends:
    """What links of a topology lead to."""

    def __init__(self, topology: Topology):
        kinds = [device.kind for device in topology.devices]
        self.pcie = np.array([link.kind == "pcie" for link in topology.links], bool)
        self.into_memory = np.array([kinds[link.destination] == "memory" for link in topology.links], bool)
        self.into_processor = np.array(
            [kinds[link.destination] == "cpu" and kinds[link.source] != "memory" for link in topology.links], bool
        )
        self.destination = np.array([link.destination for link in topology.links], np.int64)


def _copies(group: Group, source, destination, size, classes) -> float:
    """The longest copy inside a server over PCIe at its `copy_rate` [s]."""
    over_pcie = np.flatnonzero(classes == CLASSES.index(PCIE))
    servers, devices = group.topology.servers, group.topology.devices
    rates = [servers[devices[group.devices[m]].server].copy_rate for m in np.asarray(source)[over_pcie]]
    return float((np.asarray(size)[over_pcie] / np.array(rates, np.float64)).max(initial=0.0))


def _leaving(group: Group, carried: np.ndarray) -> tuple[float, str]:
    """Most bytes that leave one server into the fabric, and the kind of these links ('' where none do)."""
    topology, out, kinds = group.topology, Counter(), Counter()
    for number, link in enumerate(topology.links):
        end = topology.devices[link.source]
        if carried[number] and link.kind in FABRIC_KINDS and end.kind != "switch":
            out[end.server or end.name] += float(carried[number])
            kinds[link.kind] += 1
    return (max(out.values()), kinds.most_common(1)[0][0]) if out else (0.0, "")


def _class_of_link(kind: str) -> int:
    name = NET if kind in FABRIC_KINDS else NVLINK if kind == "nvlink" else PCIE
    return CLASSES.index(name)


def _generation(model: str) -> str:
    beginnings = [start for start in GENERATION_OF if model.startswith(start)]
    return GENERATION_OF[max(beginnings, key=len)] if beginnings else DEFAULT_GENERATION
