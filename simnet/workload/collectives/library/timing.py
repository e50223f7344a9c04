"""How long a plan takes with a protocol on links that others leave alone, and what that means for its connections.

With D the time in which the busiest link carries its bytes at the rate that kernels reach, and h the latency of hops:

- rounds of a ring: launch + sum of h + D, with the h of the slowest block; D has the time for storing the last block
- stages of a pipeline in k pieces: launch + sum of h + D (1 + (stages - 1) / k)
- turns one after the other: launch + sum of h + D
- pairs at once: launch + h + (n - 1) t + D, where a rank spends t on each partner; D has the copy of its own part

Every connection is capped so that it takes all of D for its bytes, as in the steady state of a pipeline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simnet.workload.collectives.library.latency import latency
from simnet.workload.collectives.library.machine import CLASSES, NET, Load
from simnet.workload.collectives.library.plans import PAIRS, ROUNDS, STAGES, TURNS, Plan
from simnet.workload.collectives.library.presets import Constants, Generation, Protocol, Version

_UP_AND_DOWN = 2  # steps of the tree of one server, whose last block is stored as that of a ring


@dataclass(frozen=True)
class Setting:
    """What a plan is timed with: constants, the generation of the GPUs, protocol, version, algorithm, whether servers
    are several, channels asked for, and GPUs that one host thread launches on."""

    constants: Constants
    generation: Generation
    protocol: Protocol
    version: Version
    algorithm: str
    several: bool = False
    channels: int | None = None
    threads: int = 1

    def reached(self, kind: str, fabric: str) -> float:
        """Part of the nominal rate of links of a class that is reached; fabric: the kind of those of class NET."""
        known, protocol = self.constants, self.protocol
        match kind:
            case "nvlink":
                return self.generation.nvls if self.reduces else self.generation.nvlink * protocol.nvlink
            case "net":
                of_rings = {"tree": known.tree, "nvls_tree": known.tree, "pat": known.pat}.get(self.algorithm, 1.0)
                return known.fabrics[fabric].reached * protocol.net * of_rings
        return known.pcie * protocol.pcie

    @property
    def reduces(self) -> bool:
        """True if NVSwitches add up."""
        return self.algorithm in ("nvls", "nvls_tree")

    def floor(self) -> float:
        """Time that a host thread takes to launch on all its GPUs [s]."""
        return self.constants.thread_launch * self.threads if self.threads > 1 else 0.0

    def pair_step(self) -> float:
        """What a rank spends on every partner of an all-to-all [s]."""
        return self.constants.pair_step + self.version.pair_step

    def launch(self) -> float:
        """Time before the first byte [s]."""
        reducing = self.constants.nvls_launch if self.reduces else 0.0
        return self.generation.launch + self.protocol.launch + reducing

    def delays(self, load: Load) -> np.ndarray:
        """Time before every message of each connection, beside that of the wire [s]."""
        own = self.generation.step + self.protocol.step
        return np.where(load.classes == CLASSES.index(NET), self.protocol.post, own)

    def leads(self, load: Load) -> np.ndarray:
        """Further time from what a message waits for to the message, in which others may be on their way [s]."""
        if not load.leaving:
            return np.zeros(len(load.classes))
        hop = self.protocol.hop * self.constants.fabrics[load.fabric].hop
        return np.where(load.classes == CLASSES.index(NET), self.generation.step + self.protocol.step + hop, 0.0)


@dataclass(frozen=True, eq=False)
class Timing:
    """What a choice means for its flows.

    time [s]: of the whole, at least floor [s]. launch [s]: before anything moves. Of each connection, delay [s]: before
    every message; lead [s]: before it, too, but beside other messages; cap [bytes/s]. pieces: that a pipeline is cut
    into.
    """

    time: float
    floor: float
    launch: float
    delay: np.ndarray
    lead: np.ndarray
    cap: np.ndarray
    pieces: int


class Timer:
    """Times one plan for messages of any size; `load` is that of the plan."""

    def __init__(self, plan: Plan, load: Load):
        self.plan, self.load = plan, load
        self._latencies: dict = {}

    def time(self, size, setting: Setting):
        """Time [s] of a message that is `size` times that of the plan; of many, if size is an array."""
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
        delay, lead = self._delays(setting), setting.leads(self.load)
        if self.plan.form == STAGES:  # pieces of an edge follow one another without more ado
            delay, lead = np.zeros_like(delay), lead + delay
        return Timing(time, setting.floor(), setting.launch(), delay, lead, cap, int(pieces))

    def _parts(self, size, setting: Setting):
        """Time, D [s] with all that is proportional to it in every connection, and pieces."""
        carried = self._carried(size, setting)
        hops, stages = self._latency(setting)
        pieces = self._pieces(carried, stages, setting) if self.plan.form == STAGES else 1
        time = setting.launch() + hops + carried * (1 + (stages - 1) / pieces)
        return np.maximum(time, setting.floor()), carried, pieces

    def _carried(self, size, setting: Setting):
        """D [s]: what the busiest link, host memory or the ranks themselves take for the bytes."""
        known, load, protocol = setting.constants, self.load, setting.protocol
        busiest = max(
            (busy / setting.reached(kind, load.fabric) for kind, busy in load.busy.items() if busy), default=0.0
        )
        copies = (load.copy, load.into_host / known.host, load.between / known.between, load.staged / known.staged)
        carried = size * max(busiest, max(copies) / protocol.pcie)
        carried = np.maximum(carried, size * self._channels_need(setting))
        if self.plan.form == PAIRS and not protocol.whole:
            carried = np.maximum(carried, size * self.plan.size.max(initial=0.0) / known.pair_rate)
        return carried + self._stored(size, carried, setting)

    def _channels_need(self, setting: Setting) -> float:
        """Time that channels take for the bytes that leave a server and, where a number is asked for, a rank [s]."""
        known, load, plan = setting.constants, self.load, self.plan
        time = load.leaving / (setting.channels or known.net_channels) / known.net_channel
        if load.leaving and (plan.form == PAIRS or plan.own):  # two ranks of an all-to-all have one between servers
            time = max(time, plan.size[load.classes == CLASSES.index(NET)].max() / known.net_channel)
        if setting.channels is not None:
            time = max(time, self._sent() / setting.channels / setting.generation.channel)
        return time

    def _stored(self, size, carried, setting: Setting):
        """Time in which a rank stores and does not send [s]: a ring's last block, its own part of an all-to-all."""
        if not setting.protocol.whole:
            return 0.0
        if self.plan.own:
            return carried * setting.generation.own_copy * self.plan.own / self._sent()
        alone = setting.algorithm == "tree" and not setting.several
        steps = self.plan.steps if self.plan.form == ROUNDS else _UP_AND_DOWN if alone else math.inf
        return size * self._sent() / steps / setting.generation.last_block

    def _sent(self) -> float:
        """The most that a rank sends [bytes]."""
        return np.bincount(self.plan.source, self.plan.size).max(initial=0.0)

    def channels(self, size: float, setting: Setting) -> int:
        """Thread blocks that carry what the busiest rank sends."""
        carried = float(self._carried(size, setting))
        rate = size * self._sent() / carried if carried > 0 else 0.0
        return setting.channels or max(1, round(rate / setting.generation.channel))

    def _pieces(self, carried, stages: int, setting: Setting):
        """As many as fill the stages, but none too small for a channel, and none too large."""
        moved = carried * setting.generation.channel  # bytes of one channel
        short = np.minimum(moved / setting.protocol.smallest, setting.constants.fill * stages)
        return np.ceil(np.maximum(np.maximum(short, moved / setting.protocol.piece), 1.0))

    def _delays(self, setting: Setting) -> np.ndarray:
        delays = setting.delays(self.load)
        if self.plan.form == PAIRS:
            partners = np.bincount(self.plan.source)[self.plan.source]
            delays = delays + setting.pair_step() * partners
        return delays

    def _latency(self, setting: Setting) -> tuple[float, int]:
        """Latency of all hops on the slowest way [s], and the stages on it."""
        key = (setting.generation.step, setting.protocol.step, setting.protocol.hop, setting.protocol.post,
               setting.pair_step(), setting.constants.fabrics.get(self.load.fabric))  # fmt: skip
        if key not in self._latencies:
            self._latencies[key] = latency(
                self.plan, self._delays(setting), setting.leads(self.load), self.load.latency
            )
        return self._latencies[key]
