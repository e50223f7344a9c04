"""GraphML of wide-area networks, as the Internet Topology Zoo publishes them (http://topology-zoo.org/dataset.html).

    graphml > key id for attr.name | graph edgedefault > node id | edge source target > data key

Every node is a gpu on a router, every edge a cable both ways. Of the data of an edge its rate is read: LinkSpeedRaw in
bits per second, else a label that states it. Rates and latencies that are not there are assumed and told.
"""

import math
import re
from pathlib import Path

from simnet.hardware import NICS
from simnet.topology.importers import forwarding_hosts, xml_tree
from simnet.topology.importers.xml_tree import Element
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME

_MOST_NODES = 100_000
_PER_KM = 4.9e-6  # [s] of light in fibre
_EARTH = 6371.0  # [km] mean radius
_LATENCY = 1e-3  # [s] of a cable of unknown length: 200 km
_NAMES = ("label", "name")
_RATE_LABELS = ("LinkLabel", "label", "LinkSpeed")

_STATED = re.compile(r"(?<![\w.-])([0-9]+(?:\.[0-9]+)?)\s*([kMGT])(?:bps|b/s|bit/s|B/s|b\b)", re.IGNORECASE)
_CARRIER = re.compile(
    r"(?<![\w-])(?:OC-?([0-9]{1,4})|STM-?([0-9]{1,3})|(T1|DS-?1|E1|T3|DS-?3|E3))(?![0-9])", re.IGNORECASE
)
_OC1 = 51.84e6  # [bits/s] of SONET's OC-1; STM-1 is three of them
_LINES = {"T1": 1.544e6, "DS1": 1.544e6, "E1": 2.048e6, "T3": 44.736e6, "DS3": 44.736e6, "E3": 34.368e6}  # [bits/s]


def read(
    path: Path, gpu: str | None = None, link_rate: float | None = None, link_latency: float | None = None
) -> Topology:
    """GraphML of a wide-area network, as the Internet Topology Zoo has it; packed by gzip or not.

    gpu: model of the hosts, a row of GPUS; link_rate [bytes/s], link_latency [s]: of edges of which the file states
    none. Raises InputError with 'file:line: what is wrong'.
    """
    root = xml_tree.read(Path(path))
    if root.tag != "graphml":
        raise root.error("expected <graphml>, with which GraphML starts")
    graphs = list(root.all("graph"))
    if len(graphs) != 1:
        raise root.error(f"expected one <graph>, found {len(graphs)}")
    keys = {key.get("id"): key.get("attr.name") for key in root.all("key")}
    nodes = _nodes(graphs[0])
    edges = _edges(graphs[0], nodes)
    topology = Topology(Path(path).name.removesuffix(".gz").removesuffix(".graphml"))
    names = _unique_names(nodes, keys)
    joined = {node for _, *ends in edges for node in ends}
    alone = [node for node in nodes if node not in joined]
    for node in alone:
        del names[node]
    if alone:
        topology.assumptions.append(f"{len(alone)} nodes without edges are left out.")
    routers = dict(zip(names, forwarding_hosts.add_hosts(topology, names.values(), gpu or "")))
    rates = _rates([edge for edge, *_ in edges], keys, link_rate, topology.assumptions)
    latencies = _latencies(edges, nodes, keys, link_latency, topology.assumptions)
    for (_, a, b), rate, latency in zip(edges, rates, latencies):
        topology.connect(routers[a], routers[b], rate, latency, "ethernet")
    forwarding_hosts.plug_in(topology, list(routers.values()))
    if gpu is None:
        topology.assumptions.append("The hosts are of no model: without a `gpu` beside the file, they cannot compute.")
    return topology


def _nodes(graph: Element) -> dict[str, Element]:
    nodes: dict[str, Element] = {}
    for child in graph.children:
        if child.tag == "hyperedge":
            raise child.error("edges of more than two ends are not read")
        if child.tag == "node":
            if child.get("id") in nodes:
                raise child.error(f"'{child.get('id')}' is there twice, first at {nodes[child.get('id')].place}")
            if any(child.all("graph")):
                raise child.error(f"'{child.get('id')}' is a graph of its own, which is not read")
            nodes[child.get("id")] = child
    if len(nodes) > _MOST_NODES:
        raise graph.error(f"more than {_MOST_NODES:,} nodes")
    if not nodes:
        raise graph.error("there is no node in it")
    return nodes


def _edges(graph: Element, nodes: dict[str, Element]) -> list[tuple[Element, str, str]]:
    """(edge, node, node) of every edge; loops are left out."""
    edges = []
    for edge in graph.all("edge"):
        ends = edge.get("source"), edge.get("target")
        for end in ends:
            if end not in nodes:
                raise edge.error(f"there is no node '{end}'")
        if ends[0] != ends[1]:
            edges.append((edge, *ends))
    if not edges:
        raise graph.error("no edge joins two of its nodes")
    return edges


def _data(element: Element, keys: dict[str, str]) -> dict[str, str]:
    """What the file says of a node or edge, by the name of the attribute."""
    return {keys.get(child.get("key"), ""): child.text for child in element.all("data") if child.text}


def _unique_names(nodes: dict[str, Element], keys: dict[str, str]) -> dict[str, str]:
    """A name for every node: its label, with its id where another has the same or it has none."""
    labels = {node: _label(element, keys) for node, element in nodes.items()}
    counts: dict[str, int] = {}
    for label in labels.values():
        counts[label] = counts.get(label, 0) + 1
    return {
        node: label if label and counts[label] == 1 else f"{label} {node}".strip() for node, label in labels.items()
    }


def _label(node: Element, keys: dict[str, str]) -> str:
    data = _data(node, keys)
    found = next((data[name] for name in _NAMES if name in data), "") or _drawn_label(node)
    return " ".join(found.replace("/", "-").split())


def _drawn_label(node: Element) -> str:
    """The label in the drawing of yEd, which stands in a y:NodeLabel."""
    for child in node.children:
        text = child.text if child.tag.endswith("NodeLabel") else _drawn_label(child)
        if text:
            return text
    return ""


# -- rates ------------------------------------------------------------------------------------------------


def _rates(edges: list[Element], keys: dict[str, str], given: float | None, notes: list[str]) -> list[float]:
    """Rate [bytes/s] of every edge; where none is stated, the given one, else the lowest of the file, else 10 Gb/s."""
    data = [_data(edge, keys) for edge in edges]
    stated = [_stated_rate(edge, row) for edge, row in zip(edges, data)]
    notes += _readings([label for row in data for name, label in row.items() if name in _RATE_LABELS])
    missing = sum(1 for rate in stated if not rate)
    if not missing:
        return stated
    default, why = given, "as given"
    if default is None:
        known = [rate for rate in stated if rate]
        default = min(known) if known else NICS["10gbe"].rate
        why = "the lowest that it states" if known else "assumed, as it states none: better give a link_rate"
    notes.append(f"Of {len(edges)} edges the file states no rate of {missing}: taken as {RATE.format(default)}, {why}.")
    return [rate or default for rate in stated]


def _readings(labels: list[str]) -> list[str]:
    """How rates in labels were read where that is open to doubt."""
    notes = []
    if any(_bits(label) and re.search(r"[<>]", label) for label in labels):
        notes.append("Labels such as '< 10 Gbps' are taken as the rate that they name.")
    if any(_bits(label) and re.search(r"[kMGT]B/s", label) for label in labels):
        notes.append("Labels such as '1 GB/s' are taken as Gb/s, which is what carriers sell.")
    return notes


def _stated_rate(edge: Element, data: dict[str, str]) -> float:
    """Rate [bytes/s] that the data of an edge state, 0 if none. Raises InputError."""
    raw = data.get("LinkSpeedRaw", "")
    if raw:
        try:
            return RATE.parse(f"{raw}bps")
        except ValueError:
            raise edge.error(f"LinkSpeedRaw: expected a number of bits per second, got '{raw[:40]}'") from None
    for label in (data[name] for name in _RATE_LABELS if name in data):
        if bits := _bits(label):
            return RATE.parse(f"{bits!r}bps")
    return 0.0


def _bits(label: str) -> float:
    """Rate [bits/s] in a label such as '10 Gbps', '45 Mbps DS-3', 'OC-192c', 'T1'; 0 if there is none."""
    if found := _STATED.search(label):
        return float(found[1]) * {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}[found[2].lower()]
    if found := _CARRIER.search(label):
        if found[3]:
            return _LINES[found[3].upper().replace("-", "")]
        return int(found[1] or found[2]) * _OC1 * (1 if found[1] else 3)
    return 0.0


# -- latencies --------------------------------------------------------------------------------------------


def _latencies(edges, nodes: dict[str, Element], keys: dict[str, str], given: float | None, notes: list[str]):
    """Latency [s] of every edge: of light along the great circle, else the given one, else 1 ms."""
    places = {node: _place(element, _data(element, keys)) for node, element in nodes.items()}
    latencies, unknown = [], 0
    for _, a, b in edges:
        known = places[a] is not None and places[b] is not None
        unknown += not known
        latencies.append(_distance(places[a], places[b]) * _PER_KM if known else given or _LATENCY)
    if unknown < len(edges):
        notes.append(f"Latencies are of light in fibre, {_PER_KM * 1e6:g} us a km, along the great circle.")
    if unknown:
        why = "as given" if given else "assumed: better give a link_latency"
        notes.append(
            f"The file does not say where the ends of {unknown} edges are: their latency is taken as "
            f"{TIME.format(given or _LATENCY)}, {why}."
        )
    return latencies


def _place(node: Element, data: dict[str, str]) -> tuple[float, float] | None:
    """Latitude and longitude [degrees]. Raises InputError."""
    if "Latitude" not in data or "Longitude" not in data:
        return None
    try:
        latitude, longitude = float(data["Latitude"]), float(data["Longitude"])
    except ValueError:
        raise node.error("Latitude and Longitude: expected numbers of degrees") from None
    if not (abs(latitude) <= 90 and abs(longitude) <= 360):
        raise node.error(f"there is no place at {latitude:g} degrees north, {longitude:g} east")
    return latitude, longitude


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Length [km] of the great circle between two places (haversine formula)."""
    (lat1, lon1), (lat2, lon2) = (map(math.radians, place) for place in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * _EARTH * math.asin(min(1.0, math.sqrt(h)))
