"""Samples of ports and connections at equal intervals, which double when a run outgrows their number."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simnet.jit import kernel
from simnet.network.model import MAX_PROBES
from simnet.network.packet_level.state import NEVER, PROBE, SAMPLE, SECOND
from simnet.network.records import table

FIRST_STEP = 100_000  # [ps]; a packet of 4 kB at 400 Gb/s takes 83 ns


class Sampling:
    """The tables that the kernel fills with samples, and what they say of every interval."""

    def __init__(self, world: np.record, ports: int, bins: int, probes: int | Sequence[tuple[int, int]]):
        """bins: intervals at most, made even; 0: no samples. probes: connections sampled, the first ones, or those
        between devices (source, destination)."""
        self._world = world
        self._pairs = None if isinstance(probes, int) else dict.fromkeys(probes, 0)  # with the number of their probes
        self._places = probes if isinstance(probes, int) else MAX_PROBES if probes else 0
        self._ends: list[tuple[int, int]] = []  # of the connections that are sampled
        self._left_out = 0
        rows = bins + bins % 2 if ports else 0
        self.samples = table(rows * ports, SAMPLE)
        self.probes = table(rows * self._places, PROBE)
        world.sample_step = FIRST_STEP
        world.sample_next = FIRST_STEP if rows else NEVER

    def watch(self, first: int, source: np.ndarray, destination: np.ndarray) -> None:
        """Sample those of new connections, which stand from row `first` on, that are asked for. Both ends: devices."""
        if not self._places or (self._pairs is None and len(self._ends) == self._places):
            return
        for number, ends in enumerate(zip(source.tolist(), destination.tolist())):
            if ends[0] == ends[1] or (self._pairs is not None and ends not in self._pairs):
                continue
            place = len(self._ends)
            if place == self._places:
                self._left_out += self._pairs is not None
                continue
            self._ends.append(ends)
            self.probes.connection.reshape(-1, self._places)[:, place] = first + number + 1
            if self._pairs is not None:
                self._pairs[ends] += 1

    def notes(self, names: Sequence[str]) -> list[str]:
        """Sentences about what was asked for and could not be sampled. names: of all devices."""
        idle = [pair for pair, found in (self._pairs or {}).items() if not found]
        notes = [f"nothing was sent from {names[a]} to {names[b]}, which output.probes wants to see" for a, b in idle]
        if self._left_out:
            notes.append(f"output.probes: {self._left_out} connections beyond the first {MAX_PROBES} were not sampled")
        return notes

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
        return {
            "bin_width": step / SECOND,
            "bins": carried.T,
            "queue_bins": areas.T / (step / SECOND),
            "probes": self._probed(taken) if self._ends else {},
        }

    def _probed(self, taken: int) -> dict[str, np.ndarray]:
        rows = self.probes[: taken * self._places].reshape(taken, self._places)[:, : len(self._ends)]
        source, destination = np.array(self._ends, np.int64).T
        columns = {name: np.array(rows[name]) for name in ("window", "rate", "inflight", "rtt", "sent")}
        return {"source": source, "destination": destination, **columns}


@kernel(inline=True)
def sample(ports, connections, samples, probes, world):
    """Note counters of the port whose turn it is; after the last one set the next time, and thin out a full table.

    The port has been served, so what it has sent and what waits in it are those of this very moment.
    """
    w = world[0]
    most = len(samples) // w.links
    p = ports[w.sample_port]
    s = samples[w.samples * w.links + w.sample_port]
    s.bytes = p.bytes_out - max(p.busy_until - w.now, 0) / p.ps_per_byte
    s.area = p.area + np.float64(p.data_bytes) * np.float64(w.now - p.area_since)
    w.sample_port += 1
    if w.sample_port < w.links:
        return
    chosen = len(probes) // most
    for i in range(chosen):
        row = probes[w.samples * chosen + i]
        if row.connection > 0:
            k = connections[row.connection - 1]
            row.window, row.rate, row.inflight, row.rtt, row.sent = k.window, k.rate, k.inflight, k.rtt, k.sent_bytes
    w.sample_port = 0
    w.samples += 1
    if w.samples == most:
        for i in range(most // 2):
            for port in range(w.links):
                samples[i * w.links + port] = samples[(2 * i + 1) * w.links + port]
            for c in range(chosen):
                probes[i * chosen + c] = probes[(2 * i + 1) * chosen + c]
        w.samples = most // 2
        w.sample_step *= 2
    w.sample_next += w.sample_step
