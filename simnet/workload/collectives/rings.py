"""Rings through the members of a group: over NVLink inside servers, rail by rail between them.

Between servers there is one ring per NIC, each entering at another GPU. A ring that leaves a server at GPU i enters
the next at GPU i and runs through it backwards, so that the hop stays on the rail of i, as NCCL has it. With an odd
number of servers the last hop changes rails, and where members differ from server to server more hops do.
"""

from __future__ import annotations

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
    channels = max(1, min(_nics(group, members) for members in servers))
    entries = [_entries(group, members, channels) for members in servers]
    orders = []
    for channel in range(channels):
        order = []
        for server, (choices, entry) in enumerate(zip(inside, entries)):
            cycle = choices[channel % len(choices)]
            start = cycle.index(entry[channel])
            through = cycle[start:] + cycle[:start]
            order += through if server % 2 == 0 else through[::-1]
        orders.append(order)
    return orders


def _nics(group: Group, members: list[int]) -> int:
    """Number of distinct NICs that are nearest to one of the members."""
    return len({nic for m in members for nic in group.router.nics(group.devices[m])})


def _entries(group: Group, members: list[int], channels: int) -> list[int]:
    """Member at which each channel enters a server: one whose NIC is not in use yet, taking turns."""
    nics = {m: group.router.nics(group.devices[m]) or [-1] for m in members}
    turns = dict.fromkeys(members, 0)
    taken: set[int] = set()
    entries = []
    for channel in range(channels):
        in_turn = sorted(members, key=lambda m: turns[m])
        nic = {m: nics[m][channel % len(nics[m])] for m in members}  # as the router chooses it
        entry = next((m for m in in_turn if nic[m] not in taken), in_turn[0])
        taken.add(nic[entry])
        turns[entry] += 1
        entries.append(entry)
    return entries
