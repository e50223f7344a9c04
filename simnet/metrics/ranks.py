"""How the ranks spent their time: unions of intervals, and the shares and fractions made of them."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from simnet.metrics.columns import is_compute, joint, merged
from simnet.result import numbers, text


class Intervals(NamedTuple):
    """When the ranks of all jobs computed and communicated.

    job, rank: of every rank; device: where it ran. compute, communication, either [s, float64[ranks]]: length of
    the union of its compute tasks, of its communication tasks (waiting for the other members included), of both.
    """

    job: list[str]
    rank: np.ndarray
    device: list[str]
    compute: np.ndarray
    communication: np.ndarray
    either: np.ndarray
    sent: np.ndarray
    received: np.ndarray


def union_length(group: np.ndarray, start: np.ndarray, end: np.ndarray, groups: int) -> np.ndarray:
    """Length of the union of the intervals [start, end] of every group [s, float64[groups]]."""
    order = np.lexsort((start, group))
    group, start, end = group[order].astype(np.int64), start[order], end[order]
    # the latest end so far, within the group: ends are compared by their place in the sorted ends, so that
    # the group can be put in front of it exactly
    count = len(end)
    sorting = np.argsort(end, kind="stable")
    place = np.empty(count, np.int64)
    place[sorting] = np.arange(count)
    reach = end[sorting][np.maximum.accumulate(group * count + place) % max(count, 1)]
    before = np.concatenate([[-np.inf], reach[:-1]])[:count]
    before[np.flatnonzero(np.diff(group, prepend=-1))] = -np.inf
    return np.bincount(group, np.maximum(0.0, end - np.maximum(start, before)), groups)


def intervals(tasks: pa.Table, flows: pa.Table, until: float) -> Intervals:
    """Busy times and bytes of every rank; a task that did not finish is taken to last `until` [s]."""
    jobs, job_names = merged("job", tasks, flows)
    devices, device_names = merged("device", tasks, flows)
    rank = np.concatenate([numbers(tasks, "rank"), numbers(flows, "rank")])
    _, first, index = np.unique(joint(jobs, rank), return_index=True, return_inverse=True)
    of_task, of_flow = index[: tasks.num_rows], index[tasks.num_rows :]
    start = numbers(tasks, "start")
    end = np.where(np.isnan(numbers(tasks, "end")), until, numbers(tasks, "end"))
    compute = is_compute(tasks)

    def union(chosen):
        return union_length(of_task[chosen], start[chosen], end[chosen], len(first))

    return Intervals(
        [job_names[j] for j in jobs[first]],
        rank[first],
        [device_names[d] for d in devices[first]],
        union(compute),
        union(~compute),
        union(np.ones_like(compute)),
        np.bincount(of_flow, numbers(flows, "sent"), len(first)),
        np.bincount(of_flow, numbers(flows, "received"), len(first)),
    )


def shares(busy: Intervals, until: float) -> dict[str, np.ndarray]:
    """How every rank spent the makespan `until` [s], as shares that add up to 1.

    compute: in a compute task; exposed_communication: in a communication task and in no compute task; idle: the rest.
    """
    span = max(until, np.finfo(float).tiny)
    compute = np.clip(busy.compute / span, 0.0, 1.0)
    exposed = np.clip((busy.either - busy.compute) / span, 0.0, 1.0 - compute)
    return {"compute": compute, "exposed_communication": exposed, "idle": 1.0 - compute - exposed}


def overlap_fraction(busy: Intervals, ranks: Any = slice(None)) -> float:
    """Share of the ranks' communication time during which the same rank computed; NaN without communication."""
    communication = busy.communication[ranks].sum()
    hidden = (busy.compute + busy.communication - busy.either)[ranks].sum()
    return float(np.clip(hidden / communication, 0.0, 1.0)) if communication > 0 else np.nan


def bubble_fraction(compute: np.ndarray, start: float, end: float) -> float:
    """Share of the ranks' time from the first compute task's start to the last one's end [s] without any compute.

    compute [s]: compute time of every rank that computes. For a pipeline of p equal stages and m microbatches it is
    (p-1)/(m+p-1), Narayanan et al. 2021.
    """
    span = len(compute) * (end - start)
    return float(np.clip(1.0 - compute.sum() / span, 0.0, 1.0)) if span > 0 else np.nan


def hottest_receiver(busy: Intervals) -> dict[str, Any] | None:
    """The rank that received most bytes, and how many times the mean over the ranks of its job that is."""
    if not busy.received.any():
        return None
    hottest = int(np.argmax(busy.received))
    of_job = [job == busy.job[hottest] for job in busy.job]
    received = busy.received[hottest]
    place = {"job": busy.job[hottest], "rank": int(busy.rank[hottest]), "device": busy.device[hottest]}
    return place | {"received": received, "times_mean": received / busy.received[of_job].mean()}


def jobs(tasks: pa.Table, busy: Intervals, until: float) -> list[dict[str, Any]]:
    """One row per job: when it ran [s], and how well its ranks were used (see bubble_fraction, overlap_fraction)."""
    codes, names = text(tasks, "job")
    start, end, compute = numbers(tasks, "start"), numbers(tasks, "end"), is_compute(tasks)
    rows = []
    for code in np.unique(codes):
        mine, ranks = codes == code, np.array(busy.job) == names[code]
        computing, busy_ranks = mine & compute, ranks & (busy.compute > 0)
        first = start[computing].min(initial=until)
        last = np.where(np.isnan(end), until, end)[computing].max(initial=0.0)
        rows.append({
            "job": names[code], "ranks": int(ranks.sum()), "start": start[mine].min(), "end": end[mine].max(),
            "bubble_fraction": bubble_fraction(busy.compute[busy_ranks], first, last),
            "overlap_fraction": overlap_fraction(busy, ranks),
        })  # fmt: skip
    return rows
