"""How long a plan takes with a protocol on links that others leave alone, and what that means for its connections.

With D the time in which the busiest link carries its bytes at the rate that kernels reach, and h the latency of hops:

- rounds of a ring: launch + sum of h + D (1 + turn / steps). The sum is over the steps of the slowest block.
- stages of a pipeline in k pieces: launch + sum of h + D (1 + (stages - 1) / k)
- turns: launch + sum of h + D, one after the other.
- pairs at once: launch + h + (n - 1) t + D, where a rank spends t on each partner and copies its own part, too.

Every connection is capped so that it takes all of D for its bytes, as in the steady state of a pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simnet.workload.collectives.library.machine import CLASSES, NET, NVLINK, PCIE, Load
from simnet.workload.collectives.library.plans import PAIRS, ROUNDS, STAGES, TURNS, Plan
from simnet.workload.collectives.library.presets import Constants, Generation, Protocol, Version


@dataclass(frozen=True)
class Setting:
    """What a plan is timed with: constants, the generation of the GPUs, protocol, version; `reduces`: NVSwitches do.

    tree: the plan is a tree. channels: None as many as it has; threads: GPUs that one host thread launches on.
    """

    constants: Constants
    generation: Generation
    protocol: Protocol
    version: Version
    reduces: bool = False
    tree: bool = False
    channels: float | None = None
    threads: int = 1

    @property
    def step(self) -> float:
        """A rank's own part of a step [s]."""
        return self.generation.step * self.protocol.step

    def busy(self, load: Load) -> float:
        """Time in which the busiest link or processor carries a message of 1 byte [s]."""
        known, protocol = self.constants, self.protocol
        times = [load.busy[NVLINK] / self._nvlink(), load.copy / protocol.pcie, load.staged / known.staged]
        if load.leaving:
            fabric = known.fabrics[load.fabric]
            channels = self.channels or known.net_channels
            times.append(load.busy[NET] / (fabric.reached * protocol.net))
            times.append(load.leaving / (channels * known.channel_rate))
            times.append(load.busy[PCIE])
        else:
            times.append(load.busy[PCIE] / (known.pcie * protocol.pcie))
            times.append(load.through_host / known.host_rate)
        return max(times) / (known.tree if self.tree else 1.0)

    def _nvlink(self) -> float:
        """Part of the nominal rate of NVLink that is reached."""
        best = self.generation.nvls if self.reduces else self.generation.nvlink * self.protocol.nvlink
        return best * (1.0 if self.channels is None else min(1.0, self.channels / self.generation.channels))

    def launch(self) -> float:
        """Time before the first byte [s]."""
        reducing = self.constants.nvls_launch if self.reduces else 0.0
        return self.generation.launch + self.protocol.launch + self.version.launch + reducing

    def hop(self, load: Load) -> float:
        """What a hop between servers adds to that inside one, beside the wire [s]."""
        return self.protocol.hop * self.constants.fabrics[load.fabric].hop if load.leaving else 0.0


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
        self.ranks = max(len(np.unique(plan.source)), 1)
        self._latencies: dict = {}

    def time(self, size, setting: Setting):
        """Time [s] of a message that is `size` times that of the plan; a number or an array."""
        launch, rest, *_ = self._parts(size, setting)
        return launch + rest

    def timing(self, size: float, setting: Setting) -> Timing:
        """Time, delays and caps."""
        launch, rest, carried, pieces = self._parts(size, setting)
        sizes = self.plan.size * size
        if self.plan.form == TURNS:
            sizes = np.full(len(sizes), sizes.sum() / self.ranks)
        cap = np.full(len(sizes), np.inf)
        if carried > 0:
            cap = np.where(sizes > 0, sizes / carried, np.inf)
        return Timing(launch + rest, float(launch), self._delays(setting), cap, int(pieces))

    def _parts(self, size, setting: Setting) -> tuple:
        """Launch and the rest of the time, D with all that is proportional to it in every connection [s]; pieces."""
        carried = self._carried(size, setting)
        hops, stages = self._latency(setting)
        pieces = self._pieces(size, setting) if self.plan.form == STAGES else 1
        rest = hops + carried * (1 + (stages - 1) / pieces)
        launch = setting.launch() + self.crossings * setting.hop(self.load)
        floor = setting.constants.thread_launch * setting.threads if setting.threads > 1 else 0.0
        return np.maximum(launch, floor - rest), rest, carried, pieces

    @property
    def crossings(self) -> float:
        """Hops between servers of the slowest block of a ring, which its launch counts."""
        if self.plan.form != ROUNDS:
            return 0.0
        net = (self.load.classes == CLASSES.index(NET)).reshape(-1, self.ranks)
        return self.plan.steps * net.sum(axis=1).max() / self.ranks

    def _carried(self, size, setting: Setting):
        carried = size * setting.busy(self.load)
        if self.plan.form == ROUNDS:
            carried = carried * (1 + setting.protocol.turn / self.plan.steps)
        elif self.plan.form == PAIRS:
            carried = carried * (1 + setting.constants.own_copy * self.ranks / len(self.plan.size))
            if setting.protocol.pair_rate:
                carried = np.maximum(carried, size * self.plan.size.max(initial=0.0) / setting.protocol.pair_rate)
        return carried

    def _pieces(self, size, setting: Setting):
        largest = size * self.plan.size.max(initial=0.0)
        return np.maximum(1, np.ceil(largest / setting.constants.piece))

    def _delays(self, setting: Setting) -> np.ndarray:
        delays = np.full(len(self.plan.size), setting.step)
        if self.plan.form != ROUNDS:
            delays = delays + setting.hop(self.load) * (self.load.classes == CLASSES.index(NET))
        if self.plan.form == PAIRS:
            partners = np.bincount(self.plan.source)[self.plan.source]
            delays = delays + setting.constants.pair_step * partners
        return delays

    def _latency(self, setting: Setting) -> tuple[float, int]:
        """Latency of all hops on the slowest way [s], and the stages on it."""
        key = (setting.step, setting.hop(self.load), setting.constants.pair_step)
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
