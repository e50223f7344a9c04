"""What a cluster looks like: the tiers of its fabric, and the inside of a server."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simnet.figures import fabric, server
from simnet.figures.server import LINK_COLORS
from simnet.figures.style import house_style, key_below_title, new_figure, nothing_to_see, shortened
from simnet.topology import Topology
from simnet.topology.overview import overview
from simnet.units import RATE


@house_style
def draw(topology: Topology) -> Figure:
    """Switches and hosts as boxes, where there is more than one; below, the inside of the first server that has one."""
    if not topology.devices:
        figure = new_figure(3.0)
        nothing_to_see(figure.subplots(), "There is no device in this topology.")
        return figure
    seen, inside = overview(topology), server.members(topology)
    whole = len(seen.boxes) > 1 or not inside
    heights = [fabric.height(seen)] if whole else []
    heights += [server.height(topology, inside)] if inside else []
    figure = new_figure(0.9 + sum(heights))
    panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if whole:
        fabric.draw(panels[0], seen)
    if inside:
        name = topology.devices[inside[0]].server
        server.draw(panels[-1], topology, inside, f"Inside of {name}" if whole else "")
    kinds = dict.fromkeys(link.kind for link in topology.links)
    handles = [Line2D([], [], color=LINK_COLORS[kind], linewidth=2, label=_legend(topology, kind)) for kind in kinds]
    title = f"{shortened(topology.name, 60)}: {len(topology.gpus):,} GPUs, {len(topology.devices):,} devices"
    key_below_title(figure, title, handles)
    return figure


def _legend(topology: Topology, kind: str) -> str:
    rates = sorted({link.rate for link in topology.links if link.kind == kind})
    shown, between = (rates, ", ") if len(rates) < 4 else ((rates[0], rates[-1]), " to ")
    return f"{kind} {between.join(RATE.format(rate) for rate in shown)}"
