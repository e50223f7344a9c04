"""Workloads that other simulators have published or were run on, and textbook networks of the flow-level model."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from simnet.flow_graph import FlowGraph, flow_graph
from simnet.topology.topology import Topology
from simnet.validation.cases import Case
from simnet.validation.network.balancing import fluid_rates, permutation_ends
from simnet.validation.network.figures import Figure, of_run
from simnet.validation.network.incasts import CSG_PFC
from simnet.validation.network.measuring import ends
from simnet.validation.network.systems import (
    ENDLESS,
    NS3,
    UEC,
    US,
    B,
    Started,
    fat_tree,
    flows,
    incast,
    policies,
    star,
)
from simnet.workload.flow_sizes import FLOW_SIZES

# -- all-to-all and rings ---------------------------------------------------------------------------------


def serial_all_to_all(hosts: int, seed: int, delay: float) -> FlowGraph:
    """Every host sends 2 MB to every other one in turn, going round a random circle of all from its own place.

    delay [s]: from the arrival of one flow to the start of the next, the way of an acknowledgement.
    """
    circle = np.random.default_rng(seed).permutation(hosts)
    place, turn = np.divmod(np.arange(hosts * (hosts - 1)), hosts - 1)
    number = np.arange(len(place))
    before = number[turn < hosts - 2]
    return flow_graph(
        hosts, circle[place], circle[(place + turn + 1) % hosts], number, 2e6, before, before + 1, delay=delay
    )  # fmt: skip


def all_to_all(control: str, balancer: str, seeds: int) -> dict[str, float]:
    """Last flow of a serial all-to-all of 16 hosts [us], mean over orders."""
    back, last = 6 * (US + 64 / B), []
    for seed in range(seeds):
        graph = serial_all_to_all(16, seed, back)
        last.append(ends(Started(fat_tree(4), graph, policies(control, balancer, packets=UEC)).model).max())
    return {"end of the last": np.mean(last) * 1e6}


def ring(control: str, balancer: str = "ecmp") -> dict[str, float]:
    """62 steps of 2 MB on a ring of 32 hosts of a k = 8 fat tree [ms], an all-reduce of 64 MB."""
    ranks, steps = 32, 62
    step, rank = np.divmod(np.arange(ranks * steps), ranks)
    later = np.flatnonzero(step > 0)
    before = (step[later] - 1) * ranks + (rank[later] - 1) % ranks  # what this rank got in the step before
    order = np.argsort(before, kind="stable")
    graph = flow_graph(
        ranks, np.arange(ranks), (np.arange(ranks) + 1) % ranks, rank, 2e6, before[order], later[order]
    )  # fmt: skip
    return {"end of the last": ends(Started(fat_tree(8), graph, policies(control, balancer)).model).max() * 1e3}


def _collectives() -> Iterator[Case]:
    for control, balancer, last, tolerance, note in (
        ("nscc", "reps", 2946, 0.1, "htsim's paths are those of REPS, else of the bitmap (`mixed`)"),
        ("nscc", "entropy_bitmap", 2946, None, "htsim's paths are those of REPS, else of the bitmap (`mixed`)"),
        ("eqds", "spray", 3268, 0.1, ""),
    ):
        yield from of_run(
            f"serial all-to-all of 16, {control}, {balancer}", partial(all_to_all, control, balancer, 5),
            "uet-htsim 40ccb05, alltoall_serial_16n.cm; here five other circles",
            Figure("end of the last", "us", last, tolerance), note=note,
        )  # fmt: skip
    for control, balancer, source, last in (
        ("nscc", "reps", "uet-htsim 40ccb05, own run", 10.486), ("none", "ecmp", "csg-htsim 841d9e7, own run", 10.62),
    ):  # fmt: skip
        yield from of_run(
            f"ring all-reduce of 64 MB on 32 hosts, {control}", partial(ring, control, balancer), source,
            Figure("end of the last", "ms", last, 0.05), slow=True,
        )  # fmt: skip


# -- many senders, and permutations, beside those of other simulators ---------------------------------------


def small_incast(control: str) -> dict[str, float]:
    """1,023 hosts send 100 kB to one: the last flow [us]."""
    started, _ = incast(fat_tree(16), range(1, 1024), 1e5, policies(control, packets=UEC))
    return {"end of the last": ends(started.model).max() * 1e6}


def _others() -> Iterator[Case]:
    for control, last in (("nscc", 10556), ("eqds", 8902)):
        yield from of_run(
            f"incast 1,023:1 of 100 kB, {control}", partial(small_incast, control),
            "uet-htsim 40ccb05, incast_1024_100K.cm (eqds: its RCCC)", Figure("end of the last", "us", last, 0.1),
            slow=True,
        )  # fmt: skip
    wide = {"packets": {"payload": "4032B"}}
    ns3 = {"packets": NS3}
    for name, source, control, balancer, others, mean, last in (
        ("uet nscc", "uet-htsim 40ccb05", "nscc", "entropy_bitmap", wide, 192.80, 203.67),
        ("csg eqds", "csg-htsim 841d9e7", "eqds", "spray", {}, 194.70, 203.40),
        ("csg line rate and pfc", "csg-htsim 841d9e7", "none", "ecmp", {"ports": CSG_PFC}, 518.82, 1051.37),
        ("csg hpcc", "csg-htsim 841d9e7", "hpcc", "ecmp", {"ports": CSG_PFC}, 438.63, 770.89),
        ("csg swift", "csg-htsim 841d9e7", "swift", "ecmp", {}, 403.81, 763.59),
        ("ns-3 hpcc", "ns-3 RDMA port 8fd3604", "hpcc", "ecmp", ns3, 457.79, 991.24),
        ("ns-3 dctcp", "ns-3 RDMA port 8fd3604", "dctcp", "ecmp", ns3, 411.79, 901.07),
        ("ns-3 dcqcn", "ns-3 RDMA port 8fd3604", "dcqcn", "ecmp", ns3, 623.40, 1315.59),
    ):
        yield from of_run(
            f"permutation of 128, {name}", partial(permutation_ends, 8, control, balancer, **others),
            f"{source}, own run of another permutation", Figure("mean", "us", mean), Figure("last", "us", last),
            note="" if balancer != "ecmp" else "one path per flow: what a hash and a permutation happen to give",
        )  # fmt: skip


# -- the flow-level model -----------------------------------------------------------------------------------


def outcast_rates() -> dict[str, float]:
    """One host sends to four, another to the last of them: rates on links of rate 1."""
    topology = star(6)
    rates = fluid_rates(topology, flows([0, 0, 0, 0, 5], [1, 2, 3, 4, 4], ENDLESS), {"kind": "ecmp"})
    up = [next(i for i, link in enumerate(topology.links) if link.source == topology.gpus[host]) for host in (0, 5)]
    return {"rate of the other": rates[up[1]], "rate of one of four": rates[up[0]] / 4}


def parking_lot(links: int) -> dict[str, float]:
    """A long flow over a row of links, a short one over each: rates on links of rate 1."""
    topology = Topology("parking lot")
    switches = [topology.add_device(f"switch{i}", "switch") for i in range(links + 1)]
    for a, b in zip(switches, switches[1:]):
        topology.connect(a, b, B, US, "ethernet")
    for i in range(links):
        for name, switch in ((f"from{i}", switches[i]), (f"to{i}", switches[i + 1])):
            topology.connect(topology.add_device(name, "gpu"), switch, B, US, "ethernet")
    for name, switch in (("from", switches[0]), ("to", switches[-1])):
        topology.connect(topology.add_device(name, "gpu"), switch, B, US, "ethernet")
    graph = flows([*range(0, 2 * links, 2), 2 * links], [*range(1, 2 * links, 2), 2 * links + 1], ENDLESS)
    rates = fluid_rates(topology, graph, {"kind": "ecmp"})
    long = next(i for i, link in enumerate(topology.links) if topology.devices[link.source].name == "from")
    short = next(i for i, link in enumerate(topology.links) if topology.devices[link.source].name == "from0")
    return {"rate of the long one": rates[long], "rate of a short one": rates[short]}


def mean_size(name: str) -> dict[str, float]:
    """Mean of a published distribution of flow sizes, by a million draws [B]."""
    return {"mean flow": float(FLOW_SIZES[name].draw(np.random.default_rng(1).random(1_000_000)).mean())}


def _fluid() -> Iterator[Case]:
    yield from of_run(
        "one host to four, another to one of them", outcast_rates, "max-min fairness; htsim's NDP: 2.5 and 7.55 of 10",
        Figure("rate of one of four", "line rates", 0.25, 0.01), Figure("rate of the other", "line rates", 0.75, 0.01),
    )  # fmt: skip
    yield from of_run(
        "parking lot of 4 links", partial(parking_lot, 4), "max-min fairness",
        Figure("rate of the long one", "line rates", 0.5, 1e-6), Figure("rate of a short one", "line rates", 0.5, 1e-6),
    )  # fmt: skip
    for name, mean in (
        ("web_search", 1_711_250), ("fb_hadoop", 120_421), ("ali_storage", 40_870), ("solar", 39_424),
    ):  # fmt: skip
        yield from of_run(
            f"flow sizes of {name}", partial(mean_size, name), "mean of the published distribution, piecewise linear",
            Figure("mean flow", "B", mean, 0.01),
        )  # fmt: skip


def cases() -> list[Case]:
    """All figures of this module."""
    return [*_collectives(), *_others(), *_fluid()]
