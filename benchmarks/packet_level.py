"""Packet-level model on four workloads under many controls: `python -m benchmarks.packet_level [CONTROL ...]`.

The figure is data packet-hops per CPU second: the sum over flows of packets x links, the work that a user asked for,
whatever acknowledgements, retransmissions and pauses it took. CPU seconds are those of the kernel, sampling off. A
control that trims is counted by what was transmitted, since an overloaded trimming queue sends several times that.
"""

import math
import sys
import time
from collections.abc import Callable

import numpy as np

from simnet.flow_graph import FlowGraph, flow_graph
from simnet.network import CONGESTION_CONTROLS, Policies, Scenario
from simnet.network.packet_level.model import PacketModel
from simnet.topology.builders import BUILDERS
from simnet.topology.routing import Router

TRIMMING = tuple(name for name, row in CONGESTION_CONTROLS.items() if row.needs_trimming)


def incast() -> tuple[FlowGraph, slice]:
    """32 hosts of the second pod and after send 1 MB each to host 0."""
    return flow_graph(33, np.arange(1, 33), np.zeros(32), np.arange(32), 1e6), np.r_[0, 16:48]


def permutation(hosts: int = 128, size: float = 2e6) -> tuple[FlowGraph, np.ndarray]:
    """Everybody sends to somebody else (a random derangement)."""
    rng = np.random.default_rng(1)
    target = rng.permutation(hosts)
    while np.any(target == np.arange(hosts)):
        target = rng.permutation(hosts)
    return flow_graph(hosts, np.arange(hosts), target, np.arange(hosts), size), np.arange(hosts)


def all_to_all(hosts: int = 64) -> tuple[FlowGraph, np.ndarray]:
    """256 kB between each ordered pair, all at once."""
    source, destination = (a.ravel() for a in np.nonzero(~np.eye(hosts, dtype=bool)))
    return flow_graph(hosts, source, destination, np.arange(len(source)), 256e3), np.arange(hosts)


def ring(hosts: int = 32) -> tuple[FlowGraph, np.ndarray]:
    """Ring all-reduce of 64 MB: 62 steps of 2 MB."""
    rank, steps = np.arange(hosts), 2 * (hosts - 1)
    flow = np.arange(hosts * (steps - 1))
    after = (flow // hosts + 1) * hosts + (flow + 1) % hosts
    return flow_graph(hosts, rank, (rank + 1) % hosts, np.tile(rank, steps), 64e6 / hosts, flow, after), rank


WORKLOADS: dict[str, Callable] = {
    "incast 32:1": incast,
    "permutation 128": permutation,
    "all-to-all 64": all_to_all,
    "ring 32": ring,
}


def drain(model: PacketModel) -> float:
    """Run to the end; the time of the last completion [s]."""
    last = 0.0
    while done := model.advance(math.inf):
        assert all(c.outcome == "done" for c in done), done
        last = done[-1].time
    return last


def measured(label: str, topology, workload: Callable, control: str, **policies) -> None:
    """Run one case and print its figure; assert that every packet arrived exactly once."""
    graph, members = workload()
    settings = Policies(congestion_control={"kind": control}, **policies)
    model = PacketModel(Scenario(topology, 1, settings))
    model.start(graph, np.array(topology.gpus)[members], 0, 0.0)
    start = time.process_time()
    last = drain(model)
    seconds = time.process_time() - start
    packets = np.ceil(graph.size / settings.packets.payload)
    counts = model.report().counts
    assert counts["progress"] == packets.sum(), "every packet arrives once"
    router, devices = Router(topology), np.array(topology.gpus)[members]
    ends = zip(devices[graph.source], devices[graph.destination])
    links = np.array([len(router.path(int(a), int(b))) for a, b in ends])
    hops = counts["data_hops"] if control in TRIMMING else (packets * links[graph.connection]).sum()
    print(
        f"{label:18s} {control:15s} {seconds:7.2f} s {hops / seconds / 1e6:6.2f} M hops/s "
        f"{counts['events']:>11,} events  last {last * 1e6:9.1f} us",
        flush=True,
    )


def main() -> None:
    """Run all cases; the first compiles."""
    controls = sys.argv[1:] or list(CONGESTION_CONTROLS)
    tree = BUILDERS["fat_tree"](k=8, link_rate="100Gbps", link_latency="1us").build()
    measured("(warm-up)", tree, incast, controls[0])
    for name, workload in WORKLOADS.items():
        for control in controls:
            measured(name, tree, workload, control)


if __name__ == "__main__":
    main()
