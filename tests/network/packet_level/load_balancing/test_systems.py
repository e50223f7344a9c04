"""Load balancing on whole networks: what published analyses and simulations say of it."""

import numpy as np
import pytest

from simnet import hashing
from simnet.flow_graph import flow_graph
from simnet.network.model import LinkChange
from simnet.network.packet_level.load_balancing import plb
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from tests.network.systems import drain, fat_tree, finish_times, leaf_spine

RATE = 12.5e9  # [bytes/s]


def hosts_of(topology: Topology) -> np.ndarray:
    return np.array([topology.id_of(f"h{i}") for i in range(len(topology.gpus))])


def permutation(n: int, seed: int) -> np.ndarray:
    """Where every host sends, nobody to itself."""
    order = np.random.default_rng(seed).permutation(n)
    target = np.empty(n, int)
    target[order] = np.roll(order, 1)
    return target


def test_a_shared_seed_leaves_all_but_one_in_k_half_cores_unused():
    topology = fat_tree(8)
    hosts, used = hosts_of(topology), {}
    target = hosts[permutation(128, 3)]
    for rule in ("shared", "independent"):
        keys = hashing.keys(3, hosts, target)
        routes = Router(topology).routes(hosts, target, np.zeros(128, int), keys, rule=rule)
        ends = {topology.devices[topology.links[i].destination].name for i in routes.links}
        used[rule] = sum(name.startswith("core") for name in ends)
    assert used == {"shared": 16 // 4, "independent": 16}


# -- packets ----------------------------------------------------------------------------------------------------


def policies(balancer: str, control="nscc", **others) -> Policies:
    control = {"kind": control} if isinstance(control, str) else control
    return Policies(load_balancing={"kind": balancer}, congestion_control=control, **others)


def completion(balancer: str, control: str, **others) -> tuple[float, float]:
    """Mean and last completion [us] of a permutation of 2 MB on 128 hosts."""
    topology = fat_tree(8, RATE)
    model = PacketModel(Scenario(topology, 1, policies(balancer, control, **others), record=True))
    graph = flow_graph(128, range(128), permutation(128, 5), range(128), 2e6)
    finish_times(model, graph, hosts_of(topology))
    end = model.report().flows["end"] * 1e6
    return end.mean(), end.max()


IDEAL = (2e6 / 4096 * 4160 / RATE + 5 * 4160 / RATE + 6e-6) * 1e6


def test_ranking_of_spraying_schemes_by_the_last_flow():
    last = {b: completion(b, "nscc")[1] for b in ("reps", "entropy_bitmap", "spray", "ecmp")}
    assert last["reps"] <= last["entropy_bitmap"] * 1.02
    assert last["entropy_bitmap"] <= last["spray"] * 1.01
    assert last["spray"] < 1.25 * IDEAL
    assert last["ecmp"] > 2 * last["spray"]


def uplink_bytes(model, topology, leaf: str) -> np.ndarray:
    return np.array(
        [
            model.tables.ports[i].bytes_out
            for i, link in enumerate(topology.links)
            if topology.devices[link.source].name == leaf and topology.devices[link.destination].kind == "switch"
        ]
    )


def test_a_flow_at_line_rate_never_switches_flowlet():
    topology = leaf_spine(2, 4, 1, RATE)
    model = PacketModel(Scenario(topology, 1, policies("flowlet", "none")))
    finish_times(model, flow_graph(2, [0], [1], [0], 4e6), hosts_of(topology))
    assert np.count_nonzero(uplink_bytes(model, topology, "leaf0")) == 1


def half_rate_uplink() -> Topology:
    """Two leaves of four hosts, four spines; the links of the first spine have half the rate."""
    topology = Topology("uneven")
    leaves = [topology.add_device(f"leaf{i}", "switch") for i in range(2)]
    for j in range(4):
        spine = topology.add_device(f"spine{j}", "switch")
        for leaf in leaves:
            topology.connect(leaf, spine, RATE / 2 if j == 0 else RATE, 1e-6, "ethernet")
    for i in range(8):
        topology.connect(topology.add_device(f"h{i}", "gpu"), leaves[i // 4], RATE, 1e-6, "ethernet")
    return topology


def part_on_the_slow_uplink(balancer: str) -> float:
    """4 x 60 messages of 200 kB, each 130 us behind the one before: flowlets for those who look at them."""
    topology = half_rate_uplink()
    messages = np.arange(4 * 60)
    graph = flow_graph(
        8, range(4), range(4, 8), messages % 4, 2e5, messages[:-4], messages[4:], delay=130e-6
    )  # fmt: skip
    model = PacketModel(
        Scenario(topology, 1, policies(balancer, "fixed_window", transport={"kind": "selective_repeat"}))
    )
    finish_times(model, graph, hosts_of(topology))
    sent = uplink_bytes(model, topology, "leaf0")
    return sent[0] / sent.sum()


def test_schemes_that_look_at_load_leave_a_slow_uplink():
    assert part_on_the_slow_uplink("spray") == pytest.approx(1 / 4, rel=0.15)  # of 128 hashed paths
    assert part_on_the_slow_uplink("adaptive") < 0.22
    # with all uplinks full it would be one in seven
    assert part_on_the_slow_uplink("drill") < 0.15
    assert part_on_the_slow_uplink("conga") < 0.15


def test_plb_leaves_a_path_that_it_shares_after_n_rounds():
    # two flows with windows of one BDP, marked above 20 kB, share an uplink: a round lasts two base RTTs
    topology = leaf_spine(2, 2, 2, RATE)
    graph = flow_graph(4, [0, 1], [2, 3], [0, 1], 64e6)
    control = {"kind": "fixed_window", "bdps": 1}
    marking = {"ecn": {"kmin": "20kB", "kmax": "20kB"}}

    def model_of(seed, balancer, until=20e-6):
        model = PacketModel(Scenario(topology, seed, policies(balancer, control, ports=marking)))
        model.start(graph, hosts_of(topology), 0, 0.0)
        model.advance(until)
        return model

    seed = next(
        s for s in range(20) if np.count_nonzero(uplink_bytes(model_of(s, "ecmp"), topology, "leaf0")) == 1
    )  # fmt: skip
    model = model_of(seed, "plb")
    connections = model.tables.connections[:2]
    turn = 2 * connections.base_rtt[0]
    model.advance(10 * turn)
    assert connections.choice[:, plb.PATH].tolist() == [0, 0]
    model.advance(16 * turn)
    assert connections.choice[:, plb.PATH].max() > 0
    # whoever meets the other again moves again; in the end each has its own uplink
    done = max(c.time for c in drain(model))
    alone = 64e6 / 4096 * 4160 / RATE
    assert done < 1.4 * alone
    slow = model_of(seed, "ecmp")
    assert max(c.time for c in drain(slow)) > 1.95 * alone


@pytest.mark.parametrize("balancer", ["reps", "entropy_bitmap", "adaptive", "drill", "flowlet"])
def test_a_failed_uplink_is_left(balancer):
    topology = leaf_spine(2, 4, 2, RATE)
    dead = next(i for i, k in enumerate(topology.links) if topology.link_name(i) == "leaf0 -> spine1")
    graph = flow_graph(4, [0, 1], [2, 3], [0, 1], 4e6)
    model = PacketModel(Scenario(topology, 1, policies(balancer), changes=[LinkChange(100e-6, dead, 0.0)]))
    model.start(graph, hosts_of(topology), 0, 0.0)
    done = drain(model)
    assert [d.outcome for d in done] == ["done"] * 4
