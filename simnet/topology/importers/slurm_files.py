"""What stands in Slurm's topology.conf and topology.yaml: switches or blocks, and what hangs below each."""

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, model_validator

from simnet import reader
from simnet.params import Params, nearest
from simnet.reader import hostlist, lines
from simnet.reader.lines import Line

_KEYS = ("switchname", "blockname", "nodes", "switches", "linkspeed", "blocksizes")
_SHOWN = ("SwitchName", "BlockName", "Nodes", "Switches", "LinkSpeed", "BlockSizes")


@dataclass(frozen=True)
class Switch:
    """A switch or block, and what hangs below it."""

    name: str
    line: Line
    switches: list[str]
    nodes: list[str]


@dataclass(frozen=True)
class Layout:
    """Switches by name, or blocks. notes: what was not read."""

    switches: dict[str, Switch]
    blocks: bool
    notes: list[str]


def read(path: Path) -> Layout:
    """The layout of a file. Raises InputError with 'file:line: what is wrong'."""
    rows = lines.read(path)
    layout = _from_yaml(path) if re.match(r"-", rows[0].words[0]) else _from_conf(rows)
    hosts: dict[str, Line] = {}
    for switch in layout.switches.values():
        for host in switch.nodes:
            if host in hosts:
                raise switch.line.error(f"node '{host}' is there twice, first in line {hosts[host].number}")
            hosts[host] = switch.line
    for name, switch in layout.switches.items():
        if name in hosts:
            raise switch.line.error(f"'{name}' is a node, too, in line {hosts[name].number}")
    return layout


def roots(switches: dict[str, Switch]) -> list[str]:
    """Switches with none above, in order. Raises InputError where the switches are no trees."""
    above: dict[str, Switch] = {}
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


def _switch(kind: str, name: str, line: Line, switches: str | None, nodes: str | None) -> Switch:
    """kind: 'switch' or 'block'. switches, nodes: hostlist expressions, None where the file has none."""
    below = []
    for what, text in (("switches", switches), ("nodes", nodes)):
        try:
            below.append([] if text is None else hostlist.expand(text))
        except ValueError as error:
            raise line.error(f"{what}: {error}") from None
    if not any(below):
        raise line.error(f"nothing hangs below '{name}': it needs nodes{' or switches' * (kind == 'switch')}")
    return Switch(name, line, *below)


def _add(switches: dict[str, Switch], switch: Switch) -> None:
    if switch.name in switches:
        raise switch.line.error(f"'{switch.name}' is there twice, first in line {switches[switch.name].line.number}")
    switches[switch.name] = switch


def _check_sizes(line: Line, sizes: list[int], blocks: dict[str, Switch]) -> None:
    """A block has at least as many nodes as the first size; a size is the one before times a power of two."""
    for before, size in zip(sizes, sizes[1:]):
        if size % before or (size // before).bit_count() != 1 or size == before:
            raise line.error(f"a block size is the one before times a power of two, which {size} after {before} is not")
    for block in blocks.values():
        if len(block.nodes) < sizes[0]:
            raise block.line.error(
                f"block '{block.name}' has {len(block.nodes)} nodes, fewer than the block size {sizes[0]} of line "
                f"{line.number}"
            )


# -- topology.conf ----------------------------------------------------------------------------------------


def _from_conf(rows: list[Line]) -> Layout:
    switches: dict[str, Switch] = {}
    kinds: dict[str, Line] = {}
    notes: dict[str, None] = {}
    sizes: tuple[Line, list[int]] | None = None
    for line in _whole(rows):
        values = _values(line)
        kind = "block" if "blockname" in values or "blocksizes" in values else "switch"
        kinds.setdefault(kind, line)
        if len(kinds) > 1:
            other = next(iter(kinds.values()))
            raise line.error(f"switches and blocks in one file, which begins with the others in line {other.number}")
        if "linkspeed" in values:
            notes["LinkSpeed is not read, as Slurm does not read it either."] = None
        if "blocksizes" in values:
            sizes = line, _sizes(line, values)
            continue
        name = values.get(f"{kind}name")
        if not name:
            raise line.error("the line names no switch or block: it needs SwitchName=... or BlockName=...")
        if kind == "block" and "switches" in values:
            raise line.error("a block has Nodes, no Switches")
        _add(switches, _switch(kind, name, line, values.get("switches"), values.get("nodes")))
    if not switches:
        raise rows[0].error("there is no SwitchName or BlockName")
    if sizes:
        _check_sizes(*sizes, switches)
        notes["BlockSizes are for Slurm's scheduler: no part of the fabric is made of them."] = None
    return Layout(switches, "block" in kinds, list(notes))


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


def _sizes(line: Line, values: dict[str, str]) -> list[int]:
    if len(values) > 1:
        raise line.error("BlockSizes stand in a line of their own")
    sizes = values["blocksizes"].split(",")
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise line.error(f"BlockSizes should be whole numbers such as 4,8,16, got '{values['blocksizes'][:40]}'")
    return [int(size) for size in sizes]


# -- topology.yaml ----------------------------------------------------------------------------------------


class _TreeSwitch(Params):
    switch: str = Field(description="name")
    children: str | None = None
    nodes: str | None = None


class _Tree(Params):
    switches: tuple[_TreeSwitch, ...] = Field(min_length=1)


class _OneBlock(Params):
    block: str = Field(description="name")
    nodes: str


class _Blocks(Params):
    block_sizes: tuple[int, ...] = Field((), description="whole numbers")
    blocks: tuple[_OneBlock, ...] = Field(min_length=1)


class _Topology(Params):
    topology: str = Field(description="name")
    cluster_default: bool = False
    tree: _Tree | None = None
    block: _Blocks | None = None
    flat: bool | None = None

    @model_validator(mode="after")
    def _one_kind(self):
        if sum(kind is not None for kind in (self.tree, self.block, self.flat)) != 1:
            raise ValueError("a topology is one of tree, block and flat")
        return self


class _File(Params):
    topologies: tuple[_Topology, ...] = Field(min_length=1)


def _from_yaml(path: Path) -> Layout:
    file, source = reader.load(path, _File, root="topologies")

    def line(*location) -> Line:
        return Line(path, source.line(("topologies", *location)) or 1, ())

    number = next((i for i, one in enumerate(file.topologies) if one.cluster_default), 0)
    chosen = file.topologies[number]
    notes = [f"Of {len(file.topologies)} topologies in the file, '{chosen.topology}' is read."]
    switches: dict[str, Switch] = {}
    if chosen.tree:
        for i, one in enumerate(chosen.tree.switches):
            place = line(number, "tree", "switches", i)
            _add(switches, _switch("switch", one.switch, place, one.children, one.nodes))
    elif chosen.block:
        for i, one in enumerate(chosen.block.blocks):
            _add(switches, _switch("block", one.block, line(number, "block", "blocks", i), None, one.nodes))
        if chosen.block.block_sizes:
            _check_sizes(line(number, "block", "block_sizes"), list(chosen.block.block_sizes), switches)
    else:
        raise line(number).error(f"topology '{chosen.topology}' is flat, which says nothing of the network")
    return Layout(switches, chosen.block is not None, notes if len(file.topologies) > 1 else [])
