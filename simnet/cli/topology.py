"""What the terminal shows of a topology: its devices and links in groups, and a route hop by hop."""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from simnet import reader
from simnet.cli.output import bullet, heading, show_table, table
from simnet.errors import InputError, UnreachableError
from simnet.params import Params, nearest
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.builders import BUILDERS
from simnet.topology.describe import bisection_bandwidth, devices_by_kind, link_groups
from simnet.topology.distances import WORDS, Distances
from simnet.topology.importers import YAML
from simnet.topology.routing import Router
from simnet.units import RATE, TIME

_SOME, _FEW = 8, 3  # names in a message, in a row
_MOST_ROWS, _MOST_COLUMNS = 32, 32  # of a matrix


def topology_of(text: str, overrides: Iterable[str] = ()) -> Topology:
    """The topology that a file (of any format, or a whole experiment) or the name of a builder stands for.

    overrides: 'key=value' as given to `--set`: of the builder, the experiment, or beside the file.
    """
    return description_of(text, overrides).build()


def description_of(text: str, overrides: Iterable[str] = ()) -> Params:
    """The description of that topology, as an experiment has it."""
    if text in BUILDERS:
        return _described({}, BUILDERS[text], overrides)
    path = Path(text)
    if not path.is_file():
        if path.exists() or path.suffix or path.parent != Path():  # nobody means a builder by this
            raise InputError(f"{text}: {'is no file' if path.exists() else 'there is no such file'}")
        raise InputError(f"'{text}' is neither a file nor one of {', '.join(BUILDERS)}{nearest(text, BUILDERS)}")
    if path.suffix in (".yaml", ".yml") and reader.read(path, _Peek).jobs is not None:
        from simnet.experiment import load

        return load(path, overrides)[0].topology
    return _described({"file": str(path)}, TopologyFile, overrides)


def _described(data: dict[str, Any], model: type[Params], overrides: Iterable[str]) -> Params:
    data, source = reader.options.apply(data, overrides, reader.Source())
    return reader.validate(data, model, source)


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
        names = topology.names(topology.find(kind))
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
    _distances(out, topology)
    _assumptions(out, topology)


def import_topology(out: Console, text: str, overrides: list[str], to: Path, overwrite: bool) -> None:
    """Write the topology that `text` stands for into a YAML file, and print what was assumed. Raises InputError."""
    if to.suffix.lower() not in YAML:
        raise InputError(f"--to {to}: simnet's own format ends in {' or '.join(YAML)}")
    if to.exists() and not overwrite:
        raise InputError(f"--to {to}: is there already; --overwrite replaces it")
    topology = topology_of(text, overrides)
    written = f"# {topology.name}, from {Path(text).name}\n{native.to_yaml(topology)}".encode()
    if len(written) > reader.MAX_SIZE:
        raise InputError(
            f"{text}: too large for a file of simnet's own, of which {reader.MAX_SIZE >> 20} MiB are read; name the "
            "file itself as topology"
        )
    _write(to, written)
    out.print(f"{to}: {len(topology.gpus)} GPUs, {len(topology.devices)} devices, {len(topology.links)} links, written")
    _assumptions(out, topology)


def draw_topology(out: Console, topology: Topology, to: Path) -> None:
    """Write a picture of a topology. Raises InputError."""
    from simnet.figures import to_png
    from simnet.figures import topology as picture

    _write(to, to_png(picture.draw(topology)))
    heading(out, f"Picture in {to}")


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def _assumptions(out: Console, topology: Topology) -> None:
    if topology.assumptions:
        heading(out, "Assumptions")
        for sentence in dict.fromkeys(topology.assumptions):
            bullet(out, sentence)


def _distances(out: Console, topology: Topology) -> None:
    """Distances among the GPUs of the first server that has several, and to its NICs."""
    groups: dict[str, list[int]] = {}
    for gpu in topology.gpus:
        groups.setdefault(topology.devices[gpu].server, []).append(gpu)
    groups.pop("", None)
    if not groups:
        return
    server = max(groups, key=lambda name: min(len(groups[name]), 2))
    gpus = groups[server]
    nics = [i for i in topology.find("nic") if topology.devices[i].server == server]
    where = f" in server {server}, the first of {len(groups)}" if len(groups) > 1 else ""
    distances = Distances(topology)
    for title, columns in (("GPU to GPU", gpus), ("GPU to NIC", nics)):
        if len(gpus) * len(columns) > 1:
            heading(out, f"Distances from {title}{where}")
            _matrix(out, topology, distances, gpus, columns)


def _matrix(out: Console, topology: Topology, distances: Distances, rows: list[int], columns: list[int]) -> None:
    words = {a: distances.words(a, columns) for a in rows}
    apart = dict.fromkeys(word for found in words.values() for word in found if word != "X")
    if len(apart) == 1 and len(rows) * len(columns) > _FEW**2:
        bullet(out, f"{next(iter(apart))} between any two of them")
    else:
        names = [topology.devices[i].name.rpartition("/")[2] for i in columns[:_MOST_COLUMNS]]
        grid = table("<", *names)
        for column in grid.columns:
            column.min_width = None
        grid.padding = (0, 1, 0, 0)
        for a in rows[:_MOST_ROWS]:
            grid.add_row(topology.devices[a].name.rpartition("/")[2], *words[a][:_MOST_COLUMNS])
        show_table(out, grid)
        left = max(0, len(rows) - _MOST_ROWS), max(0, len(columns) - _MOST_COLUMNS)
        if any(left):
            bullet(out, f"... and {left[0]} rows and {left[1]} columns more")
    meaning = {**{word: WORDS.get(word) for word in apart}, **({"NV#": WORDS["NV#"]} if _nvlinks(apart) else {})}
    bullet(out, "; ".join(f"{word}: {between}" for word, between in meaning.items() if between))


def _nvlinks(words: Iterable[str]) -> bool:
    return any(word.startswith("NV") for word in words)


def show_route(out: Console, topology: Topology, source: str, destination: str) -> None:
    """Print the links from one device to another, hop by hop. Raises InputError, UnreachableError."""
    a, b = _device(topology, source), _device(topology, destination)
    if a == b:
        raise InputError(f"--route {source} {destination}: name two devices")
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
        names = topology.names((link.source, link.destination))
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
