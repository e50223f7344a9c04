"""What the terminal shows of a topology: its devices and links in groups, and a route hop by hop."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console

from simnet import reader
from simnet.cli.output import bullet, heading, show_table, table
from simnet.errors import InputError, UnreachableError
from simnet.params import Params, nearest
from simnet.topology import Topology, TopologyFile
from simnet.topology.builders import BUILDERS
from simnet.topology.describe import bisection_bandwidth, devices_by_kind, link_groups
from simnet.topology.routing import Router
from simnet.units import RATE, TIME

_SOME, _FEW = 8, 3  # names in a message, in a row


def topology_of(text: str) -> Topology:
    """The topology that a file (YAML, XML or a whole experiment) or the name of a builder stands for."""
    if text in BUILDERS:
        return reader.validate({}, BUILDERS[text]).build()
    path = Path(text)
    if not path.is_file():
        raise InputError(f"'{text}' is neither a file nor one of {', '.join(BUILDERS)}{nearest(text, BUILDERS)}")
    if path.suffix in (".yaml", ".yml") and reader.read(path, _Peek).jobs is not None:
        from simnet.experiment import load

        return load(path)[0].topology.build()
    return TopologyFile(file=path).build()


class _Peek(Params, extra="allow"):
    """Tells an experiment from a topology."""

    jobs: object = None


def show_topology(out: Console, topology: Topology) -> None:
    """Print what a topology consists of and what was assumed about it."""
    out.print(
        f"{topology.name}: {len(topology.gpus)} GPUs, {len(topology.devices)} devices, {len(topology.links)} links"
    )
    heading(out, "Devices")
    grid = table("kind<", "count", "names<")
    for kind, count in devices_by_kind(topology).items():
        names = [topology.devices[i].name for i in topology.find(kind)]
        grid.add_row(kind, str(count), ", ".join(names) if count <= _FEW else f"{names[0]} to {names[-1]}")
    show_table(out, grid)
    heading(out, "Links (a cable counts twice, once per direction)")
    grid = table("between<", "kind<", "count", "rate", "latency")
    for group in link_groups(topology):
        rate, latency = RATE.format(group.rate), TIME.format(group.latency)
        grid.add_row(" and ".join(group.ends), group.kind, str(group.count), rate, latency)
    show_table(out, grid)
    if len(topology.gpus) > 1:
        heading(out, "Bandwidth")
        bullet(out, f"{RATE.format(bisection_bandwidth(topology))} from the first half of the GPUs to the second")
    _servers(out, topology)
    if topology.assumptions:
        heading(out, "Assumptions")
        for sentence in dict.fromkeys(topology.assumptions):
            bullet(out, sentence)


def show_route(out: Console, topology: Topology, source: str, destination: str) -> None:
    """Print the links from one device to another, hop by hop. Raises InputError, UnreachableError."""
    a, b = _device(topology, source), _device(topology, destination)
    router = Router(topology)
    path = router.path(a, b)
    if path is None:
        raise UnreachableError(f"there is no path from {source} to {destination}")
    spread = router.routes(np.array([a]), np.array([b]), np.array([0]), np.array([0], np.uint64), spray=True)
    ways = f", one of several of equal cost over {len(spread.links)} links" if len(spread.links) > len(path) else ""
    out.print(f"{source} to {destination}: {len(path)} hops{ways}")
    grid = table("hop", "from<", "to<", "kind<", "rate", "latency")
    for hop, number in enumerate(path, 1):
        link = topology.links[number]
        names = (topology.devices[i].name for i in (link.source, link.destination))
        grid.add_row(str(hop), *names, link.kind, RATE.format(link.rate), TIME.format(link.latency))
    show_table(out, grid)
    if path:
        rate, latency = topology.rates[path].min(), topology.latencies[path].sum()
        bullet(out, f"bottleneck {RATE.format(rate)}, latency {TIME.format(latency)} in all")


def _servers(out: Console, topology: Topology) -> None:
    groups = Counter((server.p2p, server.gpudirect, server.copy_rate) for server in topology.servers.values())
    if not groups:
        return
    heading(out, "Servers")
    for (p2p, gpudirect, copy_rate), count in groups.items():
        pcie = "directly" if p2p else "through host memory"
        nic = "directly" if gpudirect else "through host memory"
        most = f"; one copy reaches at most {RATE.format(copy_rate)}" if copy_rate < math.inf else ""
        bullet(out, f"{count}: over PCIe, GPUs reach one another {pcie} and their NICs {nic}{most}")


def _device(topology: Topology, name: str) -> int:
    try:
        return topology.id_of(name)
    except KeyError:
        names = [device.name for device in topology.devices]
        some = ", ".join(names[:_SOME]) + (", ..." if len(names) > _SOME else "")
        hint = nearest(name, names) or f"; there are {some}"
        raise InputError(f"no device '{name}' in {topology.name}{hint}") from None
