"""simnet's own topology files: YAML with either the `kind` and parameters of a builder, or every device and link.

    name: pair                                  kind: fat_tree
    devices:                                    k: 8
      gpu0: {kind: gpu, model: h100_sxm}        node: {kind: dgx_a100}
      gpu1: {kind: gpu, model: h100_sxm}
    links:
      - {between: [gpu0, gpu1], rate: 450GB/s, latency: 500ns, kind: nvlink}

A link `between` two devices runs both ways; one with `from` and `to` runs one way.
"""

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, create_model, model_validator

from simnet import reader
from simnet.errors import InputError
from simnet.hardware import GPUS
from simnet.params import Params, inside, nearest, row_name
from simnet.reader.yaml_tree import scalar
from simnet.topology.builders import BUILDERS
from simnet.topology.file import TopologyFile
from simnet.topology.importers import importer_of
from simnet.topology.topology import DEVICE_KINDS, LINK_KINDS, Topology
from simnet.units import RATE, SIZE, TIME, Rate, Size, Time


def read(path: Path) -> Topology:
    """The topology that a YAML file describes. Raises InputError with all problems, each with file and line."""
    path = Path(path)
    description = _description(path)
    _refuse_loop(path, description)
    try:
        return description.build()
    except InputError as error:
        raise InputError("\n".join(_placed(path, line) for line in str(error).splitlines())) from None


def to_yaml(topology: Topology) -> str:
    """A topology as text that `read` turns into an equal one: every device and link in its place and order."""
    lines = [f"name: {_text(topology.name)}"]
    for title, rows in (("servers", _server_rows(topology)), ("devices", _device_rows(topology))):
        if rows:
            lines += [f"{title}:", *(f"  {_text(name)}: {_flow(row)}" for name, row in rows.items())]
    links, assumptions = map(_flow, _link_rows(topology)), map(_quoted, topology.assumptions)
    for title, items in (("links", list(links)), ("assumptions", list(assumptions))):
        if items:
            lines += [f"{title}:", *(f"  - {item}" for item in items)]
    return "\n".join(lines) + "\n"


# -- the description --------------------------------------------------------------------------------------


class _ServerRow(Params):
    """A box, and what its devices may do among themselves."""

    p2p: bool = Field(True, description="GPUs reach each other over PCIe without staging in host memory")
    gpudirect: bool = Field(True, description="NICs reach the memory of GPUs without staging in host memory")
    copy_rate: Rate | None = Field(None, description="the most that one copy from GPU to GPU over PCIe reaches")


class _DeviceRow(Params):
    """A device."""

    kind: row_name(dict.fromkeys(DEVICE_KINDS)) = Field(description="what it is")
    server: str = Field("", description="the server it sits in")
    model: row_name({"": None, **GPUS}) = Field("", description="of a GPU")
    port_rate: Rate | None = Field(None, description="of the ports with which a NIC can be plugged into a fabric")


class _Link(Params):
    between: tuple[str, str] | None = Field(None, description="two devices, both ways")
    rate: Rate = Field(description="of each direction")
    latency: Time = Field(description="of one traversal, with the device that the link leads to")
    kind: row_name(dict.fromkeys(LINK_KINDS)) = Field(description="technology")
    buffer: Size = Field(0.0, description="of the queue at the head of the link; 0: not stated")

    @model_validator(mode="after")
    def _two_ends(self):
        one_way = (getattr(self, "from"), self.to)
        if (self.between is None) == (None in one_way) or (self.between and one_way != (None, None)):
            raise ValueError("needs either 'between: [a, b]' or both 'from: a' and 'to: b'")
        return self

    @property
    def ends(self) -> tuple[str, str]:
        """The two devices."""
        return self.between or (getattr(self, "from"), self.to)


_LinkRow = create_model(  # `from` is a keyword of Python
    "_LinkRow",
    __base__=_Link,
    **{
        "from": (str | None, Field(None, description="the device that sends, one way")),
        "to": (str | None, Field(None, description="the device that receives, one way")),
    },
)


def _server_known(device: _DeviceRow, info: ValidationInfo) -> _DeviceRow:
    servers = info.data.get("servers")
    if device.server and servers is not None and device.server not in servers:
        raise inside(("server",), _unknown("server", device.server, servers))
    return device


def _ends_known(link: _Link, info: ValidationInfo) -> _Link:
    devices = info.data.get("devices")
    if link.ends[0] == link.ends[1]:
        raise ValueError(f"joins '{link.ends[0]}' to itself, which carries nothing")
    for name in link.ends if devices is not None else ():
        if name not in devices:
            raise ValueError(_unknown("device", name, devices))
    return link


def _unknown(what: str, name: str, known: dict[str, Any]) -> str:
    some = ", ".join(list(known)[:20]) + (", ..." if len(known) > 20 else "")
    return f"unknown {what} '{name}'; there are: {some or 'none'}{nearest(name, known)}"


class ExplicitTopology(Params):
    """Every device and link of a cluster, by name."""

    name: str = Field(description="of the topology")
    servers: dict[str, _ServerRow] = Field({}, description="boxes, by name")
    devices: dict[str, Annotated[_DeviceRow, AfterValidator(_server_known)]] = Field(description="by name, in order")
    links: tuple[Annotated[_LinkRow, AfterValidator(_ends_known)], ...] = Field((), description="in order")
    assumptions: tuple[str, ...] = Field((), description="sentences about what was assumed, for people")

    def build(self) -> Topology:
        """The topology."""
        topology = Topology(self.name)
        topology.assumptions += self.assumptions
        for name, server in self.servers.items():
            topology.add_server(name, server.p2p, server.gpudirect, server.copy_rate or math.inf)
        ids = {
            name: topology.add_device(name, d.kind, d.server, d.model, d.port_rate or 0.0)
            for name, d in self.devices.items()
        }
        for link in self.links:
            add = topology.connect if link.between else topology.add_link
            a, b = link.ends
            add(ids[a], ids[b], link.rate, link.latency, link.kind, link.buffer)
        return topology


class _Kind(Params):
    """The first look at a file: which builder it names, if any."""

    model_config = ConfigDict(extra="allow")

    kind: row_name(BUILDERS) | None = None


_DESCRIPTIONS = {
    name: create_model(model.__name__, __base__=model, __doc__=model.__doc__, kind=(Literal[name], ...))
    for name, model in BUILDERS.items()
}


def _description(path: Path) -> Params:
    kind = reader.read(path, _Kind).kind
    if kind is not None:
        return reader.read(path, _DESCRIPTIONS[kind])
    return reader.load(path, ExplicitTopology, defaults={"name": path.stem})[0]


def _refuse_loop(path: Path, description: Params) -> None:
    """InputError where the node of a fabric is a file whose node is a file ... that has been there before."""
    seen = [path.resolve()]
    while (inner := _node_file(description)) is not None:
        if inner.resolve() in seen:
            raise InputError(f"{path}: node: {inner} leads back to itself")
        seen.append(inner.resolve())
        description = _description(inner)


def _node_file(description: Params) -> Path | None:
    """The file of simnet's own that describes the node of a fabric, or of the hosts of another program's file."""
    node = getattr(description, "node", None)
    if not isinstance(node, TopologyFile):
        return None
    own = node.file if importer_of(node.file) is None else node.node
    return own if own is None or importer_of(own) is None else None


def _placed(path: Path, line: str) -> str:
    """A problem of the built topology with the file; one of a file inside it has its own."""
    return line if re.match(r"[^:]+\.\w+:", line) else f"{path}: {line}"


# -- writing ----------------------------------------------------------------------------------------------


def _server_rows(topology: Topology) -> dict[str, dict[str, Any]]:
    rows = {}
    for s in topology.servers.values():
        copies = {} if math.isinf(s.copy_rate) else {"copy_rate": RATE.exact(s.copy_rate)}
        rows[s.name] = {"p2p": s.p2p, "gpudirect": s.gpudirect, **copies}
    return rows


def _device_rows(topology: Topology) -> dict[str, dict[str, Any]]:
    rows = {}
    for d in topology.devices:
        port_rate = RATE.exact(d.port_rate) if d.port_rate else ""
        row = {"kind": d.kind, "server": d.server, "model": d.model, "port_rate": port_rate}
        rows[d.name] = {key: value for key, value in row.items() if value}
    return rows


def _link_rows(topology: Topology) -> list[dict[str, Any]]:
    rows, links, i = [], topology.links, 0
    while i < len(links):
        link = links[i]
        a, b = topology.devices[link.source].name, topology.devices[link.destination].name
        back = links[i + 1] if i + 1 < len(links) else None
        twin = (link.destination, link.source, link.rate, link.latency, link.kind, link.buffer)
        paired = back is not None and twin == (
            back.source, back.destination, back.rate, back.latency, back.kind, back.buffer
        )  # fmt: skip
        row = {"between": [a, b]} if paired else {"from": a, "to": b}
        row |= {"rate": RATE.exact(link.rate), "latency": TIME.exact(link.latency), "kind": link.kind}
        rows.append(row | ({"buffer": SIZE.exact(link.buffer)} if link.buffer else {}))
        i += 2 if paired else 1
    return rows


def _flow(value: Any) -> str:
    """A value on one line, as YAML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    return str(value).lower() if isinstance(value, bool) else _text(value)


def _text(text: str) -> str:
    """Plain where YAML reads it back as this text, else in quotes."""
    plain = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*", text) and isinstance(scalar(text), str)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    escaped = (c if c.isprintable() else f"\\U{ord(c):08x}" for c in text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{"".join(escaped)}"'
