"""REPS (Bonato et al. 2024): paths whose packets came through unmarked are used again, oldest first."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw_below
from simnet.network.packet_level.load_balancing.feedback import ANSWERED, EXPIRED
from simnet.params import Params
from simnet.units import TIME, Time


class Reps(Params):
    """Recycles paths whose acknowledgements came back without a mark, and explores at random otherwise (REPS)."""

    ack_every: ClassVar[int] = 1  # it learns from acknowledgements

    paths: int = Field(128, ge=1, le=65536, description="paths of a connection (entropy values) [UET: 128 tried]")
    freeze: Time = Field(TIME.parse("10ms"), description="after a timeout only known paths are used for so long [UET]")
    exploration: int = Field(16, ge=0, description="packets on random paths after that [UET]")


PATHS, FREEZE, EXPLORATION = range(3)  # slots of params, in the order of the fields
HEAD, FRESH, FILLED, THAW, EXPLORE, TURN = range(1, 7)  # slots of k.choice
RING = 7  # first of the slots with the paths that came back
RING_SIZE = 8  # [UET]


@kernel
def choose(c, k, params, now, world):
    """The oldest path that came back and has not been used since; a random one where there is none."""
    if k.choice[THAW] > 0.0 and now > k.choice[THAW]:
        k.choice[THAW] = 0.0
        k.choice[FRESH] = 0.0
        k.choice[FILLED] = 0.0
        k.choice[HEAD] = 0.0
        k.choice[EXPLORE] = params[EXPLORATION]
    if k.choice[THAW] > 0.0 and k.choice[FILLED] > 0.0:  # frozen: what is known, in turn
        turn = np.int64(k.choice[TURN])
        k.choice[TURN] += 1.0
        return np.int64(k.choice[RING + turn % np.int64(k.choice[FILLED])])
    if k.choice[EXPLORE] > 0.0:
        k.choice[EXPLORE] -= 1.0
        return draw_below(c, k, k.paths, world)
    if k.choice[FRESH] > 0.0:
        oldest = (np.int64(k.choice[HEAD]) - np.int64(k.choice[FRESH]) + RING_SIZE) % RING_SIZE
        k.choice[FRESH] -= 1.0
        return np.int64(k.choice[RING + oldest])
    return draw_below(c, k, k.paths, world)


@kernel
def on_feedback(k, params, event, path, marked, now):
    """Keep the path of an unmarked acknowledgement; a timeout freezes the ring."""
    if event == EXPIRED:
        if k.choice[THAW] == 0.0 and k.choice[EXPLORE] == 0.0:
            k.choice[THAW] = now + params[FREEZE]
        return
    if event != ANSWERED or marked == 1 or k.choice[THAW] > 0.0:
        return
    head = np.int64(k.choice[HEAD])
    k.choice[RING + head] = path
    k.choice[HEAD] = (head + 1) % RING_SIZE
    k.choice[FRESH] = min(k.choice[FRESH] + 1.0, RING_SIZE)
    k.choice[FILLED] = min(k.choice[FILLED] + 1.0, RING_SIZE)
