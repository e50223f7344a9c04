"""The door between engine and network: three calls, and what passes through them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from simnet.flow_graph import FlowGraph

MAX_PROBES = 64
"""Connections whose windows and rates a model can sample, which bounds the memory that it takes."""

DONE, UNREACHABLE, STUCK = "done", "unreachable", "stuck"


class Completion(NamedTuple):
    """A rank has sent and received all it had to in one started FlowGraph.

    graph: the number that `start` returned. time [s]: absolute. outcome: DONE; UNREACHABLE or
    STUCK (nothing moves any more) with the reason in `detail`.
    """

    graph: int
    rank: int
    time: float
    outcome: str = DONE
    detail: str = ""


def unreachable(graph: int, rank: int, time: float, ends: Sequence[str]) -> Completion:
    """A rank is cut off from what it waits for at `time` [s]; ends: names of the two devices that no path joins."""
    return Completion(graph, rank, time, UNREACHABLE, f"no path from {ends[0]} to {ends[1]}")


@dataclass(frozen=True)
class LinkChange:
    """From `time` [s] on, link `link` (id) has rate `rate` [bytes/s]; 0: it has failed."""

    time: float
    link: int
    rate: float


class Delivered(NamedTuple):
    """Bytes of a graph that have arrived, by the rank that sent and the one that received them [float64[ranks]]."""

    sent: np.ndarray
    received: np.ndarray


@dataclass
class NetworkReport:
    """Counters and samples of all links, valid at any moment.

    bytes, busy [s]: per link, float64[links]; busy is the time in which the link carried anything.
    bins [bytes]: float64[links, n], carried in consecutive intervals of bin_width [s] from time 0.
    counts: events, solves and whatever else the model counts, for benchmarks and progress.
    notes: sentences about what the model could not show.
    under_way: of every started graph that is not through, by its number, what it has delivered so far.
    flows: with recording on, arrays graph, flow, source, destination (device ids), size, start, end, per flow.

    Of a model with queues, else empty:

    settings: the policies that held, in words, what a congestion control brought along included.
    ports: per link, arrays packets (sent), marked, dropped, dropped_bytes, trimmed, pauses (XOFFs that
    reached it), paused [s], peak_queue [bytes], queue_area (integral of the queue over time [bytes s]), and what
    is set: kmin, kmax [bytes] of marking, xoff [bytes] of its packets at the far end that pause it; 0: none.
    transport: retransmitted_packets, retransmitted_bytes, timeouts, duplicates (packets received twice).
    priorities: where ports have a queue for each, of each priority, share (in words), peak_queue [bytes], marked,
    dropped (for want of room), pauses and paused [s], over all links.
    queue_bins [bytes]: float64[links, n], mean queue in the same intervals as `bins`.
    probes: of sampled connections source, destination (device ids, int64[probes]); at the intervals' ends window
    [bytes], rate [bytes/s] of pacing (both inf where nothing is limited), inflight [bytes], rtt [s] and sent [bytes on
    the wire so far; 0: it has not begun], float64[n, probes].
    unused: sentences about settings that never acted.
    """

    time: float
    bytes: np.ndarray
    busy: np.ndarray
    bin_width: float
    bins: np.ndarray
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    under_way: dict[int, Delivered] = field(default_factory=dict)
    flows: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    ports: dict[str, np.ndarray] = field(default_factory=dict)
    transport: dict[str, int] = field(default_factory=dict)
    priorities: list[dict[str, Any]] = field(default_factory=list)
    queue_bins: np.ndarray | None = None
    probes: dict[str, np.ndarray] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)


class NetworkModel(Protocol):
    """What the engine needs of a network; built from a `scenario.Scenario`.

    next_time [s]: nothing happens before it; inf when nothing can move any more. The engine enters the model only
    when it has something to say before the engine's own next event.
    """

    next_time: float
    contention: bool  # False: flows do not see one another, so results may beat the capacity of shared links

    def start(self, flows: FlowGraph, devices: np.ndarray, communicator: int, now: float) -> int:
        """Note the start of a graph whose rank r is topology device devices[r]; moves no time. Returns its number."""
        ...

    def advance(self, until: float) -> list[Completion]:
        """Move to `until` [s] at most; return early with the completions of the first instant that has any."""
        ...

    def report(self) -> NetworkReport:
        """Counters and samples up to now."""
        ...

    def latest(self, graphs: Iterable[FlowGraph]) -> float:
        """The time [s; inf: no limit] beyond which it cannot count once these graphs are started, each the first time.

        Whoever builds a model asks before anything starts, so that what lies beyond is told where it stands.
        """
        ...


def no_probes(probes: int | Sequence) -> list[str]:
    """What a model without windows says of probes that it is asked for."""
    return ["windows and rates of single connections exist with model: packet only"] if probes else []


Progress = Callable[[float, int], None]  # (simulated time [s], events so far), called a few times a second
