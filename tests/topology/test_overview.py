"""A topology from afar: what becomes a box, and what becomes one box when there are too many."""

import pytest

from simnet.topology import Topology
from simnet.topology.builders import BUILDERS
from simnet.topology.overview import MOST_BOXES, overview


def tree(hosts_of_leaves: list[int]) -> Topology:
    """A spine above leaves with so many bare GPUs each."""
    topology = Topology("tree")
    spine = topology.add_device("spine", "switch")
    for i, hosts in enumerate(hosts_of_leaves):
        leaf = topology.add_device(f"leaf{i}", "switch")
        topology.connect(leaf, spine, 50e9, 0.0, "ib")
        for j in range(hosts):
            topology.connect(topology.add_device(f"gpu{i}_{j}", "gpu"), leaf, 25e9, 0.0, "ib")
    return topology


def test_a_server_is_a_box_and_its_cables_are_counted():
    seen = overview(BUILDERS["rail_optimized"](node={"kind": "dgx_a100"}, nodes=4).build())
    servers = [i for i, box in enumerate(seen.boxes) if box.kind == "server"]
    assert [(seen.boxes[i].tier, seen.boxes[i].gpus, seen.boxes[i].count) for i in servers] == [(0, 8, 1)] * 4
    for i in servers:
        assert sum(k.cables for k in seen.bundles if i in (k.a, k.b)) == 8


def test_a_small_tree_is_drawn_as_it_is():
    seen = overview(tree([2, 3]))
    assert [box.names for box in seen.boxes if box.tier == 1] == [("leaf0",), ("leaf1",)]
    assert sum(box.count for box in seen.boxes) == 8
    assert len(seen.bundles) == 7


def test_hosts_of_a_leaf_are_merged_first():
    seen = overview(tree([40, 30]))
    assert [box.count for box in seen.boxes if box.tier == 0] == [40, 30]
    assert [box.count for box in seen.boxes if box.tier == 1] == [1, 1]
    assert sorted(k.cables for k in seen.bundles) == [1, 1, 30, 40]


def test_then_what_plays_the_same_part():
    seen = overview(tree([2] * 80 + [3] * 20))
    assert [(box.tier, box.count) for box in seen.boxes] == [(2, 1), (1, 80), (0, 160), (1, 20), (0, 60)]
    assert sorted(k.cables for k in seen.bundles) == [20, 60, 80, 160]


def test_then_whole_tiers():
    seen = overview(tree(list(range(1, 101))))
    assert [(box.tier, box.count) for box in seen.boxes] == [(2, 1), (1, 100), (0, 5050)]
    assert sorted(k.cables for k in seen.bundles) == [100, 5050]


@pytest.mark.parametrize("name", BUILDERS)
def test_every_builder_fits_and_loses_nothing(name):
    topology = BUILDERS[name]().build()
    seen = overview(topology)
    assert not seen.crowded
    assert sum(box.gpus * box.count for box in seen.boxes) == len(topology.gpus)
    assert len([box for box in seen.boxes if box.tier == 1]) <= MOST_BOXES
