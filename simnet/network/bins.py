"""What a link has carried per interval of time: bins that double in width when a run outgrows them."""

import numpy as np

from simnet.jit import kernel

FIRST_WIDTH = 1e-9  # [s]
LEAST = 2  # bins, of which one half can merge into the other


@kernel
def spread(row, load, start, end, width):
    """Add `load` [bytes/s] over [start, end] to the bins of one link."""
    first = min(np.int64(start / width), len(row) - 1)
    last = min(np.int64(end / width), len(row) - 1)
    if first == last:
        row[first] += load * (end - start)
        return
    row[first] += load * ((first + 1) * width - start)
    for b in range(first + 1, last):
        row[b] += load * width
    row[last] += load * (end - last * width)


@kernel
def widened(bins, width, until):
    """Merge pairs of bins until they reach `until` [s]; returns the new width [s]."""
    columns = bins.shape[1]
    while width * columns < until:
        width *= 2.0
        for link in range(bins.shape[0]):
            for b in range(columns // 2):
                bins[link, b] = bins[link, 2 * b] + bins[link, 2 * b + 1]
            for b in range(columns // 2, columns):
                bins[link, b] = 0.0
    return width
