"""The most that one copy from GPU to GPU reaches."""

import numpy as np

from simnet.topology.builders import BUILDERS
from simnet.topology.routing import Router
from simnet.workload.collectives import Group, Operation, lower


def group(kind, **parameters):
    topology = BUILDERS[kind](**parameters).build()
    gpus = tuple(i for i, device in enumerate(topology.devices) if device.kind == "gpu")
    return Group(gpus, topology, Router(topology))


def caps(kind, **parameters):
    members = group(kind, **parameters)
    size = members.members
    operation = Operation("all_to_all", 1e6, tuple(range(size)), "direct")
    flows = lower(operation, members)
    return {(a, b): cap for a, b, cap in zip(flows.source.tolist(), flows.destination.tolist(), flows.rate_cap)}


def test_every_copy_over_pcie_is_limited():
    limited = caps("pcie_server", gpus=4, copy_rate="4GB/s")
    assert len(limited) == 12
    assert set(limited.values()) == {4e9}
    assert set(caps("pcie_server", gpus=4).values()) == {np.inf}


def test_what_leaves_the_server_is_not():
    node = {"kind": "pcie_server", "gpus": 2, "copy_rate": "4GB/s"}
    limited = caps("single_switch", nodes=2, node=node)
    assert {pair for pair, cap in limited.items() if cap == 4e9} == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert all(cap == np.inf for (a, b), cap in limited.items() if a // 2 != b // 2)
