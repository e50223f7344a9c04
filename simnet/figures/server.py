"""The inside of a server: sockets above, PCIe switches below them, then GPUs and NICs, and the NVLinks of the GPUs."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from simnet.figures.style import INK, MUTED, shortened
from simnet.topology import Topology
from simnet.topology.topology import FABRIC_KINDS, Link

LINK_COLORS = {
    "ib": "#0072B2",
    "ethernet": "#56B4E9",
    "efa": "#CC79A7",
    "nvlink": "#009E73",
    "pcie": "#E69F00",
    "memory": "#999999",
}
FILLS = {
    "gpu": "#F3E3C8", "nic": "#D6E4F0", "pcie_switch": "#E3E3E3", "cpu": "#D3CDE3", "memory": "#F0EDF7",
    "nvswitch": "#CFE8DF", "switch": "#D6E4F0", "server": "#F3E3C8",
}  # fmt: skip
_MOST = 160  # devices of a server that can be seen
_ROW = 0.85  # height of a row [inches]
_UPRIGHT = 20  # boxes in a row from which on names stand upright
_ARCS = 1.3  # rows that arcs of NVLinks take


@dataclass(frozen=True)
class Layout:
    """x in [0, 1] and row of every device; row 0 is that of GPUs and NICs, above it are PCIe switches and CPUs."""

    x: dict[int, float]
    row: dict[int, float]
    arcs: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest y."""
        return min(self.row.values()) - (_ARCS if self.arcs else 0.5), max(self.row.values()) + 0.5


def members(topology: Topology) -> list[int]:
    """Devices of the first server with several GPUs or with CPUs, if they can be seen; [] where there is none."""
    inside: dict[str, list[int]] = defaultdict(list)
    for i, device in enumerate(topology.devices):
        if device.server:
            inside[device.server].append(i)
    for ids in inside.values():
        kinds = [topology.devices[i].kind for i in ids]
        if (kinds.count("gpu") > 1 or "cpu" in kinds) and len(ids) <= _MOST:
            return ids
    return []


def height(topology: Topology, ids: list[int]) -> float:
    """Height [inches] of the picture of a server."""
    low, high = _layout(topology, ids).bounds
    return _ROW * (high - low)


def draw(axes: Axes, topology: Topology, ids: list[int], title: str) -> None:
    """Draw the devices `ids` and what joins them."""
    layout = _layout(topology, ids)
    axes.set_xlim(0, 1)
    axes.set_ylim(*layout.bounds)
    axes.set_axis_off()
    axes.set_title(title, fontsize=9, fontweight="normal", color=MUTED)
    crowd: dict[float, int] = defaultdict(int)
    for i in ids:
        crowd[layout.row[i]] += 1
    widths = {i: _width(topology.devices[i].kind, crowd[layout.row[i]]) for i in ids}
    for link, cables in _cables(topology, ids):
        _link(axes, layout, widths, link, cables)
    for i in ids:
        device, width = topology.devices[i], widths[i]
        box(axes, layout.x[i], layout.row[i], width, 0.42, FILLS.get(device.kind, "#EEEEEE"))
        name = shortened(device.name.rpartition("/")[2], 12)
        axes.text(
            layout.x[i], layout.row[i], name, ha="center", va="center", fontsize=7, color=INK, zorder=4,
            rotation=90 if crowd[layout.row[i]] > _UPRIGHT else 0,
        )  # fmt: skip


def box(axes: Axes, x: float, y: float, width: float, height: float, fill: str) -> None:
    """A box around (x, y)."""
    place = (x - width / 2, y - height / 2)
    axes.add_patch(Rectangle(place, width, height, facecolor=fill, edgecolor=MUTED, linewidth=0.7, zorder=3))


def arc(axes: Axes, x: tuple[float, float], y: float, bow: float, **style) -> None:
    """A curve between two points at height y, which leaves it by `bow` at most."""
    t = np.linspace(0, 1, 40)
    axes.plot(x[0] + (x[1] - x[0]) * t, y + bow * np.sin(np.pi * t), **style)


def _cables(topology: Topology, ids: list[int]) -> list[tuple[Link, int]]:
    """One link of every pair of devices and kind, and how many there are in its direction."""
    inside = set(ids)
    found: dict[tuple, list[Link]] = defaultdict(list)
    for link in topology.links:
        if link.source in inside and link.destination in inside and link.source < link.destination:
            found[link.source, link.destination, link.kind].append(link)
    return [(links[0], len(links)) for links in found.values()]


def _width(kind: str, crowd: int) -> float:
    """Width of a box in a row of so many; NVSwitches are as wide as there is room, to let NVLinks hang straight."""
    return 0.985 / crowd if kind == "nvswitch" else min(0.08, 0.86 / crowd)


def _link(axes: Axes, layout: Layout, widths: dict[int, float], link: Link, cables: int) -> None:
    a, b = link.source, link.destination
    width = float(np.clip(link.rate * cables / 25e9, 0.6, 4.0))
    style = {"color": LINK_COLORS[link.kind], "linewidth": width, "alpha": 0.8, "zorder": 1}
    x, y = (layout.x[a], layout.x[b]), (layout.row[a], layout.row[b])
    if min(y) < 0:  # to an NVSwitch
        device, switch = (a, b) if y[1] < 0 else (b, a)
        reach = widths[switch] / 2 - 0.01
        end = float(np.clip(layout.x[device], layout.x[switch] - reach, layout.x[switch] + reach))
        axes.plot((layout.x[device], end), (layout.row[device], layout.row[switch]), **style)
    elif y[0] != y[1]:
        axes.plot(x, y, **style)
    elif link.kind == "nvlink":
        arc(axes, x, y[0] - 0.15, -0.25 - 0.85 * abs(x[1] - x[0]), **style)
    else:
        arc(axes, x, y[0], 0.45 * abs(x[1] - x[0]) if abs(x[1] - x[0]) > 0.3 else 0.0, **style)


def _layout(topology: Topology, ids: list[int]) -> Layout:
    kinds = {i: topology.devices[i].kind for i in ids}
    order, depth = _tree(topology, ids)
    leaves = [i for i in order if kinds[i] in ("gpu", "nic", "storage")]
    lowest = max((depth[i] for i in ids if kinds[i] == "pcie_switch"), default=0)
    row = dict.fromkeys(leaves, 0.0)
    x = {i: (rank + 0.5) / len(leaves) for rank, i in enumerate(leaves)}
    for i in reversed(order):  # children before what they hang below
        if kinds[i] in ("cpu", "pcie_switch"):
            row[i] = float(lowest - depth[i] + 1)
            below = [x[j] for j in _children(topology, order, depth, i) if j in x]
            x[i] = float(np.mean(below)) if below else 0.5
    _spread(x, [i for i in order if kinds[i] == "cpu"])
    switches = [i for i in ids if kinds[i] == "nvswitch"]
    for rank, i in enumerate(switches):
        x[i], row[i] = (rank + 0.5) / len(switches), -1.0
    top = max(row.values(), default=0.0) + 1
    for i in ids:
        if i not in x:  # memory, which hangs on one device
            near = [k.destination for k in topology.links if k.source == i and k.destination in x]
            x[i], row[i] = (x[near[0]] if near else 0.5), top
    pairs = ((k.source, k.destination) for k in topology.links if k.kind == "nvlink")
    return Layout(x, row, any(row.get(a) == 0.0 == row.get(b) for a, b in pairs))


def _spread(x: dict[int, float], cpus: list[int]) -> None:
    """Evenly over the width where some would stand on one another."""
    places = sorted(x[i] for i in cpus)
    if any(b - a < 0.09 for a, b in zip(places, places[1:])):
        for rank, i in enumerate(cpus):
            x[i] = (rank + 0.5) / len(cpus)


def _tree(topology: Topology, ids: list[int]) -> tuple[list[int], dict[int, int]]:
    """Devices in the order of a walk through the PCIe tree from each CPU, and how deep they are; others behind."""
    kinds = {i: topology.devices[i].kind for i in ids}
    near: dict[int, list[int]] = defaultdict(list)
    for link in topology.links:
        if link.source in kinds and link.destination in kinds and link.kind == "pcie":
            near[link.source].append(link.destination)
    depth: dict[int, int] = {i: 0 for i in ids if kinds[i] == "cpu"}
    parents: dict[int, int] = {}
    frontier = list(depth)
    for i in frontier:  # grows while it is read: nearest first
        for j in sorted(near[i]) if kinds[i] in ("cpu", "pcie_switch") else ():
            if j not in depth:
                depth[j], parents[j] = depth[i] + 1, i
                frontier.append(j)
    children: dict[int, list[int]] = defaultdict(list)
    for child, parent in parents.items():
        children[parent].append(child)
    order: list[int] = []
    stack = [i for i in reversed(ids) if kinds[i] == "cpu"]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += sorted(children[i], reverse=True)
    rest = [i for i in ids if i not in depth]
    return order + rest, depth | dict.fromkeys(rest, 0)


def _children(topology: Topology, order: list[int], depth: dict[int, int], parent: int) -> list[int]:
    known = set(order)
    return [
        k.destination
        for k in topology.links
        if k.source == parent
        and k.kind not in FABRIC_KINDS
        and k.destination in known
        and depth[k.destination] == depth[parent] + 1
    ]
