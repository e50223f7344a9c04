"""What the metrics share: keys made of several columns, and plain Python values for JSON."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from simnet.result import numbers, text


def is_compute(tasks: pa.Table) -> np.ndarray:
    """Which tasks compute (bool[tasks]); the others are members of a transfer or collective."""
    codes, names = text(tasks, "kind")
    return np.array([name == "compute" for name in names], bool)[codes]


def merged(column: str, *tables: pa.Table) -> tuple[np.ndarray, list[str]]:
    """A text column of several tables below one another, as codes into one list of names."""
    index: dict[str, int] = {}
    codes = []
    for table in tables:
        local, names = text(table, column)
        codes.append(np.array([index.setdefault(name, len(index)) for name in names], np.int64)[local])
    return np.concatenate(codes), list(index)


def joint(*columns: np.ndarray) -> np.ndarray:
    """One number per row, equal where all columns are, and ordered as the columns are, the first one foremost."""
    joint, span = np.zeros(len(columns[0]), np.int64), 1
    for column in columns if len(joint) else ():
        if column.dtype.kind == "f":
            column = np.unique(column, return_inverse=True)[1]
        low, width = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span * width >= 2**62:
            joint = np.unique(joint, return_inverse=True)[1]
            span = int(joint.max()) + 1
        joint, span = joint * width + (column - low), span * width
    return joint


def task_of_flow(tasks: pa.Table, flows: pa.Table) -> np.ndarray:
    """Row in `tasks` of every row in `flows` (int64[flows]), -1 where that member has not arrived."""
    jobs, _ = merged("job", tasks, flows)
    operation, rank = (np.concatenate([numbers(tasks, c), numbers(flows, c)]) for c in ("operation", "rank"))
    _, key = np.unique(joint(jobs, operation, rank), return_inverse=True)
    row = np.full(len(key), -1)
    row[key[: tasks.num_rows]] = np.arange(tasks.num_rows)
    return row[key[tasks.num_rows :]]


def rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Columns as a list of rows."""
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def plain(value: Any) -> Any:
    """Python numbers for numpy's, None for what is not finite."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value
