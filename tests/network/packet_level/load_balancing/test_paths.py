"""Paths of connections: that they lead where they should, by rule, by hash and over the groups of a dragonfly."""

from itertools import pairwise

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network import connections
from simnet.network.load_balancing import Ecmp
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.load_balancing.dragonfly import Groups
from simnet.network.packet_level.paths import Paths
from simnet.network.scenario import Scenario
from simnet.topology.builders.dragonfly import Dragonfly
from simnet.topology.routing import Router
from tests.network.systems import fat_tree, leaf_spine


def all_paths(topology, balancer, source, destination):
    count = getattr(balancer, "paths", 1)
    paths = Paths(topology, 1, [balancer])
    n = len(source)
    found = paths.find(Router(topology), np.array(source), np.array(destination), np.zeros(n, np.int64), 0)
    result = []
    for c in range(n):
        rows = paths.rows[found.first[c] : found.first[c] + 2 * count]
        result.append([])
        for row in rows:
            end = row.start
            while paths.links[end] >= 0:
                end += 1
            result[-1].append(paths.links[row.start : end].tolist())
    return result


def check(topology, path, a, b):
    links = [topology.links[i] for i in path]
    assert links[0].source == a
    assert links[-1].destination == b
    assert all(x.destination == y.source for x, y in pairwise(links))


@pytest.mark.parametrize("kind", [k for k in LOAD_BALANCERS if k not in ("minimal", "valiant", "ugal", "conga")])
def test_paths_lead_there_and_back(kind):
    topology = fat_tree(4)
    hosts = topology.gpus
    balancer = LOAD_BALANCERS[kind]()
    for c, paths in enumerate(all_paths(topology, balancer, hosts[:4], hosts[8:12])):
        half = len(paths) // 2
        for path in paths[:half]:
            check(topology, path, hosts[c], hosts[8 + c])
            assert len(path) == 6
        for path in paths[half:]:
            check(topology, path, hosts[8 + c], hosts[c])


def test_many_entropies_reach_all_equal_cost_paths():
    topology = fat_tree(4)
    ((*paths,),) = all_paths(topology, LOAD_BALANCERS["spray"](paths=64), topology.gpus[:1], topology.gpus[-1:])
    assert len({tuple(p) for p in paths[:64]}) == 4


def test_the_path_of_ecmp_is_that_of_the_flow_level():
    topology = fat_tree(8)
    devices = np.array(topology.gpus)
    n = len(devices)
    graph = flow_graph(n, range(n), np.roll(range(n), 17), range(n), 1.0)
    scenario = Scenario(topology, 1)
    routes = connections.routes(scenario, scenario.router, graph, devices, 0)
    for c, paths in enumerate(all_paths(topology, Ecmp(), devices, np.roll(devices, -0)[np.roll(range(n), 17)])):
        assert paths[0] == routes.links[routes.start[c] : routes.start[c + 1]].tolist()


@pytest.fixture(scope="module")
def dragonfly():
    # a = 4 routers, p = 2 ports, h = 2 global links: 9 groups, 72 hosts
    return Dragonfly(routers_per_group=4, ports_per_router=2, global_links=2, link_rate="100Gbps").build()


def group_sequence(topology, path):
    names = [topology.devices[topology.links[i].destination].name for i in path[:-1]]
    groups = [name.partition("/")[0] for name in names]
    return [g for i, g in enumerate(groups) if i == 0 or g != groups[i - 1]]


def test_dragonfly_paths(dragonfly):
    hosts = dragonfly.gpus
    for kind, groups in (("minimal", {2}), ("valiant", {3}), ("ugal", {2, 3})):
        (paths,) = all_paths(dragonfly, LOAD_BALANCERS[kind](), hosts[:1], hosts[-1:])
        for path in paths[: len(paths) // 2]:
            check(dragonfly, path, hosts[0], hosts[-1])
        seen = {len(group_sequence(dragonfly, path)) for path in paths[: len(paths) // 2]}
        assert seen == groups
        longest = max(len(path) for path in paths)
        assert longest <= (5 if kind == "minimal" else 8)  # hosts' links, then l g l or l g l g l


def test_valiant_goes_by_way_of_every_other_group(dragonfly):
    hosts = dragonfly.gpus
    (paths,) = all_paths(dragonfly, LOAD_BALANCERS["valiant"](paths=256), hosts[:1], hosts[-1:])
    between = {group_sequence(dragonfly, path)[1] for path in paths[:256]}
    assert between == {f"group{i}" for i in range(1, 8)}


def test_within_a_group_traffic_stays_there(dragonfly):
    hosts = dragonfly.gpus
    (paths,) = all_paths(dragonfly, LOAD_BALANCERS["valiant"](), hosts[:1], hosts[2:3])
    assert {len(path) for path in paths} == {3}


def test_dragonfly_schemes_and_conga_say_where_they_do_not_fit():
    with pytest.raises(InputError, match="dragonfly"):
        Groups(fat_tree(4), np.ones(1000, bool))
    with pytest.raises(InputError, match="two tiers"):
        Paths(fat_tree(4), 1, [LOAD_BALANCERS["conga"]()])
    Paths(leaf_spine(2, 2, 2), 1, [LOAD_BALANCERS["conga"]()])


def test_an_unknown_way_of_pinning_is_refused():
    with pytest.raises(ValueError, match="by"):
        LOAD_BALANCERS["pinned"](by="rack")
