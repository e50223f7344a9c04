"""Oblivious spraying by the sender: the hashed paths of a connection in turn, or one at random for every packet."""

import numpy as np

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_below

PATHS, MODE = range(2)  # slots of params, in the order of the fields of Spray
ROUND_ROBIN, RANDOM = range(2)
INDEX, XOR = 1, 2  # slots of k.choice


@kernel
def choose(c, k, params, world):
    """Path of the next packet: (counter XOR r) mod paths with a new r for every round, or a random one [UET]."""
    if params[MODE] == RANDOM:
        return draw_below(c, k, k.paths, world)
    if k.choice[INDEX] == 0.0:
        k.choice[XOR] = draw_below(c, k, k.paths, world)
    path = (np.int64(k.choice[INDEX]) ^ np.int64(k.choice[XOR])) % np.int64(k.paths)
    k.choice[INDEX] = (k.choice[INDEX] + 1.0) % k.paths
    return path
