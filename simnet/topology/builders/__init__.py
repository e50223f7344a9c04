"""Topologies from a few parameters: servers alone, and fabrics with N of them behind.

The tables are what YAML accepts as `kind` of a topology, and of the `node` of a fabric.
"""

from simnet.topology.builders.dragonfly import Dragonfly
from simnet.topology.builders.fabric import NODES
from simnet.topology.builders.fat_tree import FatTree
from simnet.topology.builders.leaf_spine import LeafSpine
from simnet.topology.builders.rail_optimized import RailOptimized
from simnet.topology.builders.servers import SERVERS
from simnet.topology.builders.single_switch import SingleSwitch
from simnet.topology.builders.torus import Torus

FABRICS = {
    "single_switch": SingleSwitch,
    "leaf_spine": LeafSpine,
    "fat_tree": FatTree,
    "rail_optimized": RailOptimized,
    "dragonfly": Dragonfly,
    "torus": Torus,
}

BUILDERS = {**SERVERS, **FABRICS}

__all__ = ["BUILDERS", "FABRICS", "NODES", "SERVERS"]
