"""What happened in a run, as data: tables with units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

TEXT = pa.dictionary(pa.int32(), pa.string())
NUMBER, COUNT = pa.int32(), pa.int64()


def _schema(**columns: pa.DataType | str) -> pa.Schema:
    """A schema; text as type stands for float64 with that unit, which goes into the column's metadata."""
    return pa.schema([
        pa.field(name, pa.float64(), nullable=False, metadata={"unit": kind})
        if isinstance(kind, str)
        else pa.field(name, kind, nullable=False)
        for name, kind in columns.items()
    ])  # fmt: skip


TASKS = _schema(
    job=TEXT, device=TEXT, stream=TEXT, name=TEXT, kind=TEXT, rank=NUMBER, operation=NUMBER, start="s", end="s"
)  # fmt: skip
FLOWS = _schema(
    job=TEXT, operation=NUMBER, label=TEXT, kind=TEXT, algorithm=TEXT, communicator=TEXT, rank=NUMBER, member=NUMBER,
    device=TEXT, size="B", sent="B", received="B", arrived="s", start="s", end="s", outcome=TEXT,
    choice=TEXT,
)  # fmt: skip
LINKS = _schema(
    link=TEXT, source=TEXT, destination=TEXT, kind=TEXT, rate="B/s", latency="s", bytes="B", utilization="1", peak="1",
    busy="s", packets=COUNT, marked=COUNT, dropped=COUNT, dropped_bytes="B", trimmed=COUNT, pauses=COUNT, paused="s",
    peak_queue="B", mean_queue="B", kmin="B", kmax="B", xoff="B",
)  # fmt: skip
SAMPLES = _schema(link=TEXT, time="s", utilization="1", queue="B")
MESSAGES = _schema(job=TEXT, operation=NUMBER, source=TEXT, destination=TEXT, size="B", start="s", end="s")

PROBES = _schema(
    flow=NUMBER, job=TEXT, source=TEXT, destination=TEXT, time="s", window="B", rate="B/s", throughput="B/s",
    inflight="B", rtt="s",
)  # fmt: skip

SCHEMAS = {
    "tasks": TASKS, "flows": FLOWS, "links": LINKS, "samples": SAMPLES, "messages": MESSAGES, "probes": PROBES,
}  # fmt: skip
OPTIONAL = ("messages", "probes")


class Coded(NamedTuple):
    """Text by number: row i says names[codes[i]]."""

    codes: np.ndarray
    names: list[str]


@dataclass(frozen=True, eq=False)
class RunResult:
    """Everything a picture, a metric or a page is made from.

    summary: what `metrics.summarize` returns. experiment: the resolved experiment as plain data. The tables:

    tasks: one row a task that started. kind is 'compute' or that of the collective; operation is -1 for compute.
    start [s] of a communication task is when its rank arrived; end [s] is NaN where it did not finish.
    flows: one row per member of a transfer or collective: bytes it sent and received (so far, if it was cut off), when
    it arrived, when the last member did (start) and when this one was through (end; NaN if it was not) [s]. choice:
    what a communication library chose for the operation and why, '' where none did.
    links: bytes carried, utilization (mean over the makespan, 0 to 1), peak (highest sample bin), busy [s]; then, 0 in
    a model without queues, packets sent, marked, dropped (dropped_bytes) and trimmed, pauses that reached it and how
    long they held it up (paused), the longest queue and the mean queue over the makespan; then the thresholds of
    marking and of pauses, 0 where there are none.
    samples: utilization and mean queue in bins of `bin_width`, by the start of the bin [s]; only bins with either.
    messages: every single flow between two devices, where the experiment asked for them.
    probes: window, rate of pacing, throughput since the sample before, bytes in flight and last round-trip time of
    sampled connections, numbered by `flow`, from their first packet on; window and rate are infinite where nothing
    limits them. In a model without windows there are none, and none if the experiment did not ask for them.
    """

    summary: dict[str, Any]
    experiment: dict[str, Any]
    tasks: pa.Table
    flows: pa.Table
    links: pa.Table
    samples: pa.Table
    messages: pa.Table | None = None
    probes: pa.Table | None = None

    @property
    def bin_width(self) -> float:
        """Width of the bins of `samples` [s]."""
        return float(self.samples.schema.metadata[b"bin_width"])


def table(schema: pa.Schema, columns: Mapping[str, Any], bin_width: float | None = None) -> pa.Table:
    """Assemble a table of one of the schemas above.

    columns: arrays of numbers; text as a sequence of strings, or Coded, which needs no string per row.
    bin_width [s]: for SAMPLES.
    """
    arrays = [_column(columns[field.name], field.type) for field in schema]
    if bin_width is not None:
        schema = schema.with_metadata({"bin_width": repr(float(bin_width))})
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(values: Any, kind: pa.DataType) -> pa.Array:
    if kind != TEXT:
        return pa.array(np.asarray(values, kind.to_pandas_dtype()))
    if isinstance(values, Coded):
        codes, names = np.asarray(values.codes, np.int32), pa.array(values.names, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(codes), names)
    return pa.array(values, pa.string()).dictionary_encode()


def text(table: pa.Table, name: str) -> Coded:
    """A text column of a table."""
    column = table[name].unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # a table without rows
        return Coded(np.zeros(0, np.int32), [])
    return Coded(column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist())


def numbers(table: pa.Table, name: str) -> np.ndarray:
    """A column of numbers as a numpy array."""
    return table[name].to_numpy()
