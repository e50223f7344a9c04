"""Numbers from the tables of a run: pure functions, each naming its definition. No loop over tasks or flows."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from simnet.metrics.columns import plain, rows
from simnet.metrics.flows import collectives, flow_completion
from simnet.metrics.ranks import hottest_receiver, intervals, jobs, shares
from simnet.result import numbers

BUSIEST = 5
_OF_BUSY_LINKS = ("link", "kind", "rate", "latency", "bytes", "utilization", "peak", "busy")
_TOTALS = ("packets", "marked", "dropped", "dropped_bytes", "trimmed", "pauses", "paused")


def makespan(tasks: pa.Table) -> float:
    """Latest time at which a task started or ended, counted from 0 [s]; 0 without tasks."""
    times = np.concatenate([numbers(tasks, "start"), numbers(tasks, "end")])
    return float(np.fmax.reduce(times, initial=0.0))


def busiest_links(links: pa.Table, count: int = BUSIEST) -> list[dict[str, Any]]:
    """The links with the highest mean utilization over the makespan, busiest first; only links that carried bytes."""
    utilization = numbers(links, "utilization")
    order = np.argsort(-utilization, kind="stable")[:count]
    order = order[numbers(links, "bytes")[order] > 0]
    return links.take(order).select(_OF_BUSY_LINKS).to_pylist()


def queues(links: pa.Table, transport: Mapping[str, int], count: int = BUSIEST) -> dict[str, Any]:
    """What happened in the queues of all links, and the `count` links with the longest ones.

    packets, marked, dropped, dropped_bytes, trimmed, pauses, paused [s]: totals over links; peak, mean: of the link
    that has the largest [bytes]; transport: retransmitted_packets, retransmitted_bytes, timeouts, duplicates.
    """
    totals = {name: numbers(links, name).sum() for name in _TOTALS}
    peak, mean = (numbers(links, name) for name in ("peak_queue", "mean_queue"))
    order = np.argsort(-peak, kind="stable")[:count]
    longest = links.take(order[peak[order] > 0]).select(("link", "peak_queue", "mean_queue", *_TOTALS)).to_pylist()
    return totals | {
        "peak": peak.max(initial=0.0), "mean": mean.max(initial=0.0), **transport, "longest": longest,
    }  # fmt: skip


def summarize(
    tasks: pa.Table,
    flows: pa.Table,
    links: pa.Table,
    messages: pa.Table | None = None,
    *,
    status: str,
    time: float = 0.0,
    counts: Mapping[str, int] | None = None,
    notes: Iterable[str] = (),
    network: Mapping[str, Any] | None = None,
    transport: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The content of summary.json; times [s], sizes [bytes], rates [bytes/s], undefined figures None.

    status: completed, stalled, aborted or failed. time [s]: how far the run got, if that is later than its last task.
    counts: what was simulated (tasks, flows, events, solves). notes: sentences for the reader. network: the model and
    the policies that held. transport: counts of a model with queues, which alone has `queues`.
    """
    until = max(makespan(tasks), time)
    busy = intervals(tasks, flows, until)
    unfinished = int(np.isnan(numbers(tasks, "end")).sum())
    cut = [f"{unfinished} of {tasks.num_rows} tasks that had started were not finished."] if unfinished else []
    ranks = {"job": busy.job, "rank": busy.rank, "device": busy.device, **shares(busy, until)}
    return plain({
        "status": status,
        "makespan": until,
        "simulated": dict(counts or {}),
        "jobs": jobs(tasks, busy, until),
        "collectives": collectives(flows),
        "flow_completion": flow_completion(flows, messages),
        "network": dict(network or {}),
        "queues": None if transport is None else queues(links, transport),
        "busiest_links": busiest_links(links),
        "hottest_receiver": hottest_receiver(busy),
        "ranks": rows(ranks | {"sent": busy.sent, "received": busy.received}),
        "notes": [*notes, *cut],
    })  # fmt: skip
