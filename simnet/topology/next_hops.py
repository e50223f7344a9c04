"""Tables of the equal-cost next hops at switches, for schemes that choose on the way."""

import numpy as np

from simnet.jit import njit
from simnet.topology.routing_kernels import grown, hops_to, links_towards


@njit
def _same_set(sets, place, links, count):
    if sets[place] != count:
        return False
    same = True
    for i in range(count):
        same &= sets[place + 2 + i] == links[i]
    return same


@njit
def next_hops(targets, leave_start, leave_link, enter_start, enter_link, source, destination, forwards, usable):
    """Equal-cost next hops at every forwarding device towards every target (see `routing.Router.next_hops`).

    Sets of one device form a list, so that targets with the same next hops share one.
    """
    place = np.zeros((len(forwards), len(targets)), np.int32)
    sets = np.zeros(64 + 4 * len(leave_link), np.int32)
    following = np.zeros(len(sets), np.int32)  # of a set: the next set of its device
    newest = np.zeros(len(forwards), np.int32)
    links = np.empty(len(leave_link) + 1, np.int32)
    used = 1
    for t in range(len(targets)):
        target = targets[t]
        hops = hops_to(target, enter_start, enter_link, source, forwards, usable)[0]
        for device in range(len(forwards)):
            if not forwards[device] or hops[device] <= 0:
                continue
            count = links_towards(
                target, device, hops, leave_start, leave_link, destination, forwards, usable, links, 0
            )  # fmt: skip
            known = newest[device]
            while known > 0 and not _same_set(sets, known, links, count):
                known = following[known]
            if known == 0:
                if used + count + 2 > len(sets):
                    sets = grown(sets, used + count + 2)
                    following = grown(following, len(sets))
                known = used
                sets[known] = count
                sets[known + 1] = 0
                for i in range(count):
                    sets[known + 2 + i] = links[i]
                following[known] = newest[device]
                newest[device] = known
                used += count + 2
            place[device, t] = known
    return place, sets[:used].copy()
