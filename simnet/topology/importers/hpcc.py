"""Topology files of the ns-3 simulators of RDMA (HPCC, PowerTCP, Reverie, ConWeave): 'topology.txt'.

    5 2 4                           nodes, switches [, leaf switches], links [, two capacities of the fabric]
    3 4                             which nodes are switches; all others are hosts
    0 3 100Gbps 1000ns 0            source, destination, rate, delay, loss; every link runs both ways

A rate without unit is in bits per second. Hosts are gpus named after their node, in the order of node numbers. What
follows the last link is comment.
"""

import math
from pathlib import Path

from simnet.reader import lines
from simnet.reader.lines import Line
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME

_HEADERS = {3: 2, 4: 3, 6: 3}  # words of the header -> place of the number of links
_MOST_NODES = 100_000


def read(path: str | Path) -> Topology:
    """Topology of an ns-3 simulator of RDMA: topology.txt. Raises InputError with file and line."""
    header, *rows = lines.read(path)
    if len(header.words) not in _HEADERS or not all(word.isdigit() for word in header.words):
        raise header.error(
            "no topology of an ns-3 simulator, which begins with '<nodes> <switches> [<leaves>] <links>'"
        )
    nodes = header.integer(0, "the number of nodes", 1)
    count = header.integer(1, "the number of switches")
    links = header.integer(_HEADERS[len(header.words)], "the number of links", 1)
    if nodes > _MOST_NODES:
        raise header.error(f"more than {_MOST_NODES} nodes")
    switches = _switches(rows.pop(0) if rows and count else None, header, nodes, count)
    topology = Topology(Path(path).stem)
    for node in range(nodes):
        if node in switches:
            topology.add_device(f"switch{node}", "switch")
        else:
            topology.add_device(f"host{node}", "gpu")
    lossy = 0
    for line in rows[:links]:
        if len(line.words) != 5:
            raise line.error(f"expected '<source> <destination> <rate> <delay> <loss>', got {len(line.words)} words")
        ends = [_node(line, i, nodes) for i in range(2)]
        if ends[0] == ends[1]:
            raise line.error(f"joins node {ends[0]} to itself")
        loss = line.decimal(4, "the loss")
        if loss > 1:
            raise line.error(f"the loss is a probability, at most 1, got {loss:g}")
        lossy += loss > 0
        topology.connect(*ends, _rate(line, 2), _quantity(line, 3, TIME), "ethernet")
    if len(rows) < links:
        raise (rows or [header])[-1].error(f"the file ends after {len(rows)} of {links} links")
    if lossy:
        topology.assumptions.append(f"{lossy} links lose packets in the file, which is not read: see network.ports.")
    return topology


def _switches(line: Line | None, header: Line, nodes: int, count: int) -> dict[int, None]:
    if line is None:
        if count:
            raise header.error(f"the file ends before the list of {count} switches")
        return {}
    found = dict.fromkeys(_node(line, i, nodes) for i in range(len(line.words)))
    if len(line.words) != count:
        raise line.error(f"lists {len(line.words)} switches, but the header says {count}")
    if len(found) != count:
        raise line.error("lists a switch twice")
    return found


def _node(line: Line, at: int, nodes: int) -> int:
    node = line.integer(at, "a node")
    if node >= nodes:
        raise line.error(f"there is no node {node}; nodes are 0 to {nodes - 1}")
    return node


def _rate(line: Line, at: int) -> float:
    """A rate [bytes/s]; without unit it is in bits per second."""
    try:
        bits = float(line.words[at])
    except ValueError:
        return _quantity(line, at, RATE)
    if not (math.isfinite(bits) and bits > 0):
        raise line.error(f"a rate must be finite and above 0, got {line.words[at]}")
    return RATE.parse(f"{line.words[at]}bps")


def _quantity(line: Line, at: int, dimension) -> float:
    try:
        return dimension.parse(line.words[at])
    except ValueError as error:
        raise line.error(str(error)) from None
