"""The one hash of simnet: seeded, the same in compiled and plain Python, in unsigned 64-bit arithmetic."""

import numpy as np

from simnet.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


@kernel
def mix(value):
    """Scramble one uint64 (splitmix64, Steele et al. 2014)."""
    z = np.uint64(value) + _GOLDEN
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


def keys(seed: int, *columns) -> np.ndarray:
    """Hash rows of integer columns (scalars are spread) with a seed [uint64 per row]."""
    rows = np.broadcast_arrays(*(np.asarray(c, np.int64) for c in columns))
    key = np.full(rows[0].shape, seed, np.uint64)
    with np.errstate(over="ignore"):
        for column in rows:
            z = (key ^ column.astype(np.uint64)) + _GOLDEN
            z = (z ^ (z >> _S30)) * _MIX_1
            z = (z ^ (z >> _S27)) * _MIX_2
            key = z ^ (z >> _S31)
    return key
