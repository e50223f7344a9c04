"""Equal-cost shortest paths through the fabric, for many connections at once.

`fabric` is a record of arrays (see `routing.Router`): fabric links leaving and entering every device in CSR form.
"""

import numpy as np

from simnet.hashing import mix
from simnet.jit import kernel, njit


@njit
def hops_to(target, enter_start, enter_link, source, forwards, usable):
    """Hops from every device to `target` over usable fabric links, through forwarding devices only; -1: no path.

    Also the number of equal-cost next hops of every device, and one of them.
    """
    hops = np.full(len(forwards), -1, np.int32)
    choices = np.zeros(len(forwards), np.int32)
    one = np.full(len(forwards), -1, np.int32)
    queue = np.empty(len(forwards), np.int32)
    hops[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        device = queue[head]
        head += 1
        for i in range(enter_start[device], enter_start[device + 1]):
            link = enter_link[i]
            neighbour = source[link]
            if usable[link] and hops[neighbour] < 0:
                hops[neighbour] = hops[device] + 1
                if forwards[neighbour]:
                    queue[tail] = neighbour
                    tail += 1
            if usable[link] and hops[neighbour] == hops[device] + 1:
                choices[neighbour] += 1
                one[neighbour] = link
    return hops, choices, one


@njit
def is_next_hop(link, device, target, hops, destination, forwards, usable):
    """True if `link`, which leaves `device`, lies on a shortest path to `target`."""
    neighbour = destination[link]
    return usable[link] and hops[neighbour] == hops[device] - 1 and (neighbour == target or forwards[neighbour])


@kernel(inline=True)
def links_towards(
    target, device, hops, leave_start, leave_link, destination, forwards, usable, links, first
):  # fmt: skip
    """Write the equal-cost next hops of a device to `target` into `links`, from `first` on. Returns their number."""
    choices = 0
    for i in range(leave_start[device], leave_start[device + 1]):
        if is_next_hop(leave_link[i], device, target, hops, destination, forwards, usable):
            links[first + choices] = leave_link[i]
            choices += 1
    return choices


INDEPENDENT, SHARED, STATIC = range(3)  # how a device chooses among equal-cost next hops


@njit
def chosen_path(
    origin, target, rule, first_key, key, digits, rest, hops, ways, one, leave_start, leave_link, destination, forwards,
    usable, path,
):  # fmt: skip
    """Write into `path` the links from origin to target, one equal-cost next hop per device. Returns their number.

    INDEPENDENT: by hash of key and device (at the origin of `first_key`); SHARED: by hash of the key alone. STATIC: by
    `digits` modulo the number of choices, then by the quotient, or by `rest` where that is not negative.
    """
    device, length = origin, 0
    while device != target:
        if ways[device] == 1:
            path[length] = one[device]
            device = destination[path[length]]
            length += 1
            continue
        choices = links_towards(
            target, device, hops, leave_start, leave_link, destination, forwards, usable, path, length
        )  # fmt: skip
        drawn = first_key if device == origin else key
        if rule == STATIC:
            pick = digits % choices
            digits, rest = rest if rest >= 0 else digits // choices, np.int64(-1)
        elif rule == SHARED:
            pick = np.int64(mix(drawn) % np.uint64(choices))
        else:
            pick = np.int64(mix(drawn ^ mix(np.uint64(device))) % np.uint64(choices))
        path[length] = path[length + pick]
        device = destination[path[length]]
        length += 1
    return length


@njit
def sprayed_paths(origin, target, hops, leave_start, leave_link, destination, forwards, usable, links, shares):
    """Write all links between origin and target and the share of the traffic that each carries.

    Every device splits evenly over its equal-cost next hops. Returns the number of links.
    """
    arriving = np.zeros(len(forwards), np.float64)
    layer = np.empty(len(forwards), np.int32)
    following = np.empty(len(forwards), np.int32)
    arriving[origin] = 1.0
    layer[0] = origin
    width, length = 1, 0
    while layer[0] != target:
        next_width = 0
        for j in range(width):
            device = layer[j]
            choices = links_towards(
                target, device, hops, leave_start, leave_link, destination, forwards, usable, links, length
            )  # fmt: skip
            for i in range(length, length + choices):
                neighbour = destination[links[i]]
                if arriving[neighbour] == 0.0:
                    following[next_width] = neighbour
                    next_width += 1
                shares[i] = arriving[device] / choices
                arriving[neighbour] += shares[i]
            length += choices
        layer, following = following, layer
        width = next_width
    return length


@njit
def grown(array, needed):
    """A copy with at least `needed` places, at least doubled."""
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@njit
def fabric_routes(
    origins,
    targets,
    rule,
    first_keys,
    keys,
    digits,
    rests,
    spray,
    leave_start,
    leave_link,
    enter_start,
    enter_link,
    source,
    destination,
    forwards,
    usable,
):
    """Routes of many connections, as (start, length, links, shares); length -1: unreachable.

    origins, targets: device ids; rule, keys [uint64], digits and rests choose among equal-cost hops unless `spray` (see
    `chosen_path`). Connections are walked target by target, so that one breadth-first search serves all of them.
    """
    order = np.argsort(targets, kind="mergesort")
    start = np.zeros(len(origins), np.int64)
    length = np.zeros(len(origins), np.int64)
    links = np.empty(8 * len(origins) + 8, np.int32)
    shares = np.empty(len(links), np.float64)
    path = np.empty(len(source) + 1, np.int32)
    path_shares = np.ones(len(source) + 1, np.float64)
    hops, ways, one = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)
    used, current = 0, -1
    for c in order:
        origin, target = origins[c], targets[c]
        if origin == target:
            continue
        if target != current:
            hops, ways, one = hops_to(target, enter_start, enter_link, source, forwards, usable)
            current = target
        if hops[origin] < 0:
            length[c] = -1
            continue
        if spray:
            n = sprayed_paths(
                origin, target, hops, leave_start, leave_link, destination, forwards, usable, path, path_shares
            )
        else:
            n = chosen_path(
                origin, target, rule, first_keys[c], keys[c], digits[c], rests[c], hops, ways, one, leave_start,
                leave_link, destination, forwards, usable, path,
            )  # fmt: skip
        if used + n > len(links):
            links, shares = grown(links, used + n), grown(shares, used + n)
        start[c] = used
        length[c] = n
        for i in range(n):
            links[used + i] = path[i]
            shares[used + i] = path_shares[i]
        used += n
    return start, length, links[:used], shares[:used]


@njit
def joined(up, down, leg_start, leg_links, start, length, links, shares):
    """Concatenate leg up[c], fabric route c and leg down[c] of every connection.

    Returns (start [rows + 1], links, shares) in CSR form; unreachable rows (length -1) are empty.
    """
    rows = len(up)
    out_start = np.zeros(rows + 1, np.int64)
    for c in range(rows):
        n = length[c]
        if n >= 0:
            n += leg_start[up[c] + 1] - leg_start[up[c]] + leg_start[down[c] + 1] - leg_start[down[c]]
        out_start[c + 1] = out_start[c] + max(n, 0)
    out_links = np.empty(out_start[rows], np.int32)
    out_shares = np.ones(out_start[rows], np.float64)
    for c in range(rows):
        if length[c] < 0:
            continue
        at = out_start[c]
        for i in range(leg_start[up[c]], leg_start[up[c] + 1]):
            out_links[at] = leg_links[i]
            at += 1
        for i in range(start[c], start[c] + length[c]):
            out_links[at] = links[i]
            out_shares[at] = shares[i]
            at += 1
        for i in range(leg_start[down[c]], leg_start[down[c] + 1]):
            out_links[at] = leg_links[i]
            at += 1
    return out_start, out_links, out_shares
