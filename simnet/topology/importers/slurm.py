"""Slurm's topology.conf as a fabric: the tree of its switches, or its blocks.

    SwitchName=spine Switches=leaf[0-1]         BlockName=b0 Nodes=n[01-18]
    SwitchName=leaf0 Nodes=n[00-15]             BlockName=b1 Nodes=n[19-36]
    SwitchName=leaf1 Nodes=n[16-31]             BlockSizes=18

The file says what hangs below what, not how fast it is joined. A switch is as wide upwards as all that hangs below it.
"""

from dataclasses import dataclass
from pathlib import Path

from simnet.errors import InputError
from simnet.hardware import NICS
from simnet.hardware.network import FABRIC_LINK_LATENCY
from simnet.params import nearest
from simnet.reader import hostlist, lines
from simnet.reader.lines import Line
from simnet.topology.importers.hosts import HostNode
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME

_KEYS = ("switchname", "blockname", "nodes", "switches", "linkspeed", "blocksizes")
_SHOWN = ("SwitchName", "BlockName", "Nodes", "Switches", "LinkSpeed", "BlockSizes")
_CORE = "core"


@dataclass(frozen=True)
class _Switch:
    """A line of the file: what hangs below a switch or block."""

    name: str
    line: Line
    switches: list[str]
    nodes: list[str]


def read(
    path: Path,
    node: Path | None = None,
    gpu: str | None = None,
    link_rate: float | None = None,
    link_latency: float | None = None,
) -> Topology:
    """Slurm's topology.conf: a tree of switches, or blocks.

    node: topology file of the server that every node is; gpu: row of GPUS; link_rate [bytes/s] of a node's link;
    link_latency [s]. Raises InputError with 'file:line: what is wrong'.
    """
    switches, blocks, notes = _parse(lines.read(Path(path)))
    roots = _roots(switches)
    topology = Topology(Path(path).stem)
    fabric = _Fabric(topology, node, gpu, link_rate, link_latency)
    for switch in switches.values():
        for name in switch.nodes:
            fabric.add_host(name)
    tops = [fabric.add_switch(switches, root) for root in roots]
    if blocks and len(roots) > 1:
        core = topology.add_device(_CORE, "switch")
        for top, rate in tops:
            fabric.connect(top, core, rate)
        notes.append(f"How blocks are joined is not in the file: taken as one switch '{_CORE}' above all of them.")
    elif len(roots) > 1:
        notes.append(
            f"{len(roots)} switches have none above them: what hangs below one cannot reach what is below others."
        )
    topology.assumptions += fabric.assumptions + notes
    return topology


class _Fabric:
    """Adds hosts, switches and links; `assumptions` says what about them was not in the file."""

    def __init__(
        self, topology: Topology, node: Path | None, gpu: str | None, rate: float | None, latency: float | None
    ):
        self.topology, self.gpu = topology, gpu or ""
        self.node = None if node is None else HostNode(node)
        if self.node is not None and gpu is not None:
            raise InputError("gpu: the model of the GPUs is that of the node")
        rates = [NICS["ndr"].rate] if self.node is None else self.node.rates
        self.rates = rates if rate is None else [rate] * len(rates)
        self.latency = FABRIC_LINK_LATENCY if latency is None else latency
        self.ports: dict[str, list[int]] = {}
        self.assumptions = []
        if not all(self.rates):
            raise InputError(f"link_rate: {self.node.name} does not say how fast its NICs are; give a link_rate")
        if self.node is None:
            self.assumptions.append(
                "What a node is, is not in the file: each is taken as one GPU straight on its switch."
            )
        if self.node is None and gpu is None:
            self.assumptions.append(
                "The model of the GPUs is not in the file: without a `gpu` beside it, they cannot compute."
            )
        if rate is None:
            each = "the rate of its NICs" if self.node else RATE.format(self.rates[0])
            self.assumptions.append(f"Rates are not in the file: the link of a node is taken as {each}.")
        if latency is None:
            self.assumptions.append(f"The latency of links is not in the file: taken as {TIME.format(self.latency)}.")
        self.assumptions.append(
            "A switch is taken to be as fast upwards as all that hangs below it, by links of InfiniBand."
        )

    def add_host(self, name: str) -> None:
        """Add what stands at a node."""
        if self.node is None:
            self.ports[name] = [self.topology.add_device(name, "gpu", model=self.gpu)]
        else:
            self.ports[name] = self.node.place(self.topology, name)

    def add_switch(self, switches: dict[str, _Switch], root: str) -> tuple[int, float]:
        """Add a switch and all below it; returns its id and the rate [bytes/s] of what hangs below."""
        order = [root]
        for name in order:  # grows while it is read
            order += switches[name].switches
        ids = {name: self.topology.add_device(name, "switch") for name in order}
        below: dict[str, float] = {}
        for name in reversed(order):  # children before their parents
            for child in switches[name].switches:
                self.connect(ids[child], ids[name], below[child])
            for host in switches[name].nodes:
                for port, rate in zip(self.ports[host], self.rates):
                    self.connect(port, ids[name], rate)
            below[name] = sum(below[c] for c in switches[name].switches) + len(switches[name].nodes) * sum(self.rates)
        return ids[root], below[root]

    def connect(self, a: int, b: int, rate: float) -> None:
        """Join two devices by a cable of `rate` [bytes/s]."""
        self.topology.connect(a, b, rate, self.latency, "ib")


# -- the file ---------------------------------------------------------------------------------------------


def _parse(rows: list[Line]) -> tuple[dict[str, _Switch], bool, list[str]]:
    """Switches or blocks by name, whether they are blocks, and what was not read."""
    switches: dict[str, _Switch] = {}
    hosts: dict[str, Line] = {}
    kinds: dict[str, Line] = {}
    notes: dict[str, None] = {}
    for line in _whole(rows):
        values = _values(line)
        if "linkspeed" in values:
            notes["LinkSpeed is not read, as Slurm does not read it either."] = None
        kind = "blockname" if "blockname" in values or "blocksizes" in values else "switchname"
        kinds.setdefault(kind, line)
        if len(kinds) > 1:
            other = next(iter(kinds.values()))
            raise line.error(f"switches and blocks in one file, which begins with the others in line {other.number}")
        if "blocksizes" in values:
            _check_sizes(line, values)
            notes["BlockSizes are for Slurm's scheduler, and not read."] = None
            continue
        switch = _switch(line, values, kind)
        if switch.name in switches:
            raise line.error(f"'{switch.name}' is there twice, first in line {switches[switch.name].line.number}")
        switches[switch.name] = switch
        for host in switch.nodes:
            if host in hosts:
                raise line.error(f"node '{host}' is there twice, first in line {hosts[host].number}")
            hosts[host] = line
    if not switches:
        raise rows[0].error("there is no SwitchName or BlockName")
    for name, switch in switches.items():
        if name in hosts:
            raise switch.line.error(f"'{name}' is a node, too, in line {hosts[name].number}")
    return switches, "blockname" in kinds, list(notes)


def _whole(rows: list[Line]) -> list[Line]:
    """Lines without comments, those that end in a backslash joined with the next."""
    whole: list[Line] = []
    goes_on = False
    for line in rows:
        text = " ".join(line.words).partition("#")[0].rstrip()
        words = tuple(text.rstrip("\\").split())
        if goes_on:
            whole[-1] = Line(whole[-1].file, whole[-1].number, whole[-1].words + words)
        elif words:
            whole.append(Line(line.file, line.number, words))
        goes_on = text.endswith("\\") and bool(whole)
    return whole


def _values(line: Line) -> dict[str, str]:
    """key -> value of a line 'Key=value Key=value'."""
    values: dict[str, str] = {}
    for word in line.words:
        key, equals, value = word.partition("=")
        if key.lower() not in _KEYS or not equals:
            raise line.error(f"unknown word '{word[:40]}'; allowed: {'=, '.join(_SHOWN)}={nearest(key, _SHOWN)}")
        if key.lower() in values:
            raise line.error(f"{key} is there twice")
        values[key.lower()] = value.strip("\"'")
    return values


def _switch(line: Line, values: dict[str, str], kind: str) -> _Switch:
    name = values.get(kind)
    if not name:
        raise line.error("the line names no switch or block: it needs SwitchName=... or BlockName=...")
    if kind == "blockname" and "switches" in values:
        raise line.error("a block has Nodes, no Switches")
    below = {}
    for key in ("switches", "nodes"):
        try:
            below[key] = hostlist.expand(values[key]) if key in values else []
        except ValueError as error:
            raise line.error(f"{key.capitalize()}: {error}") from None
    if not (below["switches"] or below["nodes"]):
        raise line.error(
            f"nothing hangs below '{name}': it needs Nodes{'=' if kind == 'blockname' else ' or Switches'}"
        )
    return _Switch(name, line, **below)


def _check_sizes(line: Line, values: dict[str, str]) -> None:
    if len(values) > 1:
        raise line.error("BlockSizes stand in a line of their own")
    sizes = values["blocksizes"].split(",")
    if not all(size.isdigit() and int(size) for size in sizes):
        raise line.error(f"BlockSizes should be whole numbers such as 4,8,16, got '{values['blocksizes'][:40]}'")


def _roots(switches: dict[str, _Switch]) -> list[str]:
    """Switches with none above, in order. Raises InputError where the switches are no trees."""
    above: dict[str, _Switch] = {}
    for switch in switches.values():
        for child in switch.switches:
            if child not in switches:
                raise switch.line.error(f"there is no switch '{child}'{nearest(child, switches)}")
            if child in above:
                raise switch.line.error(
                    f"switch '{child}' is below '{above[child].name}' already, in line {above[child].line.number}"
                )
            above[child] = switch
    roots = [name for name in switches if name not in above]
    reached = list(roots)
    for name in reached:  # grows while it is read
        reached += switches[name].switches
    known = set(reached)
    for name, switch in switches.items():
        if name not in known:
            raise switch.line.error(f"switch '{name}' is below itself")
    return roots
