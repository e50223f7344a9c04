"""Record arrays: one row per entity, fields read as attributes, compiled and in plain Python."""

import numpy as np


def table(rows: int, dtype: np.dtype) -> np.recarray:
    """A zeroed record array."""
    return np.zeros(rows, dtype).view(np.recarray)


def grown(array: np.recarray, rows: int) -> np.recarray:
    """A copy with at least `rows` rows, at least doubled."""
    larger = table(max(rows, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
