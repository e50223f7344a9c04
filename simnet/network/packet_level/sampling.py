"""Samples of ports and connections at equal intervals, which double when a run outgrows their number."""

from typing import Any

import numpy as np

from simnet.network.packet_level.state import PROBE, SAMPLE, SECOND
from simnet.network.records import table

FIRST_STEP = 100_000  # [ps]; a packet of 4 kB at 400 Gb/s takes 83 ns
NEVER = 2**62


class Sampling:
    """The tables that the kernel fills with samples, and what they say of every interval."""

    def __init__(self, world: np.record, ports: int, bins: int, probes: int):
        """bins: intervals at most, made even; 0: no samples. probes: connections sampled."""
        self._world, self._chosen = world, probes
        rows = bins + bins % 2 if ports else 0
        self.samples = table(rows * ports, SAMPLE)
        self.probes = table(rows * probes, PROBE)
        world.sample_step = FIRST_STEP
        world.sample_next = FIRST_STEP if rows else NEVER

    def columns(self, ports: np.recarray, area: np.ndarray, now: int) -> dict[str, Any]:
        """bin_width [s], bins [bytes], queue_bins [bytes] and probes of a report at `now` [ps].

        area: integral of every queue over time up to now [bytes s]. Without samples one bin spans the whole run.
        """
        taken, sent = int(self._world.samples), np.array(ports.bytes_out, np.float64)
        step = int(self._world.sample_step) if len(self.samples) else max(now, 1000)
        seen = self.samples[: taken * len(ports)].reshape(taken, len(ports))
        # the interval under way has the last column, unless it has just begun
        last = [sent] if now > taken * step else []
        rest = [area] if now > taken * step else []
        carried = np.diff(np.array([np.zeros(len(ports)), *seen.bytes, *last]), axis=0)
        if not last and taken:
            carried[-1] += sent - seen.bytes[-1]
        areas = np.diff(np.array([np.zeros(len(ports)), *(seen.area / SECOND), *rest]), axis=0)
        rows = self.probes[: taken * self._chosen].reshape(taken, self._chosen)
        return {
            "bin_width": step / SECOND,
            "bins": carried.T,
            "queue_bins": areas.T / (step / SECOND),
            "probes": {name: np.array(rows[name]) for name in PROBE.names} if self._chosen else {},
        }
