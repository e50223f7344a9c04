"""Slurm's topology.conf or topology.yaml as a fabric: the tree of its switches, or its blocks.

    SwitchName=spine Switches=leaf[0-1]         BlockName=b0 Nodes=n[01-18]
    SwitchName=leaf0 Nodes=n[00-15]             BlockName=b1 Nodes=n[19-36]
    SwitchName=leaf1 Nodes=n[16-31]             BlockSizes=18

The file says what hangs below what, not how fast it is joined. A switch is as wide upwards as all that hangs below it.
"""

from pathlib import Path

from simnet.errors import InputError
from simnet.hardware import NICS
from simnet.hardware.network import FABRIC_LINK_LATENCY
from simnet.topology.importers import slurm_files
from simnet.topology.importers.hosts import HostNode
from simnet.topology.importers.slurm_files import Switch
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME

_CORE = "core"


def read(
    path: Path,
    node: Path | None = None,
    gpu: str | None = None,
    link_rate: float | None = None,
    link_latency: float | None = None,
) -> Topology:
    """Slurm's topology.conf or topology.yaml: a tree of switches, or blocks.

    node: topology file of the server that every node is; gpu: row of GPUS; link_rate [bytes/s] of a node's link;
    link_latency [s]. Raises InputError with 'file:line: what is wrong'.
    """
    layout = slurm_files.read(Path(path))
    switches, notes = layout.switches, list(layout.notes)
    roots = slurm_files.roots(switches)
    topology = Topology(Path(path).stem)
    fabric = _Fabric(topology, node, gpu, link_rate, link_latency)
    for switch in switches.values():
        for name in switch.nodes:
            fabric.add_host(name)
    tops = [fabric.add_switch(switches, root) for root in roots]
    if layout.blocks and len(roots) > 1:
        core = topology.add_device(_CORE, "switch")
        for top, rate in tops:
            fabric.connect(top, core, rate)
        notes.append(f"How blocks are joined is not in the file: taken as one switch '{_CORE}' above all of them.")
    elif len(roots) > 1:
        notes.append(
            f"{len(roots)} switches have none above them: what hangs below one cannot reach what is below others."
        )
    topology.assumptions += fabric.assumptions + notes
    return topology


class _Fabric:
    """Adds hosts, switches and links; `assumptions` says what about them was not in the file."""

    def __init__(
        self, topology: Topology, node: Path | None, gpu: str | None, rate: float | None, latency: float | None
    ):
        self.topology, self.gpu = topology, gpu or ""
        self.node = None if node is None else HostNode(node)
        if self.node is not None and gpu is not None:
            raise InputError("gpu: the model of the GPUs is that of the node")
        rates = [NICS["ndr"].rate] if self.node is None else self.node.rates
        self.rates = rates if rate is None else [rate] * len(rates)
        self.latency = FABRIC_LINK_LATENCY if latency is None else latency
        self.ports: dict[str, list[int]] = {}
        self.assumptions = []
        if not all(self.rates):
            raise InputError(f"link_rate: {self.node.name} does not say how fast its NICs are; give a link_rate")
        if self.node is None:
            self.assumptions.append(
                "What a node is, is not in the file: each is taken as one GPU straight on its switch."
            )
        if self.node is None and gpu is None:
            self.assumptions.append(
                "The model of the GPUs is not in the file: without a `gpu` beside it, they cannot compute."
            )
        if rate is None:
            each = "the rate of its NICs" if self.node else RATE.format(self.rates[0])
            self.assumptions.append(f"Rates are not in the file: the link of a node is taken as {each}.")
        if latency is None:
            self.assumptions.append(f"The latency of links is not in the file: taken as {TIME.format(self.latency)}.")
        self.assumptions.append(
            "A switch is taken to be as fast upwards as all that hangs below it, by links of InfiniBand."
        )

    def add_host(self, name: str) -> None:
        """Add what stands at a node."""
        if self.node is None:
            self.ports[name] = [self.topology.add_device(name, "gpu", model=self.gpu)]
        else:
            self.ports[name] = self.node.place(self.topology, name)

    def add_switch(self, switches: dict[str, Switch], root: str) -> tuple[int, float]:
        """Add a switch and all below it; returns its id and the rate [bytes/s] of what hangs below."""
        order = [root]
        for name in order:  # grows while it is read
            order += switches[name].switches
        ids = {name: self.topology.add_device(name, "switch") for name in order}
        below: dict[str, float] = {}
        for name in reversed(order):  # children before their parents
            for child in switches[name].switches:
                self.connect(ids[child], ids[name], below[child])
            for host in switches[name].nodes:
                for port, rate in zip(self.ports[host], self.rates):
                    self.connect(port, ids[name], rate)
            below[name] = sum(below[c] for c in switches[name].switches) + len(switches[name].nodes) * sum(self.rates)
        return ids[root], below[root]

    def connect(self, a: int, b: int, rate: float) -> None:
        """Join two devices by a cable of `rate` [bytes/s]."""
        self.topology.connect(a, b, rate, self.latency, "ib")
