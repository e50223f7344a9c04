"""Which path a packet takes: host-side schemes choose among a connection's paths, packet by packet.

A connection has `paths` paths, each drawn by a hash (an entropy); scheme and parameters are numbers, so that one
compiled function serves all.
"""

from simnet.jit import kernel
from simnet.network.load_balancing import Ecmp, Spray
from simnet.params import Params

LOAD_BALANCERS: dict[str, type[Params]] = {"ecmp": Ecmp, "spray": Spray}
ECMP, SPRAY = range(2)  # in the order of the table


def name_of(balancer: Params) -> str:
    """Row of a load balancer in the table."""
    return next(name for name, row in LOAD_BALANCERS.items() if isinstance(balancer, row))


def code_of(balancer: Params) -> int:
    """Number of a load balancer in the kernels."""
    return list(LOAD_BALANCERS).index(name_of(balancer))


@kernel
def choose(kind, k, params, sequence, now, world):
    """Number of the path for a packet of connection `k` (a record)."""
    if kind == SPRAY:
        return sequence % k.paths
    return 0
