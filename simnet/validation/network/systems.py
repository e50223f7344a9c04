"""The small systems of this suite: who is joined to whom, who sends to whom, and a model that has been started."""

from itertools import pairwise

import numpy as np

from simnet.flow_graph import FlowGraph, flow_graph
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.builders.fat_tree import FatTree
from simnet.topology.builders.single_switch import SingleSwitch
from simnet.topology.topology import Topology

GBPS = 1e9 / 8
US = 1e-6
B = 100 * GBPS
ENDLESS = 1e12  # [bytes] of a flow that outlasts every run

# Packets on the wire, as the references have them.
UEC = {"payload": "4086B", "header": "64B", "ack": "64B"}  # uet-htsim
NS3 = {"payload": "1000B", "header": "48B", "ack": "60B"}  # ns-3 of HPCC
THOUSAND = {"payload": "936B", "header": "64B"}  # 1000 B on the wire

PER_PACKET = ("nscc", "eqds")  # controls of transports that spray


def policies(control: str, balancer: str = "", *, params: dict | None = None, balancing: dict | None = None, **others):
    """Policies with a congestion control and a load balancer of default parameters, but for `params` and `balancing`.

    The load balancer is ecmp, or spray for the controls of transports that spray.
    """
    balancer = balancer or ("spray" if control in PER_PACKET else "ecmp")
    return Policies(
        congestion_control={"kind": control, **(params or {})},
        load_balancing={"kind": balancer, **(balancing or {})},
        **others,
    )


def star(hosts: int, rate: float = B, latency: float = US) -> Topology:
    """Bare GPUs on one switch; rate [bytes/s] and latency [s] of every link."""
    return SingleSwitch(nodes=hosts, **_links(rate, latency)).build()


def fat_tree(k: int, rate: float = B, latency: float = US) -> Topology:
    """A k-ary fat tree of bare GPUs."""
    return FatTree(k=k, **_links(rate, latency)).build()


def _links(rate: float, latency: float) -> dict[str, str]:
    return {"link_rate": f"{rate:.17g}B/s", "link_latency": f"{latency:.17g}s", "link_kind": "ethernet"}


def line(hops: int = 6) -> Topology:
    """Two GPUs with hops - 1 switches between them."""
    topology = Topology("line")
    devices = [topology.add_device("a", "gpu")]
    devices += [topology.add_device(f"switch{i}", "switch") for i in range(hops - 1)]
    devices.append(topology.add_device("b", "gpu"))
    for a, b in pairwise(devices):
        topology.connect(a, b, B, US, "ethernet")
    return topology


def link_to(topology: Topology, device: int) -> int:
    """The link that ends at a device, the first one."""
    return next(i for i, link in enumerate(topology.links) if link.destination == device)


def flows(source, destination, size, **columns) -> FlowGraph:
    """Flows between ranks that start together, each on a connection of its own."""
    count = len(source)
    ranks = int(max(*source, *destination)) + 1
    return flow_graph(
        ranks, source, destination, range(count), size, channel=np.arange(count), **columns
    )  # fmt: skip


class Started:
    """A packet-level model in which one graph has been started at time 0; rank r is GPU r of the topology."""

    def __init__(self, topology: Topology, graph: FlowGraph, chosen: Policies, seed: int = 1, **options):
        """options: further ones of PacketModel."""
        self.topology, self.graph = topology, graph
        self.model = PacketModel(Scenario(topology, seed, chosen, record=True, **options))
        self.model.start(graph, np.array(topology.gpus[: graph.ranks]), 0, 0.0)


def incast(topology: Topology, senders, size: float, chosen: Policies, seed: int = 1) -> tuple[Started, int]:
    """GPUs `senders` send to GPU 0; the model, and the link that ends there."""
    senders = list(senders)
    started = Started(topology, flows(senders, [0] * len(senders), size), chosen, seed)
    return started, link_to(topology, topology.gpus[0])


def permutation(n: int, seed: int) -> np.ndarray:
    """Where every rank sends, in one circle, so nobody to itself."""
    order = np.random.default_rng(seed).permutation(n)
    target = np.empty(n, int)
    target[order] = np.roll(order, 1)
    return target
