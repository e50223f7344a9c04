"""What happened in a run, as data: tables with units, written whole to one directory, read back without the engine."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simnet import reader
from simnet.errors import InputError, SimnetError

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


# -- one directory, whole or not at all -----------------------------------------------------------------------


def next_directory(base: Path | str, name: str) -> Path:
    """`base/name-n` with the smallest n from 1 on that is free; ask for it right before writing."""
    n = 1
    while os.path.lexists(Path(base) / f"{name}-{n}"):
        n += 1
    return Path(base) / f"{name}-{n}"


def check_writable(directory: Path | str) -> None:
    """Raise InputError if no new result can be put at `directory`; leaves nothing behind."""
    directory = Path(directory)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(directory)
            raise InputError(f"{directory} exists already; nothing is overwritten, name a new directory")
        parent = next(p for p in directory.resolve().parents if p.exists())
        os.rmdir(tempfile.mkdtemp(prefix=".simnet-", dir=parent))
    except OSError as error:
        raise InputError(f"cannot write a result to {directory}: {error.strerror or error}") from None


def write(result: RunResult, directory: Path | str, files: Mapping[str, bytes] | None = None) -> Path:
    """Put a result, and further `files` (pictures, traces) by name, into a new directory; return it.

    The directory appears complete or not at all. Equal data gives equal bytes.
    Raises InputError where `check_writable` does, SimnetError if the disk fails or something else appeared there.
    """
    check_writable(directory)
    target = Path(directory).resolve()
    partial = target.with_name(f".{target.name}-{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        _fill(partial, result, files or {})
        os.rename(partial, target)
    except OSError as error:
        raise SimnetError(f"could not write the result to {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Path(directory)


def _fill(folder: Path, result: RunResult, files: Mapping[str, bytes]) -> None:
    (folder / "experiment.yaml").write_text(reader.dump(result.experiment), encoding="utf-8")
    (folder / "summary.json").write_text(_json(result.summary), encoding="utf-8")
    for name in SCHEMAS:
        content = getattr(result, name)
        if content is not None:
            pq.write_table(content, folder / f"{name}.parquet", compression="zstd", row_group_size=1 << 20)
    for name, content in files.items():
        with open(folder / name, "xb") as file:
            file.write(content)


def holds(directory: Path | str, experiment: Mapping[str, Any]) -> bool:
    """True if a directory holds a result of exactly this resolved experiment."""
    try:
        return (Path(directory) / "experiment.yaml").read_text(encoding="utf-8") == reader.dump(dict(experiment))
    except (OSError, ValueError):
        return False


def _json(data: dict) -> str:
    """JSON with one line per entry, and one per row of the entries that are tables."""

    def entry(value):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(f"    {json.dumps(row, allow_nan=False)}" for row in value) + "\n  ]"
        return json.dumps(value, allow_nan=False)

    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {entry(value)}" for key, value in data.items()) + "\n}\n"


def read(directory: Path | str) -> RunResult:
    """Read back what `write` wrote. Raises InputError if that is no result, or a damaged one."""
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"{directory} is no result: there is no such directory")
    if not (directory / "summary.json").is_file():
        raise InputError(f"{directory} is no result: it has no summary.json")
    readers = {"summary": _read_json, "experiment": _read_yaml} | dict.fromkeys(SCHEMAS, _read_table)
    return RunResult(**{field.name: readers[field.name](directory, field.name) for field in fields(RunResult)})


def _read_json(directory: Path, name: str) -> dict:
    path = directory / f"{name}.json"
    try:
        return _mapping(json.loads(path.read_text(encoding="utf-8")), path)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None


def _read_yaml(directory: Path, name: str) -> dict:
    path = directory / f"{name}.yaml"
    try:
        return _mapping(reader.parse(path.read_text(encoding="utf-8")), path)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None


def _mapping(data: Any, path: Path) -> dict:
    if not isinstance(data, dict):
        raise InputError(f"the result in {path.parent} is damaged: {path.name} holds no mapping")
    return data


def _read_table(directory: Path, name: str) -> pa.Table | None:
    path = directory / f"{name}.parquet"
    if name in OPTIONAL and not path.exists():
        return None
    try:
        with path.open("rb") as file:
            content = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(path, error) from None
    if not content.schema.equals(SCHEMAS[name]):
        raise InputError(
            f"the result in {directory} is damaged: {path.name} has other columns than this version writes"
        )
    if name == "samples" and b"bin_width" not in (content.schema.metadata or {}):
        raise InputError(f"the result in {directory} is damaged: {path.name} does not say how wide its bins are")
    return content


def _damaged(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
    return InputError(f"the result in {path.parent} is damaged: {path.name}: {reason}")
