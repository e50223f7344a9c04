"""The communication library: what it chooses and why, how long that takes, and that flows take just as long."""

import math

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.network import Scenario, network_model
from simnet.topology.builders import FABRICS
from simnet.topology.builders.servers import SERVERS
from simnet.topology.routing import Router
from simnet.workload.collectives import Group, Operation, library, lower
from simnet.workload.collectives.kinds import IN_NETWORK, KINDS
from simnet.workload.collectives.library.machine import generation_of
from tests.workload.collectives.execution import Execution, lowered, operation
from tests.workload.systems import DGX1, group, mesh, servers, star

KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30


def on(topology, ranks=None, constants=None):
    return Group(tuple(topology.gpus[:ranks]), topology, Router(topology), constants)


def h100(ranks=8):
    return on(SERVERS["hgx_h100"]().build(), ranks)


def cluster(nodes, **node):
    params = {"node": {"kind": "hgx_h100", **node}, "nodes": nodes, "ports_per_leaf": max(nodes, 4)}
    return on(FABRICS["rail_optimized"](**params).build())


def asked(there, kind="all_reduce", size=MIB, algorithm="auto", **more):
    return Operation(kind, size, tuple(range(there.members)), algorithm, **more)


def choose(there, kind="all_reduce", size=MIB, algorithm="auto", **more):
    return library.choose(there, asked(there, kind, size, algorithm, **more))


def simulated(there, operation, model="flow"):
    network = network_model(model)(Scenario(there.topology, seed=1))
    network.start(lower(operation, there), np.array(there.devices), communicator=0, now=0.0)
    last = 0.0
    while done := network.advance(math.inf):
        last = max(last, done[-1].time)
    return last


PLACES = {
    "8 H100": h100,
    "2 x 8 H100": lambda: cluster(2),
    "4 x 2 H100": lambda: cluster(4, gpus=2, nics=2),
    "4 nodes of one": lambda: cluster(4, gpus=1, nics=1),
    "5 of a DGX-1": lambda: on(SERVERS["dgx1_v100"]().build(), 5),
    "4 over PCIe": lambda: on(SERVERS["rtx_pro_6000_server"]().build(), 4),
    "2 through host memory": lambda: on(SERVERS["rtx_4090_server"]().build(), 2),
    "3 + 1": lambda: group(servers(3, 1)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("traffic", "all_to_all_v", "send_recv")])
def test_flows_take_as_long_as_was_predicted_where_nothing_else_goes_on(place, kind):
    there = PLACES[place]()
    for size in (8.0, 200 * KIB, 64 * MIB):
        for algorithm in (name for name, kinds in library.PLANS.items() if kind in kinds):
            wanted = asked(there, kind, size, algorithm, library="nccl", root=1 % there.members)
            try:
                choice = library.choose(there, wanted)
            except InputError:  # the place is not made for the algorithm
                continue
            assert simulated(there, wanted) == pytest.approx(choice.time, rel=1e-9), (algorithm, choice, size)


def test_the_analytic_model_agrees():
    there = h100()
    wanted = asked(there, size=4 * MIB)
    assert simulated(there, wanted, "analytic") == pytest.approx(library.choose(there, wanted).time, rel=1e-9)


# -- what is chosen -------------------------------------------------------------------------------------------


def test_ll_for_small_then_ll128_then_nvls_on_eight_h100():
    there = h100()
    names = [str(choose(there, size=2.0**k)) for k in range(3, 33)]
    assert list(dict.fromkeys(names)) == ["ring ll", "ring ll128", "nvls simple"]


def test_no_nvls_below_five_h100_and_none_on_a100():
    assert str(choose(h100(4), size=GIB)) == "ring simple"
    assert str(choose(on(SERVERS["dgx_a100"]().build()), size=GIB)) == "ring simple"


def test_rings_beat_trees_for_large_messages_within_a_server():
    there = h100()
    ring, tree = (choose(there, size=GIB, algorithm=a, library="nccl").time for a in ("ring", "tree"))
    assert ring < 0.8 * tree


def test_two_servers_overstate_the_fabric():
    # 470 and 393 GB/s of bus bandwidth were measured on these nodes, whose NICs have 400 GB/s (nccl-tests issue 309)
    there, factor = cluster(2), 2 * 15 / 16
    tree = choose(there, size=16 * GIB)
    ring = choose(there, size=16 * GIB, algorithm="ring", library="nccl", channels=24)
    assert str(tree) == "nvls_tree simple"
    assert factor * 16 * GIB / tree.time == pytest.approx(470e9, rel=0.05)
    assert factor * 16 * GIB / ring.time == pytest.approx(393e9, rel=0.05)


def test_latency_of_two_servers():
    # 24.96 us for 16 B (nccl-tests issue 309)
    assert choose(cluster(2), size=16.0).time == pytest.approx(24.96e-6, rel=0.15)


@pytest.mark.parametrize(
    ("ranks", "measured"), [(2, 22.6), (3, 45.1), (4, 85.4), (5, 37.2), (6, 45.7), (7, 87.0), (8, 134.5)]
)
def test_bus_bandwidths_of_the_cube_mesh(ranks, measured):
    # GB/s of V100 in a DGX-1 (vTrain): most of these are a number of directed rings; 5 GPUs have none over NVLink
    there = on(SERVERS["dgx1_v100"]().build(), ranks)
    choice = choose(there, size=GIB)
    assert choice.algorithm == ("tree" if ranks == 5 else "ring")
    assert 2 * (ranks - 1) / ranks * GIB / choice.time == pytest.approx(measured * 1e9, rel=0.1)


def test_sixteen_channels_between_servers_unless_more_are_asked_for():
    there = cluster(4)
    few, many = (choose(there, size=8 * GIB, library="nccl", channels=c).time for c in (None, 24))
    assert many < 0.9 * few


def test_one_rank_in_every_server_gathers_by_parallel_trees():
    there = cluster(32, gpus=1, nics=1)
    assert [choose(there, "all_gather", size).algorithm for size in (64 * KIB, GIB)] == ["pat", "ring"]


def test_the_choice_says_why():
    choice = choose(h100(), size=GIB)
    assert choice.why.startswith("nvls simple: ")
    assert "us expected; next ring simple " in choice.why
    assert choice.channels > 1


# -- what can be asked for ------------------------------------------------------------------------------------


def test_everything_can_be_forced():
    there = h100()
    assert str(choose(there, size=8.0, protocol="simple")).endswith(" simple")
    assert str(choose(there, size=GIB, algorithm="tree", protocol="ll128")) == "tree ll128"
    assert choose(there, size=GIB, algorithm="nvls", protocol="simple", channels=8).channels == 8


def test_fewer_channels_are_slower():
    there = h100()
    times = [choose(there, size=GIB, algorithm="ring", protocol="simple", channels=c).time for c in (2, 4, 8)]
    assert times[0] / times[1] == pytest.approx(2, rel=0.05)
    assert times[1] / times[2] == pytest.approx(2, rel=0.05)


def test_a_thread_that_launches_on_several_gpus_takes_its_time():
    there = h100()
    alone, together = (choose(there, size=8.0, threads=threads).time for threads in (1, 8))
    assert together > alone
    assert together == 8 * library.CONSTANTS.thread_launch
    assert simulated(there, asked(there, size=8.0, threads=8)) == pytest.approx(together, rel=1e-9)


def test_an_older_version_lacks_what_came_later():
    there = h100()
    choices = {str(choose(there, size=2.0**k, library="nccl_2021")) for k in range(3, 33)}
    assert choices == {"ring ll", "ring simple"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"algorithm": "nvls", "protocol": "ll"}, "nvls: goes with protocol simple only"),
        ({"protocol": "lll"}, "unknown protocol 'lll'; allowed: ll, ll128, simple; did you mean 'll'"),
        ({"algorithm": "nvls_tree", "library": "nccl"}, "nvls_tree: needs ranks of several servers"),
        ({"algorithm": "halving_doubling", "library": "nccl"}, "a library has no algorithm 'halving_doubling'; it has"),
        ({"algorithm": "direct", "library": "nccl"}, "a library has no direct all_reduce; it has auto, ring, tree"),
        ({"algorithm": "ring", "channels": 4}, "channels and gpus_per_thread are a library's: give algorithm auto"),
        ({"algorithm": "ring", "threads": 8}, "channels and gpus_per_thread are a library's: give algorithm auto"),
    ],
)
def test_what_cannot_be(more, sentence):
    there = h100()
    with pytest.raises(InputError, match=sentence):
        lower(asked(there, **more), there)


# -- what it is made of ---------------------------------------------------------------------------------------


def test_plain_algorithms_know_no_library():
    there = h100()
    graph = lower(asked(there, algorithm="ring"), there)
    assert not graph.delay.any()
    assert np.isinf(graph.rate_cap).all()


def test_the_oldest_gpu_sets_the_pace():
    assert generation_of(h100()) == "hopper"
    assert generation_of(on(SERVERS["a40_server"]().build())) == "ampere_rtx"
    assert generation_of(group(servers(2))) == "hopper"  # of no known model


def test_constants_are_one_object_that_may_be_another():
    hopper = library.CONSTANTS.generations["hopper"]
    slower = hopper.model_copy(update={"launch": hopper.launch + 1e-3})
    constants = library.CONSTANTS.model_copy(update={"generations": {"hopper": slower}})
    topology = SERVERS["hgx_h100"]().build()
    usual, other = choose(on(topology)), choose(on(topology, constants=constants))
    assert other.time == pytest.approx(usual.time + 1e-3)
    assert constants.count() < library.CONSTANTS.count()


def test_contention_acts_on_what_the_library_does():
    there = h100()
    wanted = asked(there, size=GIB, algorithm="ring", protocol="simple")
    network = network_model("flow")(Scenario(there.topology, seed=1))
    for communicator in range(2):
        network.start(lower(wanted, there), np.array(there.devices), communicator, now=0.0)
    last = 0.0
    while done := network.advance(math.inf):
        last = max(last, done[-1].time)
    # two rings want more than the links have
    assert last > 1.4 * library.choose(there, wanted).time


# -- any group ------------------------------------------------------------------------------------------------

GROUPS = {
    "one switch": lambda: group(star(5)),
    "4 + 4": lambda: group(servers(4, 4)),
    "5 + 3": lambda: group(servers(5, 3)),
    "shuffled": lambda: group(servers(4, 4, 4), [7, 0, 9, 2, 3, 11, 5]),
    "a mesh": lambda: group(mesh(DGX1)),
}


@pytest.mark.parametrize("place", GROUPS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "traffic"])
@pytest.mark.parametrize("size", [0.0, 1000.0, 3 * MIB])
def test_any_group_gets_all_its_bytes(place, kind, size):
    there = GROUPS[place]()
    if kind == "send_recv":
        there = group(there.topology, [0, 1])
    graph = lowered(there, kind, "auto", size)
    run = Execution(graph)
    assert len(run.order) == graph.flows
    choice = library.choose(there, operation(kind, "auto", there.members, size))
    if choice.algorithm not in IN_NETWORK and KINDS[kind].total is not None:
        assert graph.sent().sum() >= KINDS[kind].total(there.members) * size * (1 - 1e-12)


def test_packets_take_about_as_long():
    there = h100(4)
    wanted = asked(there, size=MIB, algorithm="ring", library="nccl")
    assert simulated(there, wanted, "packet") == pytest.approx(library.choose(there, wanted).time, rel=0.1)
