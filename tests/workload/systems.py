"""Small clusters for the tests of this folder, and the group of all their GPUs."""

from simnet.topology.routing import Router
from simnet.topology.topology import Topology
from simnet.workload.collectives import Group

FABRIC, NVLINK, LATENCY = 50e9, 400e9, 1e-6  # [bytes/s], [s]


def star(hosts: int, rate: float = FABRIC) -> Topology:
    """GPUs on one switch, each with a cable of its own."""
    topology = Topology("star")
    switch = topology.add_device("switch", "switch")
    for i in range(hosts):
        gpu = topology.add_device(f"gpu{i}", "gpu")
        topology.connect(gpu, switch, rate, LATENCY, "ethernet")
    return topology


def servers(*sizes: int, nics: int | None = None) -> Topology:
    """Servers of `sizes` GPUs behind an NVSwitch each, one NIC per GPU (or `nics` per server) on a switch per rail."""
    topology = Topology("servers")
    rails = [topology.add_device(f"rail{i}", "switch") for i in range(nics or max(sizes))]
    spine = topology.add_device("spine", "switch")
    for rail in rails:
        topology.connect(rail, spine, 100 * FABRIC, LATENCY, "ib")
    for s, size in enumerate(sizes):
        server = topology.add_server(f"server{s}")
        nvswitch = topology.add_device(f"{server}/nvswitch", "nvswitch", server)
        count = nics or size
        bridges = [topology.add_device(f"{server}/pcie{i}", "pcie_switch", server) for i in range(count)]
        for i, bridge in enumerate(bridges):
            nic = topology.add_device(f"{server}/nic{i}", "nic", server)
            topology.connect(nic, bridge, FABRIC, 0.0, "pcie")
            topology.connect(nic, rails[i], FABRIC, LATENCY, "ib")
        for i in range(size):
            gpu = topology.add_device(f"{server}/gpu{i}", "gpu", server)
            topology.connect(gpu, nvswitch, NVLINK, LATENCY, "nvlink")
            topology.connect(gpu, bridges[i * count // size], FABRIC, 0.0, "pcie")
    return topology


def mesh(nvlinks: list[list[int]], rate: float = 25e9) -> Topology:
    """One server of GPUs with nvlinks[i][j] NVLinks between two of them, and PCIe for what they do not reach."""
    topology = Topology("mesh")
    server = topology.add_server("server")
    root = topology.add_device("root", "pcie_switch", server)
    gpus = [topology.add_device(f"gpu{i}", "gpu", server) for i in range(len(nvlinks))]
    for i, gpu in enumerate(gpus):
        topology.connect(gpu, root, 12e9, LATENCY, "pcie")
        for j in range(i):
            if nvlinks[i][j]:
                topology.connect(gpu, gpus[j], nvlinks[i][j] * rate, LATENCY, "nvlink")
    return topology


# NVLinks of a DGX-1 with eight V100, as its NCCL topology dump lists them
DGX1 = [
    [0, 1, 2, 1, 0, 0, 0, 2],
    [1, 0, 1, 2, 0, 0, 2, 0],
    [2, 1, 0, 2, 0, 1, 0, 0],
    [1, 2, 2, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 2, 2, 1],
    [0, 0, 1, 0, 2, 0, 1, 2],
    [0, 2, 0, 0, 2, 1, 0, 1],
    [2, 0, 0, 0, 1, 2, 1, 0],
]


def group(topology: Topology, members: list[int] | None = None) -> Group:
    """The group of all GPUs, or of those numbered `members`."""
    gpus = topology.gpus if members is None else [topology.gpus[m] for m in members]
    return Group(tuple(gpus), topology, Router(topology))
