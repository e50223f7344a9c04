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
    before, after = plan.pipeline.waits()
    order = np.argsort(after, kind="stable")
    latency, stages = delay + lead + wire, np.ones(len(delay), np.int64)
    own = latency.copy()
    for b, a in zip(*_in_order(before[order], after[order], len(delay))):
        if latency[b] + own[a] > latency[a]:
            latency[a] = latency[b] + own[a]
        stages[a] = max(stages[a], stages[b] + 1)
    return float(latency.max(initial=0.0)), int(stages.max(initial=1))


def _in_order(before: np.ndarray, after: np.ndarray, count: int) -> tuple[list[int], list[int]]:
    """The waits, sorted so that all into an edge come before any out of it."""
    level = np.zeros(count, np.int64)
    while True:
        raised = level.copy()
        np.maximum.at(raised, after, level[before] + 1)
        if np.array_equal(raised, level):
            break
        level = raised
    order = np.argsort(level[after], kind="stable")
    return before[order].tolist(), after[order].tolist()


def _in_turns(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    ranks = _ring_length(plan)
    each = (delay + lead + wire).reshape(-1, ranks).max(axis=1)
    return float(each.sum()), 1


def _at_once(plan: Plan, delay: np.ndarray, lead: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    return float((delay + lead + wire).max(initial=0.0)), 1


_LATENCIES = {ROUNDS: _around, STAGES: _through_stages, TURNS: _in_turns, PAIRS: _at_once}
