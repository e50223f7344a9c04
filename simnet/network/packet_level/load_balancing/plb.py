"""PLB (Qureshi et al. 2022): a connection that sees marks for several rounds moves to another path."""

from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.load_balancing.draws import draw, draw_below
from simnet.network.packet_level.load_balancing.feedback import EXPIRED
from simnet.params import Params
from simnet.units import TIME, Time


class Plb(Params):
    """A connection moves to another random path after several congested round trips, when idle if it can (PLB)."""

    paths: int = Field(128, ge=2, le=65536, description="paths that it may move to (flow labels; 2^20 in IPv6)")
    threshold: float = Field(
        0.5, gt=0, le=1, description="marked part of a congested round, K / 256 with K = 128 [LNX]"
    )
    idle_rounds: int = Field(3, ge=1, description="congested rounds in a row after which it moves when idle, M [LNX]")
    rounds: int = Field(12, ge=1, description="congested rounds in a row after which it moves at once, N [LNX]")
    suspension: Time = Field(
        TIME.parse("60s"), description="after a timeout it moves, and then not again for once to twice so long [LNX]"
    )


PATHS, THRESHOLD, IDLE_ROUNDS, ROUNDS, SUSPENSION = range(5)  # slots of params, in the order of the fields
PATH, ANSWERS, MARKS, ROUND_END, CONGESTED, SUSPENDED = range(1, 7)  # slots of k.choice


@kernel
def _move(c, k, world):
    """Draw a path other than the present one."""
    step = 1 + draw_below(c, k, k.paths - 1, world)
    k.choice[PATH] = (k.choice[PATH] + step) % k.paths
    k.choice[CONGESTED] = 0.0


@kernel
def choose(c, k, params, world):
    """The present path; another one first, if rounds were congested and nothing is in flight."""
    if k.choice[CONGESTED] >= params[IDLE_ROUNDS] and k.inflight <= 0.0:
        _move(c, k, world)
    return int(k.choice[PATH])


@kernel
def on_feedback(c, k, params, event, marked, sequence, now, world):
    """Count marks; once per window judge the round, and move if too many in a row were congested."""
    if event == EXPIRED:
        _move(c, k, world)
        k.choice[SUSPENDED] = now + params[SUSPENSION] * (1.0 + draw(c, k, world))
        return
    k.choice[ANSWERS] += 1.0
    k.choice[MARKS] += marked
    if sequence < k.choice[ROUND_END]:
        return
    congested = k.choice[MARKS] >= params[THRESHOLD] * k.choice[ANSWERS]
    k.choice[ANSWERS] = 0.0
    k.choice[MARKS] = 0.0
    k.choice[ROUND_END] = k.next_sequence
    if now < k.choice[SUSPENDED]:
        return
    k.choice[CONGESTED] = k.choice[CONGESTED] + 1.0 if congested else 0.0
    if k.choice[CONGESTED] >= params[ROUNDS]:
        _move(c, k, world)
