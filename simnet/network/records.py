"""Record arrays: one row per entity, fields read as attributes, compiled and in plain Python."""

import numpy as np

_CACHE_LINE = 64  # [bytes]


def whole_lines(fields: list[tuple]) -> np.dtype:
    """A record of such fields that fills whole cache lines, so that rows of a table do not share any."""
    record = np.dtype(fields, align=True)
    places = {"names": list(record.names), "formats": [], "offsets": []}
    for name in record.names:
        kind, offset = record.fields[name][:2]
        places["formats"].append(kind)
        places["offsets"].append(offset)
    size = -(-record.itemsize // _CACHE_LINE) * _CACHE_LINE
    return np.dtype(places | {"itemsize": size}, align=True)


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
