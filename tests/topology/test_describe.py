"""A topology in numbers, against a cut one can see."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.topology import Topology
from simnet.topology.builders import BUILDERS
from simnet.topology.describe import LinkGroup, bisection_bandwidth, cut_bandwidth, devices_by_kind, link_groups


def dumbbell() -> Topology:
    """Two GPUs on each of two switches, joined by two cables of 3 and 4."""
    topology = Topology("dumbbell")
    left, right = topology.add_device("left", "switch"), topology.add_device("right", "switch")
    for i in range(4):
        topology.connect(topology.add_device(f"gpu{i}", "gpu"), left if i < 2 else right, 10.0, 1.0, "ib")
    topology.connect(left, right, 3.0, 1.0, "ib")
    topology.connect(left, right, 4.0, 1.0, "ib")
    return topology


def test_devices_are_counted_by_kind():
    assert devices_by_kind(dumbbell()) == {"switch": 2, "gpu": 4}


def test_links_alike_are_one_group_of_both_directions():
    assert link_groups(dumbbell()) == [
        LinkGroup("ib", ("gpu", "switch"), 10.0, 1.0, 8),
        LinkGroup("ib", ("switch", "switch"), 3.0, 1.0, 2),
        LinkGroup("ib", ("switch", "switch"), 4.0, 1.0, 2),
    ]


@pytest.mark.parametrize("kind", BUILDERS)
def test_groups_hold_every_link_once(kind):
    topology = BUILDERS[kind]().build()
    assert sum(group.count for group in link_groups(topology)) == len(topology.links)


def test_bisection_is_the_sum_of_the_parallel_cables():
    assert bisection_bandwidth(dumbbell()) == 7.0


def test_bisection_of_the_dgx1_is_what_crosses_the_sockets():
    # 6 NVLinks of 25 GB/s, and two PCIe 3 uplinks of each socket, which the socket link would carry
    assert bisection_bandwidth(BUILDERS["dgx1_v100"]().build()) == pytest.approx(6 * 25e9 + 2 * 15.754e9)


def test_a_cut_has_a_direction():
    topology = dumbbell()
    topology.add_link(0, 1, 5.0, 1.0, "ib")
    assert cut_bandwidth(topology, [2, 3], [4, 5]) == 12.0
    assert cut_bandwidth(topology, [4, 5], [2, 3]) == 7.0


def test_fewer_than_two_gpus_have_no_bisection():
    topology = Topology("single")
    assert bisection_bandwidth(topology) == 0.0
    topology.add_device("gpu0", "gpu")
    assert bisection_bandwidth(topology) == 0.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), min_size=1, max_size=12))
def test_cut_is_the_smallest_over_all_ways_to_split_the_devices(edges):
    """Against the definition: the minimum over every set that holds the sender and not the receiver."""
    topology = Topology("random")
    ids = [topology.add_device(f"gpu{i}", "gpu") for i in range(6)]
    for a, b, rate in edges:
        if a != b:
            topology.add_link(ids[a], ids[b], float(rate), 0.0, "ib")
    least = min(
        sum(topology.links[i].rate for i in topology.leaving([0, *(i for i in range(1, 5) if mask >> i & 1)]))
        for mask in range(0, 32, 2)
    )
    assert cut_bandwidth(topology, [0], [5]) == least
    assert (least > 0) == nx.has_path(topology.graph, 0, 5)
