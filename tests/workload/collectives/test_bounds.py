import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.topology.topology import Topology
from simnet.workload.collectives import KINDS, Operation
from simnet.workload.collectives.bounds import Bounds, lower_bound
from simnet.workload.traffic import traffic
from tests.workload.collectives.execution import CASES, lowered, operation
from tests.workload.systems import FABRIC, NVLINK, group, servers, star

SIZE = 1e9
S_B = SIZE / FABRIC  # the time of S bytes on one cable


def bound(topology, kind, members=None, size=SIZE, root=0, matrix=None, rates=None, table=None):
    gpus = topology.gpus if members is None else [topology.gpus[m] for m in members]
    wanted = Operation(kind, size, tuple(range(len(gpus))), "any", root, matrix, traffic=table)
    return lower_bound(wanted, gpus, topology, rates)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("all_reduce", 2 * 3 / 4), ("all_gather", 3 / 4), ("reduce_scatter", 3 / 4), ("broadcast", 1.0),
        ("reduce", 1.0), ("all_to_all", 3 / 4),
    ],
)  # fmt: skip
def test_four_hosts_on_a_switch(kind, expected):
    assert bound(star(4), kind) == pytest.approx(expected * S_B, rel=1e-12)


def test_two_hosts():
    assert bound(star(2), "send_recv") == pytest.approx(S_B)
    assert bound(star(2), "all_reduce") == pytest.approx(S_B)


def test_a_group_of_4_and_a_group_of_6_joined_by_one_link():
    topology = Topology("two islands")
    leaves = [topology.add_device(f"leaf{i}", "switch") for i in range(2)]
    for i in range(10):
        gpu = topology.add_device(f"gpu{i}", "gpu")
        topology.connect(gpu, leaves[i >= 4], 100e9, 1e-6, "ethernet")
    # spines make the leaves sets of their own; the cut is 12.5 GB/s wide
    spine = topology.add_device("spine", "switch")
    topology.connect(leaves[0], spine, 12.5e9, 1e-6, "ethernet")
    topology.connect(leaves[1], spine, 100e9, 1e-6, "ethernet")
    assert bound(topology, "all_reduce") == pytest.approx(SIZE / 12.5e9)
    # 4 / 10 of the result are on this side, 6 / 10 have to come in
    assert bound(topology, "all_gather") == pytest.approx(0.6 * SIZE / 12.5e9)
    assert bound(topology, "reduce_scatter") == pytest.approx(0.6 * SIZE / 12.5e9)
    assert bound(topology, "broadcast") == pytest.approx(SIZE / 12.5e9)
    assert bound(topology, "all_to_all") == pytest.approx(4 * 6 / 10 * SIZE / 12.5e9)
    # a group on one side does not see the link
    assert bound(topology, "all_reduce", [0, 1, 2, 3]) == pytest.approx(2 * 3 / 4 * SIZE / 100e9)


def test_each_direction_of_a_cut_counts_for_itself():
    topology = Topology("lopsided")
    switch = topology.add_device("switch", "switch")
    for i in range(3):
        gpu = topology.add_device(f"gpu{i}", "gpu")
        topology.add_link(gpu, switch, 50e9, 0.0, "ethernet")
        topology.add_link(switch, gpu, 10e9 if i == 2 else 50e9, 0.0, "ethernet")
    assert bound(topology, "all_reduce") == pytest.approx(SIZE / 10e9)
    assert bound(topology, "broadcast") == pytest.approx(SIZE / 10e9)
    assert bound(topology, "broadcast", root=2) == pytest.approx(SIZE / 50e9)
    assert bound(topology, "reduce") == pytest.approx(SIZE / 50e9)
    assert bound(topology, "reduce", root=2) == pytest.approx(SIZE / 10e9)
    # its own part, at least as one sum, into the last rank
    assert bound(topology, "reduce_scatter") == pytest.approx(1 / 3 * SIZE / 10e9)
    assert bound(topology, "all_gather") == pytest.approx(2 / 3 * SIZE / 10e9)


def test_servers_are_cuts_too():
    topology = servers(4, 4, nics=2)
    # S must leave a server through two NICs
    assert bound(topology, "all_reduce") == pytest.approx(SIZE / (2 * FABRIC))
    assert bound(topology, "all_to_all") == pytest.approx(4 * 4 / 8 * SIZE / (2 * FABRIC))
    # inside a server a GPU has its NVLink and its PCIe link
    assert bound(topology, "all_gather", [0, 1, 2, 3]) == pytest.approx(3 / 4 * SIZE / (NVLINK + FABRIC))


def test_switches_that_reduce_lift_the_bound_on_what_members_send():
    topology = star(8)
    wanted = operation("all_reduce", "ring", 8, SIZE)
    plain, reducing = Bounds(topology), Bounds(topology, switches_reduce=True)
    assert plain.lower_bound(wanted, topology.gpus) == pytest.approx(2 * 7 / 8 * S_B)
    assert reducing.lower_bound(wanted, topology.gpus) == pytest.approx(S_B)


def test_all_to_all_v_follows_its_matrix():
    matrix = ((9.0, 1.0, 2.0), (3.0, 9.0, 4.0), (50.0, 0.0, 9.0))
    # rank 0 receives 53, rank 2 sends 50; what stays does not count
    assert bound(star(3), "all_to_all_v", matrix=matrix) == pytest.approx(53.0 / FABRIC)


def test_an_even_matrix_is_an_all_to_all():
    matrix = ((SIZE / 5,) * 5,) * 5
    topology = servers(3, 2, nics=1)
    assert bound(topology, "all_to_all_v", matrix=matrix) == pytest.approx(bound(topology, "all_to_all"))


def test_other_rates_than_the_nominal_ones():
    topology = star(4)
    assert bound(topology, "all_reduce", rates=2 * topology.rates) == pytest.approx(bound(topology, "all_reduce") / 2)


def test_a_link_that_never_works_makes_it_impossible():
    topology = star(4)
    rates = topology.rates.copy()
    rates[0] = 0.0
    assert bound(topology, "all_reduce", rates=rates) == np.inf
    assert bound(topology, "all_reduce", [1, 2, 3], rates=rates) < np.inf


def test_one_member_or_no_bytes_take_no_time():
    for kind in KINDS:
        matrix = ((0.0,) * 3,) * 3 if kind == "all_to_all_v" else None
        assert bound(star(3), kind, [1], matrix=((7.0,),)) == 0
        table = traffic([0], [1], 0.0) if kind == "traffic" else None
        members = [0, 1] if kind == "send_recv" else None
        assert bound(star(3), kind, members, size=0.0, matrix=matrix, table=table) == 0


def test_traffic_cannot_arrive_before_it_starts():
    # 2 S out of rank 0 and 1 S into it, from 1 s on
    table = traffic([0, 0, 1], [1, 2, 0], SIZE, [1.0, 1.5, 2.0])
    assert bound(star(3), "traffic", table=table) == pytest.approx(max(1.0 + 2 * S_B, 2.0))
    assert bound(star(3), "traffic", table=traffic([0, 1], [1, 2], [SIZE, 1.0], [0.0, 5.0])) == pytest.approx(5.0)


@given(st.sampled_from(CASES), st.integers(2, 12), st.floats(1.0, 1e9), st.integers(0, 11))
@settings(max_examples=150, deadline=None)
def test_no_algorithm_beats_it_on_a_switch(case, n, size, root):
    """On a non-blocking switch, a rank needs the time of what it sends and of what it receives, at least."""
    kind, algorithm = case
    n = 2 if kind == "send_recv" else n
    there = group(star(n))
    graph = lowered(there, kind, algorithm, size, root % n)
    fastest = max(graph.sent().max(), graph.received().max()) / FABRIC
    least = lower_bound(operation(kind, algorithm, n, size, root % n), there.devices, there.topology)
    assert least <= fastest * (1 + 1e-9)
    if (kind, algorithm) in (("all_reduce", "ring"), ("all_gather", "ring"), ("all_to_all", "direct")):
        assert least == pytest.approx(fastest)


@given(st.sampled_from(CASES), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 15))
@settings(max_examples=150, deadline=None)
def test_no_algorithm_beats_it_across_servers(case, sizes, root):
    """The time that the busiest link needs for its bytes is never below the bound."""
    kind, algorithm = case
    topology = servers(*sizes)
    there = group(topology, [0, sum(sizes) - 1] if kind == "send_recv" and sum(sizes) > 1 else None)
    if kind == "send_recv" and there.members < 2:
        return
    root %= there.members
    graph = lowered(there, kind, algorithm, SIZE, root)
    carried = np.zeros(len(topology.links))
    sizes_of = np.bincount(graph.connection, graph.size, graph.connections)
    for a, b, channel, size in zip(graph.source, graph.destination, graph.channel, sizes_of):
        path = there.router.path(there.devices[a], there.devices[b], int(channel))
        carried[path] += size
    least = lower_bound(operation(kind, algorithm, there.members, SIZE, root), there.devices, topology)
    assert least <= (carried / topology.rates).max(initial=0.0) * (1 + 1e-9)
