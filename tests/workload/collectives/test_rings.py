import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from simnet.workload.collectives import Group
from simnet.workload.collectives.server_rings import closed, hamiltonian_cycles
from tests.workload.systems import DGX1, FABRIC, LATENCY, NVLINK, group, mesh, servers, star


def kinds(there, i, j, channel=0):
    path = there.router.path(there.devices[i], there.devices[j], channel)
    return {there.topology.links[k].kind for k in path}


def load(there, rings):
    """Rings over each link."""
    counts = np.zeros(len(there.topology.links))
    for channel, ring in enumerate(rings):
        for i, j in closed(ring):
            counts[there.router.path(there.devices[i], there.devices[j], channel)] += 1
    return counts


# -- groups -----------------------------------------------------------------------------------------------


def test_a_group_needs_members_and_each_only_once():
    topology = star(2)
    with pytest.raises(InputError, match="at least one member"):
        Group((), topology, Router(topology))
    with pytest.raises(InputError, match="device 'gpu1' is in a group twice"):
        group(topology, [0, 1, 1])


def test_members_by_server_in_order_of_their_first_member():
    assert group(servers(2, 3), [3, 0, 4, 1]).by_server == [[0, 2], [1, 3]]
    assert group(star(3)).by_server == [[0], [1], [2]]


def test_pair_rate_is_that_of_the_slowest_link():
    there = group(servers(2, 2))
    assert there.pair_rate(0, 1) == NVLINK
    assert there.pair_rate(0, 2) == FABRIC


def test_pair_rate_without_a_path_is_zero():
    topology = Topology("apart")
    topology.add_device("a", "gpu")
    topology.add_device("b", "gpu")
    assert group(topology).pair_rate(0, 1) == 0


# -- inside a server --------------------------------------------------------------------------------------


def test_bare_hosts_on_a_switch_form_one_ring_in_the_order_of_ranks():
    assert group(star(5)).rings() == [[0, 1, 2, 3, 4]]


def test_behind_an_nvswitch_one_ring_in_the_order_of_ranks():
    assert group(servers(8)).rings() == [list(range(8))]


# measured all-reduce bus bandwidth of 2 to 8 GPUs of a DGX-1 [GB/s]: 22.6, 45.1, 85.4, -, 45.7, 87.0, 134.5, of
# 22.4 GB/s per NVLink: so many rings share no link. Five GPUs have no ring of NVLinks.
@pytest.mark.parametrize(("gpus", "count"), [(2, 1), (3, 2), (4, 4), (6, 2), (7, 4), (8, 6)])
def test_a_dgx1_holds_as_many_nvlink_rings_as_were_measured(gpus, count):
    there = group(mesh(DGX1), list(range(gpus)))
    rings = there.rings()
    assert len(rings) == count
    for ring in rings:
        assert sorted(ring) == list(range(gpus))
        assert all(kinds(there, i, j) == {"nvlink"} for i, j in closed(ring))
    loads = load(there, rings) * 25e9
    assert (loads <= there.topology.rates).all()


def test_five_gpus_of_a_dgx1_use_nvlink_where_they_can():
    there = group(mesh(DGX1), list(range(5)))
    (ring,) = there.rings()
    assert sorted(ring) == list(range(5))
    # GPU 4 has a single NVLink to the others (to GPU 3), so one of its two hops cannot be one
    assert sum(kinds(there, i, j) == {"nvlink"} for i, j in closed(ring)) == 4


def test_any_order_of_the_eight_gpus_keeps_to_nvlink():
    there = group(mesh(DGX1), [5, 2, 7, 0, 3, 6, 1, 4])
    assert len(there.rings()) == 6
    for ring in there.rings():
        assert all(kinds(there, i, j) == {"nvlink"} for i, j in closed(ring))


def test_the_slowest_hop_is_as_fast_as_possible():
    # a square of wide links with narrow diagonals: 0-1, 1-2, 2-3, 3-0 wide
    topology = Topology("square")
    server = topology.add_server("server")
    gpus = [topology.add_device(f"gpu{i}", "gpu", server) for i in (0, 2, 1, 3)]
    for a, b, rate in ((0, 2, 50e9), (2, 1, 50e9), (1, 3, 50e9), (3, 0, 50e9), (0, 1, 20e9), (2, 3, 20e9)):
        topology.connect(gpus[a], gpus[b], rate, LATENCY, "pcie")
    there = group(topology)
    (ring,) = there.rings()
    assert min(there.pair_rate(i, j) for i, j in closed(ring)) == 50e9


def test_pcie_only_servers_keep_sockets_together():
    topology = Topology("sockets")
    server = topology.add_server("server")
    cpus = [topology.add_device(f"cpu{i}", "cpu", server) for i in range(2)]
    topology.connect(*cpus, 10e9, LATENCY, "pcie")
    for i in range(6):  # gpus alternate between the sockets
        gpu = topology.add_device(f"gpu{i}", "gpu", server)
        topology.connect(gpu, cpus[i % 2], 16e9, LATENCY, "pcie")
    there = group(topology)
    (ring,) = there.rings()
    crossings = sum(there.pair_rate(i, j) == 10e9 for i, j in closed(ring))
    assert crossings == 2


@given(st.integers(3, 7), st.data())
@settings(max_examples=60, deadline=None)
def test_hamiltonian_cycles_are_all_there_is(n, data):
    edges = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])))
    following = {i: sorted(j for a, j in edges if a == i) for i in range(n)}
    found = list(hamiltonian_cycles(following))

    def brute(path):
        if len(path) == n:
            return [path] if (path[-1], 0) in edges else []
        return [c for j in following[path[-1]] if j not in path for c in brute([*path, j])]

    assert found == brute([0])


# -- between servers --------------------------------------------------------------------------------------


def rails(there, i, j, channel):
    path = there.router.path(there.devices[i], there.devices[j], channel)
    names = [there.topology.devices[there.topology.links[k].destination].name for k in path]
    return [n for n in names if n.startswith(("rail", "spine"))]


@pytest.mark.parametrize(("count", "each"), [(2, 4), (4, 4), (4, 8), (2, 2)])
def test_hops_between_servers_stay_on_their_rail(count, each):
    there = group(servers(*[each] * count))
    rings = there.rings()
    assert len(rings) == each  # one NIC per GPU
    for channel, ring in enumerate(rings):
        assert sorted(ring) == list(range(count * each))
        between = [(i, j) for i, j in closed(ring) if i // each != j // each]
        assert len(between) == count
        for i, j in between:
            assert i % each == j % each
            assert rails(there, i, j, channel) == [f"rail{i % each}"]


def test_an_odd_number_of_servers_changes_rails_once():
    there = group(servers(3, 3, 3))
    for channel, ring in enumerate(there.rings()):
        between = [(i, j) for i, j in closed(ring) if i // 3 != j // 3]
        assert sum("spine" in rails(there, i, j, channel) for i, j in between) == 1


def test_every_nic_takes_part_alike():
    there = group(servers(4, 4))
    counts = load(there, there.rings())
    fabric = [k for k, link in enumerate(there.topology.links) if link.kind == "ib"]
    to_and_from_nics = [k for k in fabric if "spine" not in there.topology.link_name(k)]
    assert set(counts[to_and_from_nics]) == {1.0}


@pytest.mark.parametrize(("gpus", "nics"), [(4, 2), (8, 4), (4, 1)])
def test_gpus_that_share_a_nic_share_a_channel(gpus, nics):
    there = group(servers(gpus, gpus, nics=nics))
    rings = there.rings()
    assert len(rings) == nics
    counts = load(there, rings)
    for k, link in enumerate(there.topology.links):
        if link.kind == "ib" and "spine" not in there.topology.link_name(k):
            assert counts[k] == 1


def test_a_gpu_with_two_nics_of_its_own_enters_two_channels():
    topology = Topology("two nics")
    switch = topology.add_device("switch", "switch")
    for s in range(2):
        server = topology.add_server(f"server{s}")
        bridge = topology.add_device(f"{server}/pcie", "pcie_switch", server)
        gpu = topology.add_device(f"{server}/gpu", "gpu", server)
        topology.connect(gpu, bridge, 4 * FABRIC, 0.0, "pcie")
        for i in range(2):
            nic = topology.add_device(f"{server}/nic{i}", "nic", server)
            topology.connect(bridge, nic, FABRIC, 0.0, "pcie")
            topology.connect(nic, switch, FABRIC, LATENCY, "ib")
    there = group(topology)
    assert there.rings() == [[0, 1], [0, 1]]
    assert set(load(there, there.rings())[[k for k, link in enumerate(topology.links) if link.kind == "ib"]]) == {1.0}


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_any_group_has_rings_through_all_its_members(sizes, random):
    topology = servers(*sizes)
    members = list(range(sum(sizes)))
    random.shuffle(members)
    there = group(topology, members[: random.randint(1, len(members))])
    rings = there.rings()
    fewest = min(len(m) for m in there.by_server)
    assert len(rings) == (fewest if len(there.by_server) > 1 else 1)
    for ring in rings:
        assert sorted(ring) == list(range(there.members))
        home = [there.topology.devices[there.devices[m]].server for m in ring]
        assert sum(a != b for a, b in closed(home)) == (len(there.by_server) if len(there.by_server) > 1 else 0)
