"""Rings through the members of a group: over NVLink inside servers, rail by rail between them.

Between servers there is one ring per NIC, each entering at another GPU. A ring that leaves a server at GPU i enters
the next at GPU i and runs through it backwards, so that the hop stays on the rail of i, as NCCL has it. With an odd
number of servers the last hop changes rails, and where members differ from server to server more hops do.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from simnet.workload.collectives.server_rings import server_rings

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group


def rings(group: Group) -> list[list[int]]:
    """Orders of all members of a group; ring c runs on channel c and carries an equal part of the data."""
    servers = group.by_server
    inside = [server_rings(group, members) for members in servers]
    if len(servers) == 1:
        return inside[0]
    channels = group.rails()
    through = [_passages(group, choices, channels) for choices in inside]
    return [
        [m for server, passages in enumerate(through) for m in passages[channel][:: 1 if server % 2 == 0 else -1]]
        for channel in range(channels)
    ]


def heads(group: Group) -> list[list[int]]:
    """For each channel, the member of every server that stands for it between servers: where NICs have least to do."""
    busy: Counter = Counter()
    chosen = []
    for channel in range(group.rails()):
        row = []
        for members in group.by_server:
            head = min(members, key=lambda m, channel=channel: (busy["nic", _nic(group, m, channel)], busy[m]))
            busy.update([head, ("nic", _nic(group, head, channel))])
            row.append(head)
        chosen.append(row)
    return chosen


def nics_of(group: Group, members: list[int]) -> int:
    """Number of distinct NICs that are nearest to one of the members."""
    return len({nic for m in members for nic in group.router.nics(group.devices[m])})


def _passages(group: Group, cycles: list[list[int]], channels: int) -> list[list[int]]:
    """How each channel runs through a server: one of its cycles, cut open where GPUs and NICs have least to do so far.

    A ring comes in by the NIC of the first member and goes out by that of the last.
    """
    coming, going = Counter(), Counter()
    passages = []
    for channel in range(channels):
        cycle = cycles[channel % len(cycles)]
        nic = {m: _nic(group, m, channel) for m in cycle}

        def busy(start: int, cycle=cycle, nic=nic) -> tuple[int, int]:
            first, last = cycle[start], cycle[start - 1]
            loads = (coming[first], coming["nic", nic[first]], going[last], going["nic", nic[last]])
            return max(loads), sum(loads)

        start = min(range(len(cycle)), key=busy)
        first, last = cycle[start], cycle[start - 1]
        coming.update([first, ("nic", nic[first])])
        going.update([last, ("nic", nic[last])])
        passages.append(cycle[start:] + cycle[:start])
    return passages


def _nic(group: Group, member: int, channel: int) -> int:
    """NIC that a member uses on a channel, as the router chooses it; -1: none."""
    nics = group.router.nics(group.devices[member])
    return nics[channel % len(nics)] if nics else -1
