"""How long a plan takes with a protocol on links that others leave alone, and what that means for its connections.

With D the time in which the busiest link carries its bytes at the rate that kernels reach, and h the latency of hops:

- rounds of a ring: launch + sum of h + D (1 + turn / steps). The sum is over the steps of the slowest block.
- stages of a pipeline in k pieces: launch + sum of h + D (1 + (stages - 1) / k)
- turns: launch + sum of h + D, one after the other.
- pairs at once: launch + h + (n - 1) t + D, where a rank spends t on each partner and copies its own part, too.

Every connection is capped so that it takes all of D for its bytes, as in the steady state of a pipeline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simnet.workload.collectives.library.machine import CLASSES, NET, NVLINK, Load
from simnet.workload.collectives.library.plans import PAIRS, ROUNDS, STAGES, TURNS, Plan
from simnet.workload.collectives.library.presets import Constants, Generation, Protocol, Version


@dataclass(frozen=True)
class Setting:
    """What a plan is timed with: constants, the generation of the GPUs, protocol, version; `reduces`: NVSwitches do."""

    constants: Constants
    generation: Generation
    protocol: Protocol
    version: Version
    reduces: bool = False
    channels: float | None = None

    def reached(self, kind: str) -> float:
        """Part of the nominal rate of links of a class that is reached."""
        if kind == NVLINK:
            best = self.generation.nvls if self.reduces else self.generation.nvlink * self.protocol.nvlink
        else:
            best = getattr(self.constants, kind) * getattr(self.protocol, kind)
        fewer = 1.0 if self.channels is None else min(1.0, self.channels / self.generation.channels)
        return best * fewer

    def launch(self) -> float:
        """Time before the first byte [s]."""
        reducing = self.constants.nvls_launch if self.reduces else 0.0
        return self.generation.launch + self.protocol.launch + self.version.launch + reducing

    def delays(self, load: Load) -> np.ndarray:
        """Time before every message of each connection, beside that of the wire [s]."""
        own = self.generation.step + self.protocol.step
        return np.where(load.classes == CLASSES.index(NET), own + self.protocol.hop, own)


@dataclass(frozen=True, eq=False)
class Timing:
    """time [s] of the whole. launch [s] before anything moves; delay [s] before every message, and cap [bytes/s], of
    each connection; pieces that a pipeline is cut into."""

    time: float
    launch: float
    delay: np.ndarray
    cap: np.ndarray
    pieces: int


class Timer:
    """Times one plan for messages of any size; `load` is that of the plan."""

    def __init__(self, plan: Plan, load: Load):
        self.plan, self.load = plan, load
        self._latencies: dict = {}

    def time(self, size: float, setting: Setting) -> float:
        """Time [s] of a message that is `size` times that of the plan."""
        return self._parts(size, setting)[0]

    def timing(self, size: float, setting: Setting) -> Timing:
        """Time, delays and caps."""
        time, carried, pieces = self._parts(size, setting)
        sizes = self.plan.size * size
        if self.plan.form == TURNS:
            sizes = np.full(len(sizes), sizes.sum() / max(len(np.unique(self.plan.source)), 1))
        cap = np.full(len(sizes), np.inf)
        if carried > 0:
            cap = np.where(sizes > 0, sizes / carried, np.inf)
        return Timing(time, setting.launch(), self._delays(setting), cap, pieces)

    def _parts(self, size: float, setting: Setting) -> tuple[float, float, int]:
        """Time, D [s] with all that is proportional to it in every connection, and pieces."""
        carried = self._carried(size, setting)
        hops, stages = self._latency(setting)
        pieces = self._pieces(size, setting) if self.plan.form == STAGES else 1
        return setting.launch() + hops + carried * (1 + (stages - 1) / pieces), carried, pieces

    def _carried(self, size: float, setting: Setting) -> float:
        busiest = max((busy / setting.reached(kind) for kind, busy in self.load.busy.items() if busy), default=0.0)
        carried = size * max(busiest, self.load.copy / setting.protocol.pcie)
        match self.plan.form:
            case "rounds":
                carried *= 1 + setting.protocol.turn / self.plan.steps
            case "pairs":
                largest = size * self.plan.size.max(initial=0.0)
                carried += self._own_part(size, carried, setting)
                if setting.protocol.piece == setting.constants.protocols["ll"].piece:
                    carried = max(carried, largest / setting.constants.pair_rate)
        return carried

    def _own_part(self, size: float, carried: float, setting: Setting) -> float:
        partners = len(self.plan.size) / max(len(np.unique(self.plan.source)), 1)
        return carried * setting.constants.own_copy / max(partners, 1)

    def _pieces(self, size: float, setting: Setting) -> int:
        largest = size * self.plan.size.max(initial=0.0)
        return max(1, min(int(setting.constants.fewest_pieces), 1 << 20), math.ceil(largest / setting.protocol.piece))

    def _delays(self, setting: Setting) -> np.ndarray:
        delays = setting.delays(self.load)
        if self.plan.form == PAIRS:
            partners = np.bincount(self.plan.source)[self.plan.source]
            delays = delays + setting.constants.pair_step * partners
        return delays

    def _latency(self, setting: Setting) -> tuple[float, int]:
        """Latency of all hops on the slowest way [s], and the stages on it."""
        key = (setting.generation.step, setting.protocol.step, setting.protocol.hop, setting.constants.pair_step)
        if key not in self._latencies:
            self._latencies[key] = _LATENCIES[self.plan.form](self.plan, self._delays(setting), self.load.latency)
        return self._latencies[key]


def _around(plan: Plan, delay: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    """The slowest sequence of steps: a rank sends a block when it has got it, and when it has sent the one before."""
    delay, wire = delay.reshape(-1, _ring_length(plan)), wire.reshape(-1, _ring_length(plan))
    done = delay.copy()
    for _ in range(plan.steps - 1):
        done = np.maximum(done, np.roll(done + wire, 1, axis=1)) + delay
    return float((done + wire).max(initial=0.0)), 1


def _ring_length(plan: Plan) -> int:
    return len(np.unique(plan.source))


def _through_stages(plan: Plan, delay: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    before, after = plan.pipeline.waits()
    order = np.argsort(after, kind="stable")
    latency, stages = delay + wire, np.ones(len(delay), np.int64)
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


def _in_turns(plan: Plan, delay: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    ranks = _ring_length(plan)
    each = (delay + wire).reshape(-1, ranks).max(axis=1)
    return float(each.sum()), 1


def _at_once(plan: Plan, delay: np.ndarray, wire: np.ndarray) -> tuple[float, int]:
    return float((delay + wire).max(initial=0.0)), 1


_LATENCIES = {ROUNDS: _around, STAGES: _through_stages, TURNS: _in_turns, PAIRS: _at_once}
