"""What `ibnetdiscover` prints, as a fabric: InfiniBand switches, hosts with their adapters, and their cables."""

from pathlib import Path

from simnet.errors import InputError
from simnet.hardware import LINKS
from simnet.hardware.network import FABRIC_LINK_LATENCY
from simnet.topology.importers import ibnetdiscover_cables
from simnet.topology.importers.hosts import HostNode
from simnet.topology.importers.ibnetdiscover_cables import Cable, Node
from simnet.topology.topology import Topology
from simnet.units import TIME


def read(path: Path, node: Path | None = None, link_latency: float | None = None) -> Topology:
    """Output of `ibnetdiscover`: a whole InfiniBand fabric.

    node: topology file of the server that every host is; link_latency [s]. Raises InputError with 'file:line: what is
    wrong'.
    """
    nodes, cables, one_sided = ibnetdiscover_cables.read(Path(path))
    topology = Topology(Path(path).stem)
    rates = _port_rates(cables)
    hosts = _hosts(nodes)
    server = None if node is None else HostNode(node)
    ids: dict[str, int] = {}
    for name, adapters in hosts.items():
        ids |= _add_host(topology, name, adapters, rates, server)
    switches = [n for n in nodes.values() if n.kind == "S"]
    repeated = _repeated([n.description for n in switches])
    for switch in switches:
        unique = switch.description and switch.description not in repeated
        ids[switch.guid] = topology.add_device(
            switch.description if unique else f"{switch.description} {switch.guid}".strip(), "switch"
        )
    latency = FABRIC_LINK_LATENCY if link_latency is None else link_latency
    for cable in cables:
        if cable.a.guid in ids and cable.b.guid in ids:
            topology.connect(ids[cable.a.guid], ids[cable.b.guid], cable.rate, latency, "ib")
    topology.assumptions += _notes(nodes, cables, hosts, one_sided, node, link_latency)
    return topology


def _notes(
    nodes, cables: list[Cable], hosts, one_sided: int, node: Path | None, link_latency: float | None
) -> list[str]:
    """What the file does not say, and what was left out."""
    notes = []
    if node is None and hosts:
        notes.append(
            "What is inside of hosts is not in the file: each is taken as one GPU that reaches every adapter at the "
            "rate of its ports; a `node` beside the file says otherwise."
        )
    if link_latency is None and cables:
        notes.append(
            f"The latency of links is taken as {TIME.format(FABRIC_LINK_LATENCY)}: no `link_latency` beside the file."
        )
    left_out = {
        "aggregation nodes of SHARP": [n for n in nodes.values() if n.aggregates],
        "routers": [n for n in nodes.values() if n.kind == "R"],
    }
    notes += [f"Left out: {what} ({len(found)})." for what, found in left_out.items() if found]
    if one_sided:
        notes.append(f"Cables that one of their ends lists, as the file has no block of the other: {one_sided}.")
    loose = [n.shown for n in nodes.values() if n.kind == "H" and not n.aggregates and not n.ports and n.line]
    if loose:
        notes.append(f"Adapters without any cable: {', '.join(loose[:4])}{' and others' if len(loose) > 4 else ''}.")
    return notes


def _port_rates(cables: list[Cable]) -> dict[str, float]:
    """Rate [bytes/s] of all ports of a node that have cables, by its GUID."""
    rates: dict[str, float] = {}
    for cable in cables:
        for end in (cable.a, cable.b):
            rates[end.guid] = rates.get(end.guid, 0.0) + cable.rate
    return rates


def _hosts(nodes: dict[str, Node]) -> dict[str, list[tuple[str, Node]]]:
    """Adapters of every host, each with its name: 'node17 mlx5_0' is adapter mlx5_0 of node17."""
    hosts: dict[str, list[tuple[str, Node]]] = {}
    adapters = [n for n in nodes.values() if n.kind == "H" and not n.aggregates]
    repeated = _repeated([n.description for n in adapters])
    for adapter in adapters:
        words = adapter.description.split()
        named = len(words) == 2 and adapter.description not in repeated
        host, name = words if named else (f"{adapter.description} {adapter.guid}".strip(), "nic0")
        hosts.setdefault(host, []).append((name, adapter))
    return hosts


def _repeated(names: list[str]) -> set[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return {name for name, count in counts.items() if count > 1}


def _add_host(
    topology: Topology, host: str, adapters, rates: dict[str, float], server: HostNode | None
) -> dict[str, int]:
    """Add what stands at a host; returns the ids of its adapters by GUID."""
    if server is not None:
        ports = server.place(topology, host)
        if len(ports) != len(adapters):
            raise InputError(
                f"node: {server.name} has {len(ports)} NICs, but {host} has {len(adapters)} adapters in the fabric"
            )
        return {adapter.guid: port for (_, adapter), port in zip(sorted(adapters, key=lambda a: a[0]), ports)}
    topology.add_server(host)
    gpu = topology.add_device(f"{host}/gpu0", "gpu", host)
    ids = {}
    for name, adapter in adapters:
        rate = rates.get(adapter.guid, 0.0)
        ids[adapter.guid] = nic = topology.add_device(f"{host}/{name}", "nic", host, port_rate=rate)
        topology.connect(gpu, nic, rate or LINKS["pcie4_x16"].rate, LINKS["pcie4_x16"].latency, "pcie")
    return ids
