"""From the replayed jobs to the columns of a result's `tasks` and `flows` tables."""

from typing import Any

import numpy as np

from simnet.engine.replay import JobReplay
from simnet.workload.task_graph import STREAMS

# `result` turns (codes, names) into text columns without a string per row.
Coded = tuple[np.ndarray, list[str]]


def task_columns(jobs: list[JobReplay], device_names: list[list[str]]) -> dict[str, Any]:
    """Columns of the tasks that began; device_names: by job, then rank. Text columns are (codes, names)."""
    parts: dict[str, list] = {}
    kinds, names, devices = ["compute"], [], []
    offset = 0
    for number, job in enumerate(jobs):
        graph = job.plan.graph
        begun = np.array(job.begun)
        rows = np.flatnonzero(~np.isnan(begun))
        kind_codes = np.zeros(len(graph.operations) + 1, np.int32)  # the last stands for -1: compute
        for i, operation in enumerate(graph.operations):
            if operation.kind not in kinds:
                kinds.append(operation.kind)
            kind_codes[i] = kinds.index(operation.kind)
        operation = graph.operation[rows]
        columns = {
            "job": np.full(len(rows), number, np.int32),
            "device": graph.rank[rows] + len(devices),
            "stream": graph.stream[rows].astype(np.int32),
            "name": graph.name[rows] + len(names),
            "kind": kind_codes[operation],
            "rank": graph.rank[rows],
            "operation": np.where(operation < 0, -1, operation + offset),
            "start": begun[rows],
            "end": np.array(job.ended)[rows],
        }
        for key, column in columns.items():
            parts.setdefault(key, []).append(column)
        names += graph.names
        devices += device_names[number]
        offset += len(graph.operations)
    joined = {key: np.concatenate(columns) for key, columns in parts.items()}
    words = {"job": [j.plan.name for j in jobs], "device": devices, "stream": list(STREAMS), "name": names, "kind": kinds}
    return {key: (column, words[key]) if key in words else column for key, column in joined.items()}
