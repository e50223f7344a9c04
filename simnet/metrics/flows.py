"""How long operations and flows took, and the bandwidth that makes."""

from typing import Any

import numpy as np
import pyarrow as pa

from simnet.metrics.columns import joint
from simnet.result import numbers, text
from simnet.workload.collectives import KINDS


def jain_index(values: np.ndarray) -> float:
    """Fairness (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything (Jain et al. 1984)."""
    squares = len(values) * np.square(values).sum()
    return float(np.square(values.sum()) / squares) if squares > 0 else np.nan


def completion_times(start: np.ndarray, end: np.ndarray) -> dict[str, float | int]:
    """count, mean, median, 99th percentile (linear between order statistics) and maximum of end - start [s].

    Flows that did not end are left out.
    """
    times = (end - start)[np.isfinite(end - start)]
    if not len(times):
        return {"count": 0, "mean": np.nan, "p50": np.nan, "p99": np.nan, "max": np.nan}
    p50, p99 = np.percentile(times, [50, 99])
    return {"count": len(times), "mean": times.mean(), "p50": p50, "p99": p99, "max": times.max()}


def flow_completion(flows: pa.Table, messages: pa.Table | None) -> dict[str, Any]:
    """`completion_times` of the messages where they were recorded, with jain_index of their rates (size / time); else
    those of the members of all operations, from the arrival of the last member."""
    if messages is None:
        return {"of": "members", **completion_times(numbers(flows, "start"), numbers(flows, "end"))}
    start, end = numbers(messages, "start"), numbers(messages, "end")
    done = end > start
    rates = numbers(messages, "size")[done] / (end - start)[done]
    return {"of": "messages", **completion_times(start, end), "jain_index": jain_index(rates)}


def collectives(flows: pa.Table) -> list[dict[str, Any]]:
    """One row per job, label, kind, algorithm, choice, size [bytes] and number of ranks, by first appearance.

    Times [s] run from the arrival of an operation's last member to the end of its last member. algorithm_bandwidth =
    size / mean time, bus_bandwidth = algorithm_bandwidth * bus_factor of its kind [bytes/s]. Unfinished operations
    count and nothing else.
    """
    if not flows.num_rows:
        return []
    operation = _operations(flows)
    keys = ("job", "label", "kind", "algorithm", "choice", "size", "ranks")
    _, first, group = np.unique(joint(*(operation[k] for k in keys)), return_index=True, return_inverse=True)
    time = operation["end"] - operation["start"]
    done = np.isfinite(time)
    count = np.bincount(group[done], minlength=len(first))
    total = np.bincount(group[done], time[done], len(first))
    shortest, longest = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    np.minimum.at(shortest, group[done], time[done])
    np.maximum.at(longest, group[done], time[done])
    unfinished = np.bincount(group[~done], minlength=len(first))
    names = {k: text(flows, k)[1] for k in keys[:5]}
    rows = []
    for g in np.argsort(first, kind="stable"):
        row = {k: names[k][operation[k][first[g]]] for k in names}
        row |= {"size": float(operation["size"][first[g]]), "ranks": int(operation["ranks"][first[g]])}
        row |= {"count": int(count[g]), "unfinished": int(unfinished[g])}
        mean = total[g] / count[g] if count[g] else np.nan
        row |= {"time_mean": mean, "time_min": shortest[g], "time_max": longest[g]}
        row["algorithm_bandwidth"] = row["size"] / mean if mean > 0 else np.nan
        row["bus_bandwidth"] = row["algorithm_bandwidth"] * KINDS[row["kind"]].bus_factor(row["ranks"])
        rows.append(row)
    return rows


def _operations(flows: pa.Table) -> dict[str, np.ndarray]:
    """One row per operation, in the order of job and number; end is NaN unless every member has ended."""
    codes = {k: text(flows, k)[0] for k in ("job", "label", "kind", "algorithm", "choice")}
    order = np.lexsort((numbers(flows, "operation"), codes["job"]))
    key = joint(codes["job"], numbers(flows, "operation"))[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return {k: column[order][first] for k, column in codes.items()} | {
        "size": numbers(flows, "size")[order][first],
        "ranks": np.diff(first, append=len(key)),
        "start": np.maximum.reduceat(numbers(flows, "start")[order], first),
        "end": np.maximum.reduceat(numbers(flows, "end")[order], first),
    }
