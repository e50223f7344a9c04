"""Entropy bitmap (Ultra Ethernet): the sender walks through its paths and skips those that have lately been bad."""

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_below
from simnet.network.packet_level.load_balancing.feedback import ANSWERED, EXPIRED, TRIMMED
from simnet.params import Params


class EntropyBitmap(Params):
    """Sprays over hashed paths and skips those with a penalty, which marks, trims and timeouts raise (UEC)."""

    paths: int = Field(128, ge=1, le=65536, description="paths of a connection (entropy values) [UET: 128 tried]")
    mark: int = Field(1, ge=0, le=255, description="penalty of an ECN mark, in packets that avoid the path [UET]")
    trim: int = Field(4, ge=0, le=255, description="penalty of a trimmed packet [UET]")
    timeout: int = Field(15, ge=0, le=255, description="penalty of a path with unanswered packets at a timeout [UET]")
    most: int = Field(15, ge=1, le=255, description="penalties do not exceed this [UET]")


PATHS, MARK, TRIM, TIMEOUT, MOST = range(5)  # slots of params, in the order of the fields
INDEX, XOR = 1, 2  # slots of k.choice


@kernel
def _next(c, k, world):
    """The next path of the walk, in an order that is drawn anew for every round."""
    if k.choice[INDEX] == 0.0:
        k.choice[XOR] = draw_below(c, k, k.paths, world)
    path = (np.int64(k.choice[INDEX]) ^ np.int64(k.choice[XOR])) % np.int64(k.paths)
    k.choice[INDEX] = (k.choice[INDEX] + 1.0) % k.paths
    return path


@kernel
def choose(c, k, params, paths, world):
    """The next path without penalty; one that is skipped loses a unit of its penalty, the first one of every packet."""
    path = _next(c, k, world)
    skipped = 0
    while paths[k.first_path + path].penalty > 0 and skipped <= k.paths:
        if skipped == 0:
            paths[k.first_path + path].penalty -= 1
        skipped += 1
        path = _next(c, k, world)
    paths[k.first_path + path].waiting += 1
    return path


@kernel
def _punish(row, penalty, most):
    row.penalty = np.int64(min(row.penalty + penalty, most))


@kernel
def on_feedback(k, params, paths, event, path, marked):
    """Raise the penalty of a path that marked or trimmed; at a timeout, of all that owe an answer."""
    if event == EXPIRED:
        for i in range(k.first_path, k.first_path + k.paths):
            if paths[i].waiting > 0:
                _punish(paths[i], params[TIMEOUT], params[MOST])
                paths[i].waiting = 0
        return
    row = paths[k.first_path + path]
    row.waiting = max(row.waiting - 1, 0)
    if event == TRIMMED:
        _punish(row, params[TRIM], params[MOST])
    elif event == ANSWERED and marked == 1:
        _punish(row, params[MARK], params[MOST])
