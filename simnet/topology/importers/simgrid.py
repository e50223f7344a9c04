"""Platform XML of SimGrid, version 4: a cluster of hosts in one of the shapes that SimGrid knows.

    platform > zone* > cluster id prefix radical suffix speed bw lat [topology topo_parameters] [bb_bw bb_lat] ...

(https://simgrid.org/doc/latest/XML_reference.html). Hosts are gpus with the names that the file gives them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from simnet.params import nearest
from simnet.topology.importers import simgrid_shapes as shapes
from simnet.topology.importers import xml_tree
from simnet.topology.importers.simgrid_shapes import Cluster
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME, Dimension

_MOST_HOSTS = 100_000
_ZONES = ("zone", "AS")
_SHAPES = {"FLAT": shapes.flat, "FAT_TREE": shapes.fat_tree, "TORUS": shapes.torus, "DRAGONFLY": shapes.dragonfly}
_POLICIES = ("SHARED", "SPLITDUPLEX", "FATPIPE")
_ATTRIBUTES = (
    "id", "prefix", "suffix", "radical", "speed", "core", "bw", "lat", "sharing_policy", "bb_bw", "bb_lat",
    "bb_sharing_policy", "router_id", "topology", "topo_parameters", "limiter_link", "loopback_bw", "loopback_lat",
)  # fmt: skip


def read(path: Path, gpu: str | None = None) -> Topology:
    """A cluster of SimGrid's platform XML: backbone, crossbar, fat tree, torus or dragonfly.

    gpu: model of the hosts, a row of GPUS. Raises InputError with 'file:line: what is wrong'.
    """
    root = xml_tree.read(Path(path))
    if root.tag != "platform":
        raise root.error("expected <platform>, with which SimGrid's platform XML starts")
    if not re.match(r"4(\.|\Z)", root.get("version")):
        version = root.get("version")
        raise root.error(f"version '{version}' is not read, only 4 and 4.1; SimGrid's simgrid_update_xml converts it")
    clusters = list(_clusters(root))
    if not clusters:
        raise root.error("there is no <cluster> in this file")
    if len(clusters) > 1:
        raise clusters[1].error("the second of this file; a platform of one cluster is what is read")
    element = clusters[0]
    topology = Topology(Path(path).stem)
    cluster = _cluster(element, gpu or "", topology.assumptions)
    kind = element.get("topology") or "FLAT"
    if kind not in _SHAPES:
        raise element.error(f"topology: unknown '{kind}'; allowed: {', '.join(_SHAPES)}{nearest(kind, _SHAPES)}")
    if kind != "FLAT" and cluster.backbone:
        raise element.error(f"bb_bw: a {kind} has no backbone")
    _SHAPES[kind](topology, cluster)
    return topology


def _clusters(parent: Element) -> Iterator[Element]:
    """Clusters in zones of zones; InputError where something else joins or makes hosts."""
    for child in parent.children:
        if child.tag in _ZONES:
            yield from _clusters(child)
        elif child.tag == "cluster":
            yield child
        elif child.tag not in ("prop", "config"):
            raise child.error("a platform of one <cluster> is read, without hosts, links and routes of their own")


def _cluster(element: Element, model: str, notes: list[str]) -> Cluster:
    for name in element.attributes:
        if name not in _ATTRIBUTES:
            raise element.error(f"{name}: is not read; allowed: {', '.join(_ATTRIBUTES)}{nearest(name, _ATTRIBUTES)}")
    rate, latency = _quantity(element, "bw", RATE), _quantity(element, "lat", TIME)
    backbone = None
    if element.get("bb_bw"):
        backbone = _quantity(element, "bb_bw", RATE), _quantity(element, "bb_lat", TIME)
    elif element.get("bb_lat"):
        raise element.error("bb_lat: there is no bb_bw to go with it")
    if element.get("speed") and not model:
        notes.append("Speeds of hosts are not read: without a `gpu` beside the file, they cannot compute.")
    if element.get("loopback_bw") or element.get("loopback_lat"):
        notes.append("Loopback links are left out: what a rank sends itself takes no link.")
    policy = _policy(element, "sharing_policy", "SPLITDUPLEX")
    if policy == "SHARED":
        notes.append(f"Links of the cluster share {element.get('bw')} between both directions (SHARED): taken as each.")
    elif policy == "FATPIPE":
        notes.append("Links of the cluster give every flow their full rate (FATPIPE): taken as shared by their flows.")
    return Cluster(
        element=element,
        hosts=_hosts(element),
        model=model,
        rate=rate,
        latency=latency,
        backbone=backbone,
        shares_backbone=_policy(element, "bb_sharing_policy", "SHARED") != "FATPIPE",
        limiter=_quantity(element, "limiter_link", RATE) if element.get("limiter_link") else 0.0,
    )


def _hosts(element: Element) -> list[str]:
    """Names of the hosts: prefix, number, suffix, with the numbers of `radical` such as '0-15,20'."""
    numbers: dict[int, None] = {}
    for part in element.get("radical").split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?", part)
        if not match:
            raise element.error(f"radical: expected numbers such as '0-15,20', got '{element.get('radical')[:40]}'")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise element.error(f"radical: '{part.strip()}' ends before it begins")
        if last - first + len(numbers) >= _MOST_HOSTS:
            raise element.error(f"radical: more than {_MOST_HOSTS:,} hosts")
        if any(number in numbers for number in range(first, last + 1)):
            raise element.error(f"radical: names a host twice ('{part.strip()}')")
        numbers.update(dict.fromkeys(range(first, last + 1)))
    return [f"{element.get('prefix')}{number}{element.get('suffix')}" for number in numbers]


def _quantity(element: Element, name: str, dimension: Dimension) -> float:
    text = element.get(name)
    if not text:
        raise element.error(f"{name}: is missing")
    try:
        return dimension.parse(text)
    except ValueError as error:
        raise element.error(f"{name}: {error}") from None


def _policy(element: Element, name: str, default: str) -> str:
    policy = element.get(name).upper() or default
    if policy not in _POLICIES:
        raise element.error(f"{name}: unknown '{element.get(name)}'; allowed: {', '.join(_POLICIES)}")
    return policy
