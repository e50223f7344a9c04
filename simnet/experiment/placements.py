"""Orders in which free GPUs are given to the ranks of a job."""

from collections.abc import Callable
from itertools import chain, zip_longest

from simnet.topology.topology import Topology


def packed(topology: Topology, free: list[int]) -> list[int]:
    """Fill one server after the other."""
    return free


def round_robin(topology: Topology, free: list[int]) -> list[int]:
    """Deal the ranks over the servers, one each in turn."""
    servers: dict[str, list[int]] = {}
    for gpu in free:
        device = topology.devices[gpu]
        servers.setdefault(device.server or device.name, []).append(gpu)
    return [gpu for gpu in chain.from_iterable(zip_longest(*servers.values())) if gpu is not None]


PLACEMENTS: dict[str, Callable[[Topology, list[int]], list[int]]] = {"packed": packed, "round_robin": round_robin}
