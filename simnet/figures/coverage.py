"""How much of each time bin intervals fill: what pictures of many tasks are painted from."""

import numpy as np


def coverage(group: np.ndarray, start: np.ndarray, end: np.ndarray, groups: int, bins: int, until: float) -> np.ndarray:
    """Filled share of every bin by the intervals [start, end] of every group, float64[groups, bins].

    The bins divide [0, until] [s] evenly. Intervals of one group that overlap count each.
    """
    width = until / bins
    filled = np.zeros((groups, bins + 2))
    for edge, sign in ((start, 1.0), (end, -1.0)):
        position = np.clip(edge / width, 0, bins)
        column = np.floor(position).astype(np.int64)
        inside = position - column
        # from its edge on, an interval fills the rest of one bin and all bins after it
        place = group.astype(np.int64) * (bins + 2) + column
        filled += sign * np.bincount(place, 1.0 - inside, filled.size).reshape(filled.shape)
        filled += sign * np.bincount(place + 1, inside, filled.size).reshape(filled.shape)
    return np.clip(np.cumsum(filled, axis=1)[:, :bins], 0.0, None)
