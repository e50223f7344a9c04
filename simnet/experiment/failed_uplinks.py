"""Links that a connection matrix of htsim takes away, found in a fat tree.

htsim numbers aggregation switches pod by pod, and means by link l of the switch at place p of its pod the one to core
p a + l, a being the aggregation switches of a pod; of several parallel links the first (`add_failed_link` of its
fat_tree_topology.cpp). The link is not there from the start, in neither direction.
"""

import re
from collections.abc import Sequence

from simnet.topology.topology import Topology
from simnet.workload.importers import FailedUplink

_AGGREGATION = re.compile(r"(.*/)?aggregation\d+")


def failed_links(failed: Sequence[FailedUplink], topology: Topology) -> list[int]:
    """Ids of the links in question, both ways. Raises InputError with file and line."""
    ids = {topology.devices[i].name: i for i in topology.find("switch")}
    switches = [i for name, i in ids.items() if _AGGREGATION.fullmatch(name)]
    between = {}  # first link from a device to another
    for number, link in enumerate(topology.links):
        between.setdefault((link.source, link.destination), number)
    pods = sum((ids.get("core0"), switch) in between for switch in switches)
    found = []
    for uplink in failed:
        if not pods:
            raise uplink.line.error(
                "links fail on fat trees of three tiers: `kind: fat_tree`, or a .topo file of htsim"
            )
        if uplink.switch >= len(switches):
            raise uplink.line.error(f"there is no switch {uplink.switch}; those are 0 to {len(switches) - 1}")
        a, per_pod = switches[uplink.switch], len(switches) // pods
        core = f"core{uplink.switch % per_pod * per_pod + uplink.link}"
        pairs = [(a, ids.get(core)), (ids.get(core), a)]
        if pairs[0] not in between:
            raise uplink.line.error(
                f"link {uplink.link} of this switch is the one to {core} in htsim, and there is none from "
                f"{topology.devices[a].name}"
            )
        found += [between[pair] for pair in pairs]
    return found
