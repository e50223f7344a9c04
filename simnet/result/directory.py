"""A result on disk: one directory, written whole or not at all, and read back."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simnet import reader
from simnet.errors import InputError, SimnetError
from simnet.result.tables import OPTIONAL, SCHEMAS, RunResult


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
    unfinished = target.with_name(f".{target.name}-{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir()
        _fill(unfinished, result, files or {})
        os.rename(unfinished, target)
    except OSError as error:
        raise SimnetError(f"could not write the result to {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
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
        what = "it is no directory, as `simnet run` leaves" if directory.exists() else "there is no such directory"
        raise InputError(f"{directory} is no result: {what}")
    if not (directory / "summary.json").is_file():
        raise InputError(f"{directory} is no result: it has no summary.json")
    readers = dict.fromkeys(SCHEMAS, _read_table)
    readers["summary"] = partial(_read_mapping, json.loads, ".json")
    readers["experiment"] = partial(_read_mapping, reader.parse, ".yaml")
    return RunResult(**{field.name: readers[field.name](directory, field.name) for field in fields(RunResult)})


def _read_mapping(parse: Callable[[str], Any], suffix: str, directory: Path, name: str) -> dict:
    path = directory / f"{name}{suffix}"
    try:
        data = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None
    if not isinstance(data, dict):
        raise InputError(f"the result in {directory} is damaged: {path.name} holds no mapping")
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
