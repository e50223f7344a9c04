"""The Topology itself: what it refuses, and the graph questions it answers."""

import pytest

from simnet.errors import InputError
from simnet.topology import Topology
from simnet.topology import topology as limits


def leaf_spine() -> Topology:
    """Two leaves with a server of one GPU and a bare GPU on each, one spine."""
    topology = Topology("small")
    spine = topology.add_device("spine", "switch")
    for i in range(2):
        leaf = topology.add_device(f"leaf{i}", "switch")
        topology.connect(leaf, spine, 100.0, 1.0, "ib")
        server = topology.add_server(f"node{i}")
        gpu, nic = topology.add_device(f"gpu{i}", "gpu", server), topology.add_device(f"nic{i}", "nic", server)
        topology.connect(gpu, nic, 10.0, 1.0, "pcie")
        topology.connect(nic, leaf, 20.0, 1.0, "ib")
        topology.connect(topology.add_device(f"bare{i}", "gpu"), leaf, 30.0, 1.0, "ib")
    return topology


def named(topology: Topology, ids: list[int]) -> list[str]:
    return [topology.devices[i].name for i in ids]


def test_a_cable_is_two_links():
    topology = leaf_spine()
    a, b = topology.id_of("leaf0"), topology.id_of("spine")
    assert [(link.source, link.destination) for link in topology.links[:2]] == [(a, b), (b, a)]


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_rates_are_refused(rate):
    with pytest.raises(InputError, match=r"link leaf0 -> spine: rate must be finite and above 0"):
        leaf_spine().add_link(1, 0, rate, 0.0, "ib")


@pytest.mark.parametrize("latency", [-1e-9, float("nan"), float("inf")])
def test_bad_latencies_are_refused(latency):
    with pytest.raises(InputError, match="latency must be finite"):
        leaf_spine().add_link(1, 0, 1.0, latency, "ib")


def test_nonsense_is_refused():
    topology = leaf_spine()
    with pytest.raises(InputError, match="self-loop"):
        topology.add_link(1, 1, 1.0, 0.0, "ib")
    with pytest.raises(InputError, match="unknown kind 'wire'"):
        topology.add_link(1, 0, 1.0, 0.0, "wire")
    with pytest.raises(InputError, match="unknown kind 'tpu'"):
        topology.add_device("x", "tpu")
    with pytest.raises(InputError, match="'gpu0' is there twice"):
        topology.add_device("gpu0", "gpu")
    with pytest.raises(InputError, match="unknown server 'node9'"):
        topology.add_device("x", "gpu", "node9")
    with pytest.raises(InputError, match="'node0' is there twice"):
        topology.add_server("node0")


def test_gpus_come_in_the_order_of_their_ranks():
    topology = leaf_spine()
    assert named(topology, topology.gpus) == ["gpu0", "bare0", "gpu1", "bare1"]


def test_parallel_links_have_numbers_in_their_names():
    topology = leaf_spine()
    second = topology.add_link(1, 0, 100.0, 1.0, "ib")
    assert topology.link_name(0) == "leaf0 -> spine"
    assert topology.link_name(second) == "leaf0 -> spine #2"


def test_columns_tell_ends_and_kinds():
    topology = leaf_spine()
    sources, destinations = topology.ends
    for i, link in enumerate(topology.links):
        assert (sources[i], destinations[i]) == (link.source, link.destination)
        assert topology.in_fabric[i] == (link.kind == "ib")
    assert named(topology, topology.is_switch.nonzero()[0]) == ["spine", "leaf0", "leaf1"]
    assert topology.names([0, 1]) == ["spine", "leaf0"]
    assert not len(Topology("empty").in_fabric)


def test_tiers_count_switches_from_below():
    topology = leaf_spine()
    tiers = {device.name: tier for device, tier in zip(topology.devices, topology.tiers)}
    assert (tiers["gpu0"], tiers["nic0"], tiers["bare0"], tiers["leaf0"], tiers["spine"]) == (0, 0, 0, 1, 2)


def test_cuts_are_gpus_servers_and_leaves():
    topology = leaf_spine()
    cuts = [sorted(named(topology, cut)) for cut in topology.cuts]
    assert ["gpu1"] in cuts
    assert ["gpu1", "nic1"] in cuts
    assert ["bare0", "gpu0", "leaf0", "nic0"] in cuts
    assert ["leaf0"] not in cuts  # it holds no GPU


def test_leaving_are_the_links_that_cross_outwards():
    topology = leaf_spine()
    inside = [topology.id_of(name) for name in ("leaf0", "gpu0", "nic0", "bare0")]
    assert [topology.link_name(i) for i in topology.leaving(inside)] == ["leaf0 -> spine"]


def test_devices_and_links_have_a_limit(monkeypatch):
    topology = leaf_spine()
    monkeypatch.setattr(limits, "MOST_DEVICES", len(topology.devices) + 1)
    monkeypatch.setattr(limits, "MOST_LINKS", len(topology.links) + 1)
    topology.add_device("last", "gpu")
    topology.add_link(1, 0, 1.0, 0.0, "ib")
    with pytest.raises(InputError, match=r"more than 10 devices"):
        topology.add_device("more", "gpu")
    with pytest.raises(InputError, match=r"more than 17 links"):
        topology.add_link(0, 1, 1.0, 0.0, "ib")
    assert (len(topology.devices), len(topology.links)) == (10, 17)
