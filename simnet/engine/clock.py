"""Simulated time: a SimPy environment joined with a network model that keeps its own events."""

from collections.abc import Callable
from heapq import heappush
from time import monotonic

import simpy
from simpy.core import NORMAL

from simnet.network.model import Completion, NetworkModel, Progress

_STEPS_BETWEEN_LOOKS, _TIME_BETWEEN_REPORTS = 16, 0.2  # at the wall clock [s]
_NEVER = float("inf")


class Clock(simpy.Environment):
    """Steps through SimPy events; before each of them the network delivers what completes earlier.

    `on_completion` is called at the time of every completion of the network.
    """

    def __init__(
        self, network: NetworkModel, on_completion: Callable[[Completion], None], progress: Progress | None = None
    ):
        super().__init__(initial_time=0.0)
        self.network = network
        self.steps = 0
        self._deliver = [lambda event: on_completion(event.value)]
        self._progress = progress
        self._reported = monotonic()

    def step(self) -> None:
        """Process the next event of either side."""
        queue = self._queue
        upcoming = queue[0][0] if queue else _NEVER
        if self.network.next_time <= upcoming:
            for completion in self.network.advance(upcoming):
                self.at(completion.time, self._deliver, completion)
        self.steps += 1
        if self._progress and self.steps % _STEPS_BETWEEN_LOOKS == 0 and self._is_due():
            self._progress(self._now, self.steps)
        super().step()

    def _is_due(self) -> bool:
        """True if the last report is a while ago; a step may take a microsecond or seconds."""
        now = monotonic()
        due = now - self._reported > _TIME_BETWEEN_REPORTS
        self._reported = now if due else self._reported
        return due

    def at(self, time: float, callbacks: list, value=None) -> None:
        """Call `callbacks` with an event of this value at absolute `time` [s], or now if that has passed.

        A delay (`now + (time - now)`) would miss the time by a rounding error, half of them into the past. The list
        may be shared between events: SimPy does not change it.
        """
        now = self._now
        event = _Occurrence(self, callbacks, value)
        heappush(self._queue, (time if time > now else now, NORMAL, next(self._eid), event))


class _Occurrence(simpy.Event):
    """An event that is bound to happen, made for one push on the queue."""

    def __init__(self, env: Clock, callbacks: list, value):
        self.env = env
        self.callbacks = callbacks
        self._value = value
        self._ok = True
        self._defused = False
