"""Record arrays: one row per entity, fields read as attributes, compiled and in plain Python."""

import numpy as np

_CACHE_LINE = 64  # [bytes]


def table(rows: int, dtype: np.dtype) -> np.recarray:
    """A zeroed record array that begins at a cache line."""
    memory = np.zeros(rows * dtype.itemsize + _CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % _CACHE_LINE
    return memory[begin : begin + rows * dtype.itemsize].view(dtype).view(np.recarray)


def grown(array: np.recarray, rows: int) -> np.recarray:
    """A copy with at least `rows` rows, at least doubled."""
    larger = table(max(rows, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
