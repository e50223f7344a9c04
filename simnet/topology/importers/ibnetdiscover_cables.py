"""The blocks of `ibnetdiscover`: switches, adapters (CAs) and the cables of their ports, each listed by both its ends.

Switch  41 "S-0ff08c4321407312"         # "leaf 2" enhanced port 0 lid 164 lmc 0
[1]     "H-0ff08c4321729742"[1](ff08c4321729742)                # "node0126 mlx5_0" lid 516 4xHDR s=4 w=2 v=4 e=4
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from simnet.errors import InputError
from simnet.hardware import NICS
from simnet.reader import lines
from simnet.reader.lines import Line
from simnet.units import RATE

_NODE = re.compile(r'(Switch|Ca|Rt) (\d+) "([A-Z]-[0-9a-fA-F]+)"(?: ?# ?"([^"]*)")?')
_PLACE = r"\[(\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?"
_PORT = re.compile(rf'{_PLACE} "([A-Z]-[0-9a-fA-F]+)"{_PLACE} ?#?(.*)')
_SPEED = re.compile(r"(\d+)x([A-Z]+\d*)\b")
_AGGREGATION = re.compile(r"aggregation node|sharp", re.IGNORECASE)
# Data rate of a lane [bytes/s]: signalling less 8b/10b, later 64b/66b encoding; four of them make the port of a NIC
_LANES = {
    "SDR": RATE.parse("2Gbps"), "DDR": RATE.parse("4Gbps"), "QDR": RATE.parse("8Gbps"), "FDR10": RATE.parse("10Gbps"),
    **{name.upper(): NICS[name].rate / 4 for name in ("fdr", "edr", "hdr", "ndr", "xdr")}, "GDR": RATE.parse("400Gbps"),
}  # fmt: skip
_WIDTHS = (1, 2, 4, 8, 12)


@dataclass
class Node:
    """A switch (kind S), adapter (H) or router (R). line: None where only its peers know of it."""

    guid: str
    description: str
    line: Line | None = None
    size: int = 0
    ports: dict[int, "Port"] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """First letter of the GUID, as ibnetdiscover writes it."""
        return self.guid[0]

    @property
    def shown(self) -> str:
        """Name in a message."""
        return self.description or self.guid

    @property
    def aggregates(self) -> bool:
        """It is the adapter inside a switch that reduces for SHARP, no host."""
        return self.kind == "H" and bool(_AGGREGATION.search(self.description))


@dataclass(frozen=True)
class Port:
    """One end of a cable: what is at the other. rate [bytes/s]; speed: as the file has it."""

    line: Line
    peer: str
    peer_port: int
    rate: float
    speed: str


@dataclass(frozen=True)
class Cable:
    """Two ports of two nodes. rate [bytes/s]."""

    a: Node
    b: Node
    rate: float


def read(path: Path) -> tuple[dict[str, Node], list[Cable], int]:
    """Nodes by GUID, cables, and how many of these only one end lists, as the block of the other is not in the file.

    Both are in the order of the file. Raises InputError with file and line.
    """
    rows = lines.read(path)
    nodes = _nodes(rows)
    cables, one_sided = [], 0
    seen: dict[tuple[str, int], Line] = {}
    for node in list(nodes.values()):
        for number, port in node.ports.items():
            peer = nodes[port.peer]
            if peer.line is not None:
                _check(node, number, port, peer)
            else:
                one_sided += not peer.aggregates
                if (port.peer, port.peer_port) in seen:
                    other = seen[port.peer, port.peer_port].number
                    raise port.line.error(f"port {port.peer_port} of {peer.shown} has a cable already, in line {other}")
            if (node.guid, number) not in seen:
                cables.append(Cable(node, peer, port.rate))
                seen[port.peer, port.peer_port] = port.line
    return nodes, cables, one_sided


def _nodes(rows: list[Line]) -> dict[str, Node]:
    """All nodes with their ports; behind them those that have no block."""
    nodes: dict[str, Node] = {}
    peers: dict[str, str] = {}
    node = None
    for line in rows:
        text = " ".join(line.words)
        if match := _NODE.match(text):
            _, size, guid, description = match.groups()
            if guid in nodes:
                raise line.error(f"{guid} is there twice, first in line {nodes[guid].line.number}")
            node = nodes[guid] = Node(guid, " ".join((description or "").split()), line, int(size))
        elif text.startswith("["):
            if node is None:
                raise line.error("a port before any Switch or Ca")
            number, port, description = _port(line, text)
            if number in node.ports:
                raise line.error(
                    f"port {number} of {node.shown} is there twice, first in line {node.ports[number].line.number}"
                )
            if number > node.size:
                raise line.error(f"port {number} of {node.shown}, which has {node.size} ports")
            node.ports[number] = port
            peers.setdefault(port.peer, description)
    if not nodes:
        raise rows[0].error("no output of ibnetdiscover, which has blocks that begin with 'Switch' or 'Ca'")
    for guid, description in peers.items():
        nodes.setdefault(guid, Node(guid, description))
    return nodes


def _port(line: Line, text: str) -> tuple[int, Port, str]:
    """Number of a port, its cable, and the description of its peer."""
    match = _PORT.match(text)
    if not match:
        raise line.error('expected a port such as [1] "S-0002c90300a1b2c3"[7] # "leaf" lid 3 4xHDR')
    number, peer, peer_port, comment = match.groups()
    descriptions = re.findall(r'"([^"]*)"', comment)
    speeds = _SPEED.findall(re.sub(r'"[^"]*"', "", comment))
    if not speeds:
        raise line.error("the line ends without width and speed of the link, such as 4xHDR")
    width, speed = int(speeds[-1][0]), speeds[-1][1]
    if speed not in _LANES or width not in _WIDTHS:
        raise line.error(
            f"unknown width or speed {width}x{speed}; widths are {', '.join(map(str, _WIDTHS))}, "
            f"speeds {', '.join(_LANES)}"
        )
    port = Port(line, peer, int(peer_port), width * _LANES[speed], f"{width}x{speed}")
    return int(number), port, descriptions[-1] if descriptions else ""


def _check(node: Node, number: int, port: Port, peer: Node) -> None:
    """InputError where the other end of a cable knows nothing of it, or says otherwise."""
    if peer is node:
        raise port.line.error(f"port {number} of {node.shown} is joined to {node.shown} itself")
    back = peer.ports.get(port.peer_port)
    if back is None:
        raise port.line.error(
            f"a cable to port {port.peer_port} of {peer.shown}, of which the block in line {peer.line.number} says "
            "nothing; is the file cut off?"
        )
    if (back.peer, back.peer_port) != (node.guid, number):
        raise port.line.error(
            f"a cable to port {port.peer_port} of {peer.shown}, but line {back.line.number} has that port joined to "
            f"port {back.peer_port} of {back.peer}"
        )
    if back.speed != port.speed:
        raise _contradiction(port, back)


def _contradiction(port: Port, back: Port) -> InputError:
    return port.line.error(
        f"the link is {port.speed} here and {back.speed} at its other end, in line {back.line.number}"
    )
