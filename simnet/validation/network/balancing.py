"""Load balancing: what hashes and rules leave of a fat tree, sprayed permutations, dragonflies at their worst."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from simnet.flow_graph import FlowGraph
from simnet.network.flow_level.model import FlowModel
from simnet.network.model import LinkChange
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.builders.dragonfly import Dragonfly
from simnet.topology.builders.leaf_spine import LeafSpine
from simnet.topology.topology import Topology
from simnet.validation.cases import Case
from simnet.validation.network.figures import Figure, of_run
from simnet.validation.network.measuring import ends, run_to
from simnet.validation.network.systems import ENDLESS, B, Started, fat_tree, flows, permutation, policies

# -- paths alone --------------------------------------------------------------------------------------------


def fluid_rates(topology: Topology, graph: FlowGraph, balancer: dict, seed: int = 1) -> np.ndarray:
    """Part of the line rate at which every link carries what the flow-level model sends over it."""
    then = 1e-3
    nothing_changes = [LinkChange(then, 0, topology.links[0].rate)]  # but the model books up to then
    model = FlowModel(Scenario(topology, seed, policies=Policies(load_balancing=balancer), changes=nothing_changes))
    model.start(graph, np.array(topology.gpus), 0, 0.0)
    model.advance(then)
    return model.report().bytes / then / B


def permutation_rates(k: int, balancer: dict, seeds: int) -> dict[str, float]:
    """Max-min rates of random permutations on a k-ary fat tree, as parts of the line rate."""
    topology = fat_tree(k)
    hosts, found = np.array(topology.gpus), []
    up = [next(i for i, link in enumerate(topology.links) if link.source == gpu) for gpu in hosts]
    for seed in range(seeds):
        graph = flows(range(len(hosts)), permutation(len(hosts), seed), ENDLESS)
        found.append(fluid_rates(topology, graph, balancer, seed)[up])
    return {"mean rate": np.mean(found), "slowest rate": np.min(found, axis=1).mean()}


def shifts(k: int) -> dict[str, float]:
    """The slowest flow of all shifts of the hosts of a k-ary fat tree under D-mod-k, as a part of the line rate."""
    topology = fat_tree(k)
    hosts, slowest = np.array(topology.gpus), math.inf
    for shift in range(1, len(hosts)):
        graph = flows(range(len(hosts)), np.roll(np.arange(len(hosts)), -shift), ENDLESS)
        rates = fluid_rates(topology, graph, {"kind": "d_mod_k"})
        slowest = min(slowest, rates[rates > 0].min())
    return {"slowest rate": slowest}


def bins(queue_pairs: int, seeds: int) -> dict[str, float]:
    """8 flows over 8 uplinks: mean of 1 / packets on the fullest, and the part of the uplinks that carry any.

    Packets of a queue pair take one path, so one packet of each shows where it goes.
    """
    topology = LeafSpine(leaves=2, spines=8, ports_per_leaf=8, link_rate="100Gbps").build()
    leaf = next(d for d, device in enumerate(topology.devices) if device.name == "leaf0")
    up = [
        i for i, link in enumerate(topology.links)
        if link.source == leaf and topology.devices[link.destination].kind == "switch"
    ]  # fmt: skip
    found = []
    for seed in range(seeds):
        chosen = Policies(
            congestion_control={"kind": "none"}, load_balancing={"kind": "ecmp_qp", "queue_pairs": queue_pairs}
        )
        started = Started(topology, flows(range(8), range(8, 16), 4096 * queue_pairs), chosen, seed)
        ends(started.model)
        load = started.model.report().ports["packets"][up] / queue_pairs
        found.append((1 / load.max(), np.mean(load > 0)))
    efficiency, used = np.mean(found, axis=0)
    return {"completion efficiency": efficiency, "uplinks in use": used}


def _paths() -> Iterator[Case]:
    computed = "max-min rates of random permutations, computed"
    for k, kind, balancer, seeds, mean, slowest in (
        (4, "ecmp", {"kind": "ecmp"}, 80, 0.588, 1 / 2.6),
        (8, "ecmp", {"kind": "ecmp"}, 20, 0.477, 1 / 4.4),
        (8, "ecmp, one seed", {"kind": "ecmp", "hash": "shared"}, 20, 0.306, None),
        (8, "d_mod_k", {"kind": "d_mod_k"}, 20, 0.610, None),
    ):
        figures = [Figure("mean rate", "line rates", mean, 0.05)]
        if slowest:
            figures.append(Figure("slowest rate", "line rates", slowest))
        simulate = partial(permutation_rates, k, balancer, seeds)
        yield from of_run(f"permutations, {kind}, k = {k}", simulate, computed, *figures)
    for k in (4, 8):
        yield from of_run(
            f"all shifts, d_mod_k, k = {k}", partial(shifts, k), "D-mod-k carries every shift at line rate",
            Figure("slowest rate", "line rates", 1.0, 1e-6),
        )  # fmt: skip
    for queue_pairs, efficiency in ((1, 0.413), (2, 0.498), (4, 0.584)):
        figures = [Figure("completion efficiency", "x", efficiency, 0.04)]
        if queue_pairs == 1:
            figures.append(Figure("uplinks in use", "x", 1 - (7 / 8) ** 8, 0.02))
        yield from of_run(
            f"8 flows on 8 uplinks, {queue_pairs} queue pairs", partial(bins, queue_pairs, 600),
            "balls in bins: E[1 / fullest], 1 - (1 - 1 / m)^m", *figures,
        )  # fmt: skip


# -- permutations of packets ----------------------------------------------------------------------------------


def permutation_ends(k: int, control: str, balancer: str, **others) -> dict[str, float]:
    """Ends of a permutation of 2 MB on a k-ary fat tree [us]."""
    n = k**3 // 4
    graph = flows(range(n), permutation(n, 5), 2e6)
    arrived = ends(Started(fat_tree(k), graph, policies(control, balancer, **others)).model)
    return {"mean": arrived.mean() * 1e6, "last": arrived.max() * 1e6}


def sprayed_by_fluid(control: str, seeds: int, **others) -> dict[str, float]:
    """Ends of sprayed permutations of 2 MB among 128 hosts by those of the flow-level model, means over permutations.

    The flow-level model has the rates that are left to payload.
    """
    found = []
    for seed in range(1, seeds + 1):
        graph = flows(range(128), permutation(128, seed), 2e6)
        started = Started(fat_tree(8), graph, policies(control, "spray", **others))
        arrived, settings = ends(started.model), started.model.classes[0]
        slower = fat_tree(8, B * settings.payload / (settings.payload + settings.header))
        fluid = FlowModel(Scenario(slower, 1, Policies(load_balancing={"kind": "spray"}), record=True))
        fluid.start(graph, np.array(slower.gpus), 0, 0.0)
        expected = ends(fluid)
        found.append((arrived.mean() / expected.mean(), arrived.max() / expected.max()))
    mean, last = np.mean(found, axis=0)
    return {"mean by the flow model's": mean, "last by the flow model's": last}


def adaptive_by_ecmp(k: int, reorder_window: int, **others) -> dict[str, float]:
    """Mean end of a permutation with per-packet adaptive routing by that with ECMP, at line rate with pauses."""
    transport = {"kind": "go_back_n", "reorder_window": reorder_window}
    adaptive = permutation_ends(k, "none", "adaptive", transport=transport, balancing={"step": "200kB"}, **others)
    return {"mean by ecmp's": adaptive["mean"] / permutation_ends(k, "none", "ecmp", **others)["mean"]}


def _permutations() -> Iterator[Case]:
    shipped = "uet-htsim 40ccb05, validate_load_balancing_snd.out and own runs"
    for name, balancer, packets, figures in (
        ("reps, every packet acknowledged", "reps", {}, [Figure("last", "us", 198.2, 0.05)]),
        ("reps, every fourth", "reps", {"ack_every": 4}, [Figure("last", "us", 208.2, 0.05)]),
        ("entropy bitmap", "entropy_bitmap", {}, [Figure("last", "us", 200.5, 0.05)]),
        ("oblivious spray", "spray", {}, [Figure("last", "us", 212.8, 0.05)]),
        ("ecmp", "ecmp", {}, [Figure("mean", "us", 406.0, 0.05), Figure("last", "us", 928.4, 0.15)]),
        ("adaptive", "adaptive", {}, [Figure("mean", "us", 189.4, 0.05), Figure("last", "us", 198.4, 0.05)]),
    ):
        simulate = partial(permutation_ends, 16, "nscc", balancer, packets={"payload": "4086B"} | packets)
        yield from of_run(f"permutation of 1,024, nscc, {name}", simulate, shipped, *figures, slow=True)
    own, roce = "uet-htsim 40ccb05, own runs of RoCE", {
        "ports": {"pfc": {"xoff": "64kB", "xon": "44kB"}}, "packets": {"payload": "4000B", "header": "0B"},
    }  # fmt: skip
    yield from of_run(
        "permutation of 1,024, line rate, ecmp", partial(permutation_ends, 16, "none", "ecmp", **roce), own,
        Figure("mean", "us", 522.0, 0.15), Figure("last", "us", 1159.0), slow=True,
    )  # fmt: skip
    yield from of_run(
        "permutation of 1,024, line rate, adaptive, 64 packets of reordering",
        partial(
            permutation_ends, 16, "none", "adaptive", transport={"kind": "go_back_n", "reorder_window": 64},
            balancing={"step": "200kB"}, **roce,
        ), own,
        Figure("mean", "us", 197.0, 0.15), Figure("last", "us", 260.0), slow=True,
        note="queues graded in steps of 5 % of a queue of 1,000 packets, as in that run, so that ports look alike",
    )  # fmt: skip
    yield from of_run(
        "permutation of 128, line rate, adaptive with go-back-N", partial(adaptive_by_ecmp, 8, 0, **roce),
        "reordering takes from go-back-N what the paths give: no better than ECMP",
        Figure("mean by ecmp's", "x", 1.0, 0.0, "at least"),
        note="uet-htsim has 513 us by 522 of 1,024 hosts, where its switches move a flow only after a gap of 10 us",
    )  # fmt: skip
    yield from of_run(
        "permutation of 128, line rate, adaptive, 64 packets of reordering", partial(adaptive_by_ecmp, 8, 64, **roce),
        own, Figure("mean by ecmp's", "x", 197 / 522, 0.2), note="the reference is that of 1,024 hosts",
    )  # fmt: skip


_WINDOW_OF_A_BDP = (
    "one BDP in flight feeds no queue: with a wait of Q on the way a flow takes 1 + Q / T as long, 1.25 by M/D/1; "
    "uet-htsim's dctcp, with up to 1.5 BDP, takes 1.17 and 1.31"
)


def _sprayed() -> Iterator[Case]:
    for control, others, note in (
        ("nscc", {}, ""),
        ("eqds", {}, ""),
        ("swift", {}, f"{_WINDOW_OF_A_BDP}; it grows by a packet per RTT in the 12 RTTs of a flow"),
        ("dctcp", {"transport": {"kind": "selective_repeat"}}, f"never more than {_WINDOW_OF_A_BDP}"),
    ):  # fmt: skip
        yield from of_run(
            f"sprayed permutations of 128, {control}", partial(sprayed_by_fluid, control, 5, **others),
            "max-min fairness over all paths, at the rates that payload has",
            Figure("mean by the flow model's", "x", 1.0, 0.15), Figure("last by the flow model's", "x", 1.0, 0.25),
            note=note,
        )  # fmt: skip


# -- dragonfly ------------------------------------------------------------------------------------------------


LOSSY = {"lossless": False, "buffer": "1GB"}
LANES = {"credits": "128kB", "virtual_lanes": 3}


def dragonfly(balancer: str, ports: dict, **params) -> dict[str, float]:
    """Every host of a group sends to the next group: goodput on the wire by line rate, from 100 to 250 us.

    19 groups of 6 routers with 3 hosts and 3 global links each.
    """
    topology = Dragonfly(routers_per_group=6, ports_per_router=3, global_links=3, link_rate="100Gbps").build()
    hosts = np.arange(342)
    chosen = Policies(
        congestion_control={"kind": "fixed_window", "bdps": 4}, load_balancing={"kind": balancer, **params},
        transport={"kind": "selective_repeat"}, ports=ports,
    )  # fmt: skip
    model = Started(topology, flows(hosts, (hosts + 18) % 342, 50e6), chosen).model
    run_to(model, 100e-6)
    before = model.report()
    run_to(model, 250e-6)
    after = model.report()
    packets = after.counts["progress"] - before.counts["progress"]
    return {"rate": packets * 4160 / 342 / (after.time - before.time) / B}


def _dragonfly() -> Iterator[Case]:
    local = "its own ports fill only where credits hold back what queues further on have no room for"
    for name, balancer, ports, params, rate, tolerance in (
        ("minimal", "minimal", LOSSY, {}, 1 / 18, 0.1),
        ("valiant", "valiant", LOSSY, {}, 0.5, 0.1),
        ("ugal, global view", "ugal", LOSSY, {"view": "global"}, 0.5, 0.1),
        ("ugal, local view", "ugal", LANES, {"view": "local"}, 0.5, 0.1),
        ("ugal, local view, without flow control", "ugal", LOSSY, {"view": "local"}, 0.5, None),
    ):
        yield from of_run(
            f"dragonfly at its worst, {name}", partial(dragonfly, balancer, ports, **params),
            "Kim et al. 2008: minimal 1 / (a p), Valiant and UGAL near 1/2",
            Figure("rate", "line rates", rate, tolerance), note=local if "local" in name else "",
        )  # fmt: skip


def cases() -> list[Case]:
    """All figures of this module."""
    return [*_paths(), *_permutations(), *_sprayed(), *_dragonfly()]
