"""Which path a packet takes: host-side schemes choose among a connection's paths, packet by packet.

A connection has `paths` paths, each drawn by a hash (an entropy); scheme and parameters are numbers, so that one
compiled function serves all.
"""

from simnet.jit import kernel

FIXED, ROUND_ROBIN = range(2)


@kernel
def choose(kind, k, params, sequence, now, world):
    """Number of the path for a packet of connection `k` (a record)."""
    if kind == ROUND_ROBIN:
        return sequence % k.paths
    return 0
