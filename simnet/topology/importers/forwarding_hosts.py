"""Hosts that forward for one another, as in a torus: simnet's GPUs do not, so each sits on a router of its own."""

from collections.abc import Iterable

from simnet.topology.topology import Topology

SENTENCE = (
    "Hosts forward for one another: each is a GPU on a router of its own, where its cables end; the link between the "
    "two is as fast as all these cables together and takes no time."
)


def add_hosts(topology: Topology, names: Iterable[str], model: str = "") -> list[int]:
    """Add a GPU and a router 'name/router' for every name, all GPUs first; returns the ids of the routers."""
    names = list(names)
    for name in names:
        topology.add_device(name, "gpu", model=model)
    return [topology.add_device(f"{name}/router", "switch") for name in names]


def plug_in(topology: Topology, routers: list[int]) -> None:
    """Join every GPU of `add_hosts` and its router, once all cables are there; a router without cables stays alone."""
    rates = dict.fromkeys(routers, 0.0)
    for link in topology.links:
        for end in (link.source, link.destination):
            if end in rates:
                rates[end] += link.rate / 2
    for gpu, router in zip(topology.gpus, routers):
        if rates[router]:
            topology.connect(gpu, router, rates[router], 0.0, "ethernet")
    topology.assumptions.append(SENTENCE)
