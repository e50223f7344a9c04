"""Collectives on the network models: closed forms, and nothing faster than physics allows."""

import math

import numpy as np
import pytest

from simnet.network import Scenario, network_model
from simnet.workload.collectives import KINDS, trees
from simnet.workload.collectives.bounds import lower_bound
from tests.workload.collectives.execution import CASES, lowered, operation
from tests.workload.systems import DGX1, FABRIC, LATENCY, group, mesh, servers, star

SIZE = 24e6
HOP = 2 * LATENCY  # from host to host over one switch


def duration(there, graph, model="flow"):
    network = network_model(model)(Scenario(there.topology, seed=1))
    network.start(graph, np.array(there.devices), communicator=0, now=0.0)
    ended = {}
    while done := network.advance(math.inf):
        ended.update({completion.rank: completion.time for completion in done})
    assert sorted(ended) == list(range(there.members))
    return max(ended.values())


def run(there, kind, algorithm, size=SIZE, root=0, model="flow"):
    return duration(there, lowered(there, kind, algorithm, size, root), model)


@pytest.mark.parametrize("n", [2, 3, 8, 13])
@pytest.mark.parametrize("model", ["flow", "analytic"])
def test_ring_all_reduce_on_a_switch(n, model):
    expected = 2 * (n - 1) / n * SIZE / FABRIC + 2 * (n - 1) * HOP
    assert run(group(star(n)), "all_reduce", "ring", model=model) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [2, 4, 16])
def test_halving_doubling_all_reduce_on_a_switch(n):
    expected = 2 * (n - 1) / n * SIZE / FABRIC + 2 * math.log2(n) * HOP
    assert run(group(star(n)), "all_reduce", "halving_doubling") == pytest.approx(expected, rel=1e-9)


def test_direct_all_to_all_on_a_switch():
    assert run(group(star(6)), "all_to_all", "direct") == pytest.approx(5 / 6 * SIZE / FABRIC + HOP, rel=1e-9)


def test_pairwise_all_to_all_on_a_switch():
    assert run(group(star(6)), "all_to_all", "pairwise") == pytest.approx(5 / 6 * SIZE / FABRIC + 5 * HOP, rel=1e-9)


def test_a_pipelined_chain():
    # k chunks over h hops: the last chunk leaves the root after k chunk times, and is passed on h - 1 times
    k, n = 8, 5
    chunk = trees.CHUNK / FABRIC
    expected = (k + n - 2) * chunk + (n - 1) * HOP
    assert run(group(star(n)), "broadcast", "ring", k * trees.CHUNK) == pytest.approx(expected, rel=1e-9)
    assert run(group(star(n)), "reduce", "ring", k * trees.CHUNK) == pytest.approx(expected, rel=1e-9)


def test_ring_all_reduce_fills_all_nvlinks_of_a_dgx1():
    size = 1e9
    time = run(group(mesh(DGX1)), "all_reduce", "ring", size)
    assert KINDS["all_reduce"].bus_factor(8) * size / time == pytest.approx(6 * 25e9, rel=0.01)


def test_ring_all_reduce_fills_all_nics_of_servers():
    size = 1e9
    time = run(group(servers(4, 4)), "all_reduce", "ring", size)
    assert KINDS["all_reduce"].bus_factor(8) * size / time == pytest.approx(4 * FABRIC, rel=0.01)


def test_hierarchical_all_reduce_of_two_servers():
    g, size = 4, 1e9
    nvlink, nic = 400e9, FABRIC
    expected = 2 * (g - 1) / g * size / nvlink + 2 * (1 / 2) * size / g / nic
    assert run(group(servers(g, g)), "all_reduce", "hierarchical", size) == pytest.approx(expected, rel=0.01)


PLACES = {
    "star": lambda: group(star(6)),
    "rails": lambda: group(servers(4, 4)),
    "uneven": lambda: group(servers(3, 1, 4), [6, 0, 2, 7, 3, 1]),
    "dgx1": lambda: group(mesh(DGX1)),
}


@pytest.mark.parametrize(("kind", "algorithm"), CASES)
@pytest.mark.parametrize("place", PLACES)
def test_nothing_beats_physics_and_nothing_is_absurdly_slow(kind, algorithm, place):
    there = PLACES[place]()
    if kind == "send_recv":
        there = group(there.topology, [0, 3])
    n = there.members
    time = run(there, kind, algorithm, root=n // 2)
    least = lower_bound(operation(kind, algorithm, n, SIZE, n // 2), there.devices, there.topology)
    assert least <= time * (1 + 1e-9)
    assert time < 80 * least
