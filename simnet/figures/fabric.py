"""Boxes of an overview and the cables among them: tiers of switches above their hosts, or a ring of switches."""

from collections import Counter, defaultdict

import numpy as np
from matplotlib.axes import Axes

from simnet.figures.server import FILLS, LINK_COLORS, arc, box
from simnet.figures.style import GRID, INK, MUTED, WIDTH, shortened
from simnet.topology.overview import Box, Bundle, Overview
from simnet.units import RATE

_TIER, _RING = 1.5, 7.5  # height of a tier, of a ring [inches]
_MOST_NAMED, _MOST_UPRIGHT = 12, 40  # boxes of a tier with room for their names, and for upright ones
_MOST_LABELLED = 16  # bundles of cables that have room for what they are
_MOST_IN_RING = 100  # switches in a ring that have room for their names
_MANY = 100  # bundles, from which on each is drawn thinner
_MARGIN = 0.17  # of the width, left for what a tier is
_CHARACTER = 0.068  # width of a letter of a name [inches]
_HALF = 0.16  # height of a box / 2
_PLURALS = {"switch": "switches", "nvswitch": "NVSwitches", "gpu": "GPUs", "cpu": "CPUs", "nic": "NICs"}


def height(seen: Overview) -> float:
    """Height [inches] of the picture."""
    return _RING if seen.ring else _TIER * len({item.tier for item in seen.boxes})


def draw(axes: Axes, seen: Overview) -> None:
    """Draw boxes and cables: in a ring where the switches of one tier are joined among themselves, else in tiers."""
    axes.set_axis_off()
    (_draw_ring if seen.ring else _draw_tiers)(axes, seen)


# -- tiers ------------------------------------------------------------------------------------------------


def _draw_tiers(axes: Axes, seen: Overview) -> None:
    places, crowd = _places(seen), Counter(item.tier for item in seen.boxes)
    rows = {tier: row for row, tier in enumerate(sorted(crowd))}
    axes.set_xlim(-_MARGIN, 1)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    pairs: dict[tuple[int, int], list[Bundle]] = defaultdict(list)
    for bundle in seen.bundles:
        pairs[bundle.a, bundle.b].append(bundle)
    for pair, bundles in pairs.items():
        ends = sorted(((places[i], rows[seen.boxes[i].tier]) for i in pair), key=lambda end: end[1])
        _cables(axes, bundles, *ends, len(pairs))
    for x, item in zip(places, seen.boxes):
        width = min(0.13, 0.84 / crowd[item.tier])
        box(axes, x, rows[item.tier], width, 2 * _HALF, FILLS.get(item.kind, GRID))
        text, upright = _label(item, width, crowd[item.tier])
        axes.text(
            x, rows[item.tier], text, ha="center", va="center", fontsize=6 if upright else 7, color=INK, zorder=4,
            rotation=90 * upright,
        )  # fmt: skip
    for tier, row in rows.items():
        axes.text(-_MARGIN, row, _tier(seen, tier), ha="left", va="center", color=MUTED, linespacing=1.4)


def _places(seen: Overview) -> list[float]:
    """x in [0, 1] of every box: those of a tier evenly, in the order of what they are joined to below."""
    places: dict[int, float] = {}
    joined: dict[int, list[int]] = defaultdict(list)
    for k in seen.bundles:
        joined[k.a].append(k.b)
        joined[k.b].append(k.a)

    def middle(i: int) -> float:
        below = [places[j] for j in joined[i] if j in places]
        return round(float(np.mean(below)), 6) if below else 0.5

    for tier in sorted({item.tier for item in seen.boxes}):
        members = sorted((i for i, item in enumerate(seen.boxes) if item.tier == tier), key=middle)
        places |= {i: (rank + 0.5) / len(members) for rank, i in enumerate(members)}
    return [places[i] for i in range(len(seen.boxes))]


def _cables(axes: Axes, bundles: list[Bundle], low: tuple[float, int], high: tuple[float, int], pairs: int) -> None:
    """What joins two boxes, or the members of one."""
    style, text = _style(bundles, pairs), _cables_text(bundles)
    if low == high:
        place = low[0], low[1] + 1.3 * _HALF
        axes.text(*place, f"{text} among them", ha="center", va="bottom", color=style["color"], fontsize=7)
    elif low[1] == high[1]:
        arc(axes, (low[0], high[0]), low[1] + _HALF, 0.05 + 0.25 * abs(high[0] - low[0]), **style)
    else:
        axes.plot((low[0], high[0]), (low[1] + _HALF, high[1] - _HALF), **style)
        if pairs <= _MOST_LABELLED:
            white = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
            axes.text(x, y, text, ha="center", va="center", fontsize=7, bbox=white, zorder=2)


def _cables_text(bundles: list[Bundle]) -> str:
    count, rates = sum(k.cables for k in bundles), [RATE.format(rate) for rate in sorted({k.rate for k in bundles})]
    return f"{count:,} × {rates[0]}" + (f" to {rates[-1]}" if len(rates) > 1 else "")


def _style(bundles: list[Bundle], pairs: int) -> dict:
    width = float(min(0.5 + 0.5 * np.log2(1 + sum(k.cables for k in bundles)), 6))
    return {
        "color": LINK_COLORS[bundles[0].kind], "linewidth": width, "alpha": 0.8 if pairs < _MANY else 0.35, "zorder": 1
    }  # fmt: skip


def _label(item: Box, width: float, crowd: int) -> tuple[str, bool]:
    """What fits into a box, and whether upright: its name where there is room, else how many it stands for."""
    letters = int(width / (1 + _MARGIN) * WIDTH / _CHARACTER)
    if crowd > _MOST_NAMED and item.count > 1:
        return f"{item.count:,}", False
    if crowd > _MOST_NAMED and len(item.names[0]) > letters:
        return (shortened(item.names[0], 9), True) if crowd <= _MOST_UPRIGHT else ("", False)
    name = shortened(item.names[0], letters)
    return (name if item.count == 1 else f"{name}\nand {item.count - 1:,} more"), False


def _tier(seen: Overview, tier: int) -> str:
    """How many of what a tier has, and what is in each."""
    members = [item for item in seen.boxes if item.tier == tier]
    counts: Counter = Counter()
    for item in members:
        counts[item.kind] += item.count
    lines = [f"{count:,} {kind if count == 1 else _PLURALS.get(kind, kind + 's')}" for kind, count in counts.items()]
    gpus = sorted({item.gpus for item in members if item.kind == "server"})
    if gpus:
        shown = str(gpus[0]) if len(gpus) == 1 else f"{gpus[0]} to {gpus[-1]}"
        lines.append(f"with {shown} GPU{'s' * (gpus[-1] != 1)} each")
    return "\n".join(lines)


# -- ring -------------------------------------------------------------------------------------------------


def _draw_ring(axes: Axes, seen: Overview) -> None:
    switches = [i for i, item in enumerate(seen.boxes) if item.tier > 0]
    angles = {i: np.pi / 2 - 2 * np.pi * rank / len(switches) for rank, i in enumerate(switches)}
    hosts: dict[int, int] = defaultdict(int)
    for k in seen.bundles:
        if k.a in angles and k.b in angles:
            ends = np.array([(np.cos(angles[i]), np.sin(angles[i])) for i in (k.a, k.b)])
            axes.plot(ends[:, 0], ends[:, 1], **_style([k], len(seen.bundles)))
        elif k.a in angles or k.b in angles:
            switch, other = (k.a, k.b) if k.a in angles else (k.b, k.a)
            hosts[switch] += seen.boxes[other].count
    size = float(np.clip(900 / len(switches), 6, 160))
    for i, angle in angles.items():
        x, y = np.cos(angle), np.sin(angle)
        axes.scatter([x], [y], s=size, color=FILLS["switch"], edgecolor=MUTED, linewidth=0.7, zorder=3)
        if len(switches) > _MOST_IN_RING:
            continue
        turn = np.degrees(angle) % 360
        back = 90 < turn < 270
        with_hosts = f" ({hosts[i]:,})" if hosts[i] else ""
        axes.text(
            1.05 * x, 1.05 * y, f"{_ring_name(seen.boxes[i])}{with_hosts}", fontsize=7, color=INK,
            ha="right" if back else "left", va="center", rotation=turn - 180 * back, rotation_mode="anchor",
        )  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlim(-2.2, 1.5)
    axes.set_ylim(-1.45, 1.45)
    tiers = sorted({item.tier for item in seen.boxes}, reverse=True)
    text = "\n\n".join(_tier(seen, tier) for tier in tiers)
    if hosts and len(switches) <= _MOST_IN_RING:
        text += "\n(their number behind each switch)"
    axes.text(0, 1, text, transform=axes.transAxes, ha="left", va="top", color=MUTED, linespacing=1.4)


def _ring_name(item: Box) -> str:
    name = shortened(item.names[0], 20)
    return name if item.count == 1 else f"{name} and {item.count - 1:,} more"
