"""The library's choice: the algorithm and protocol that it expects to take the least time, and why.

What is allowed follows from the group: NVLS where NVSwitches that reduce join the ranks of one server, NVLS tree where
they do in several, PAT with one rank in every server, relays where there are several servers, LL128 over NVLink. SHARP
in the fabric (collnet) has to be asked for, as no topology says whether its switches add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from simnet.errors import InputError
from simnet.params import nearest
from simnet.workload.collectives.library.machine import PCIE, Load, generation_of, load
from simnet.workload.collectives.library.plans import PLANS
from simnet.workload.collectives.library.presets import Constants
from simnet.workload.collectives.library.timing import Setting, Timer
from simnet.workload.task_graph import Operation

if TYPE_CHECKING:
    from simnet.workload.collectives.group import Group

IN_SWITCHES = ("nvls", "nvls_tree")
"""Algorithms in which NVSwitches reduce."""
_ASKED_FOR = ("collnet",)
_SIMPLE_ONLY = (*IN_SWITCHES, "collnet", "pat")
AUTO = "auto"


@dataclass(frozen=True)
class Choice:
    """What is taken: algorithm, protocol, channels; time [s] as predicted; why, in words."""

    algorithm: str
    protocol: str
    channels: int
    time: float
    why: str

    def __str__(self) -> str:
        return f"{self.algorithm} {self.protocol}"


class Library:
    """The library on one group; its plans are worked out once."""

    def __init__(self, group: Group, constants: Constants):
        self.group, self.constants = group, constants
        self._timers: dict[tuple, Timer | str] = {}

    @cached_property
    def generation(self) -> str:
        """Name of the generation that sets the pace."""
        return generation_of(self.group)

    def choose(self, operation: Operation) -> Choice:
        """The fastest of what the operation allows. Raises InputError where it asks for what cannot be."""
        self._check_names(operation)
        found = sorted(self.candidates(operation), key=lambda candidate: candidate[0])
        if not found:
            raise InputError(self._why_none(operation))
        time, algorithm, protocol = found[0]
        timer, setting = self.timer(operation, algorithm), self.setting(operation, algorithm, protocol)
        channels = timer.channels(self.scale(operation), setting)
        return Choice(algorithm, protocol, channels, time, _why(found))

    def candidates(self, operation: Operation) -> list[tuple[float, str, str]]:
        """(predicted time [s], algorithm, protocol) of all that the operation allows."""
        algorithms = PLANS if operation.algorithm == AUTO else [operation.algorithm]
        protocols = self.constants.protocols if operation.protocol is None else [operation.protocol]
        found = []
        for algorithm in algorithms:
            if operation.algorithm == AUTO and not self._offered(algorithm, operation):
                continue
            timer = self.timer(operation, algorithm)
            if isinstance(timer, str):
                continue
            for protocol in protocols:
                if self._goes_with(algorithm, protocol, operation, timer.load):
                    setting = self.setting(operation, algorithm, protocol)
                    found.append((timer.time(self.scale(operation), setting), algorithm, protocol))
        return found

    def timer(self, operation: Operation, algorithm: str) -> Timer | str:
        """The timer of an algorithm for messages of 1 byte (of the matrix, where there is one), or what forbids it."""
        key = (algorithm, operation.kind, operation.root, operation.matrix)
        if key not in self._timers:
            unit = operation if operation.matrix is not None else replace(operation, size=1.0)
            try:
                plan = PLANS[algorithm][operation.kind](self.group, unit)
                self._timers[key] = Timer(
                    plan, load(self.group, plan.source, plan.destination, plan.channel, plan.size)
                )
            except InputError as problem:
                self._timers[key] = str(problem)
        return self._timers[key]

    def scale(self, operation: Operation) -> float:
        """How many times the message of its plan an operation is."""
        return operation.size if operation.matrix is None else 1.0

    def setting(self, operation: Operation, algorithm: str, protocol: str) -> Setting:
        """What an algorithm is timed with."""
        known = self.constants
        version = known.versions[operation.library or next(iter(known.versions))]
        return Setting(
            known, known.generations[self.generation], known.protocols[protocol], version, algorithm,
            len(self.group.by_server) > 1, operation.channels, operation.threads,
        )  # fmt: skip

    def _offered(self, algorithm: str, operation: Operation) -> bool:
        version = self.setting(operation, algorithm, "simple").version
        if algorithm in _ASKED_FOR or operation.kind not in PLANS[algorithm] or not getattr(version, algorithm, True):
            return False
        generation, fewest = self.constants.generations[self.generation], min(map(len, self.group.by_server))
        return algorithm not in IN_SWITCHES or (generation.nvls > 0 and fewest >= generation.nvls_ranks)

    def _goes_with(self, algorithm: str, protocol: str, operation: Operation, load: Load) -> bool:
        if protocol == "simple":
            return True
        forced = operation.protocol is not None
        if algorithm in _SIMPLE_ONLY or (algorithm == "hierarchical" and not forced):
            return False
        if protocol == "ll128" and not forced:
            version = self.setting(operation, algorithm, protocol).version
            pairs = operation.kind in ("all_to_all", "all_to_all_v", "send_recv")
            return version.ll128 and PCIE not in load.kinds and not pairs
        return True

    def _check_names(self, operation: Operation) -> None:
        if operation.algorithm != AUTO and operation.kind not in PLANS[operation.algorithm]:
            able = ", ".join((AUTO, *(name for name, kinds in PLANS.items() if operation.kind in kinds)))
            raise InputError(f"a library has no {operation.algorithm} {operation.kind}; it has {able}")
        for what, name, known in (
            ("protocol", operation.protocol, self.constants.protocols),
            ("library", operation.library, self.constants.versions),
        ):
            if name is not None and name not in known:
                raise InputError(f"unknown {what} '{name}'; allowed: {', '.join(known)}{nearest(name, known)}")

    def _why_none(self, operation: Operation) -> str:
        if operation.algorithm != AUTO:
            timer = self.timer(operation, operation.algorithm)
            return timer if isinstance(timer, str) else f"{operation.algorithm}: goes with protocol simple only"
        return f"no algorithm of the library for {operation.kind} goes with protocol {operation.protocol}"


def _why(found: list[tuple[float, str, str]]) -> str:
    time, algorithm, protocol = found[0]
    told = f"{algorithm} {protocol}: {time * 1e6:.4g} us expected"
    if len(found) == 1:
        return f"{told}, nothing else allowed"
    others = [f"{a} {p} {t * 1e6:.4g} us" for t, a, p in found[1:3]]
    return f"{told}; next {', '.join(others)}"
