"""How long data takes on its way without its bytes: the sum of latencies of the slowest way through a plan.

All functions take the plan and, per connection [s], `delay` before every message, `lead` before it beside others, and
`wire`, the latency of the path; they return the latency [s] and the stages on the way.
"""

from __future__ import annotations

import numpy as np

from simnet.workload.collectives.library.plans import PAIRS, ROUNDS, STAGES, TURNS, Plan


def latency(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    """Latency [s] of the slowest way through a plan, and the stages on it."""
    return _LATENCIES[plan.form](plan, delay, lead, wire)


def _around(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    """The slowest sequence of steps: a rank sends a block when it has got it, and when it has sent the one before."""
    delay, lead, wire = (column.reshape(-1, _ring_length(plan)) for column in (delay, lead, wire))
    done = lead + delay
    for _ in range(plan.steps - 1):
        done = np.maximum(done, np.roll(done + wire, 1, axis=1) + lead) + delay
    return float((done + wire).max(initial=0.0)), 1


def _ring_length(plan: Plan) -> int:
    return len(np.unique(plan.source))


def _through_stages(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    own = delay + lead + wire
    latency, stages = own.copy(), np.ones(len(own), np.int64)
    for before, after in plan.levels:
        np.maximum.at(latency, after, latency[before] + own[after])
        np.maximum.at(stages, after, stages[before] + 1)
    return float(latency.max(initial=0.0)), int(stages.max(initial=1))


def _in_turns(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    ranks = _ring_length(plan)
    each = (delay + lead + wire).reshape(-1, ranks).max(axis=1)
    return float(each.sum()), 1


def _at_once(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    return float((delay + lead + wire).max(initial=0.0)), 1


_LATENCIES = {ROUNDS: _around, STAGES: _through_stages, TURNS: _in_turns, PAIRS: _at_once}
