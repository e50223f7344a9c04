"""What nccl-tests printed, as cases of a suite of one: your own measurements against a topology of yours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from simnet import reader
from simnet.errors import InputError
from simnet.experiment import Experiment
from simnet.params import nearest
from simnet.run import run
from simnet.units import SIZE
from simnet.validation.cases import Case

COLLECTIVES = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send_recv",
}
"""Programs of nccl-tests (`all_reduce_perf`) and the collectives of simnet."""

_MICRO = 1e-6
_TAGGED = re.compile(r"^\[\d+,\d+\]<std\w+>:\s?")  # mpirun --tag-output
_PROGRAM = re.compile(rf"\b({'|'.join(sorted(COLLECTIVES, key=len, reverse=True))})_perf\b")
_RANK = re.compile(r"^#\s+Rank\s+(\d+)\b")
_HEADER = re.compile(r"^#\s+size\s+count\s+type\b")
_ROW = re.compile(r"^\s*\d+\s")


@dataclass(frozen=True)
class Log:
    """A table that nccl-tests printed. sizes [bytes]; times [s], out of place; root: 0 where none is printed."""

    path: Path
    collective: str
    ranks: int
    root: int
    sizes: tuple[int, ...]
    times: tuple[float, ...]


def read(path: Path, collective: str | None = None, ranks: int | None = None) -> Log:
    """Read the output of a program of nccl-tests.

    collective, ranks: instead of what the log says; it names the program in newer versions only, and ranks not always.
    Raises InputError with the line.
    """
    try:
        lines = [_TAGGED.sub("", line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    columns, rows = _table(path, lines)
    sizes, times, roots = zip(*(_row(f"{path}:{number}", columns, line) for number, line in rows))
    if len(set(sizes)) < len(sizes):
        twice = next(number for i, (number, _) in enumerate(rows) if sizes[i] in sizes[:i])
        raise InputError(f"{path}:{twice}: a size that stood in the table before; one table at a time")
    found = {int(match[1]) for line in lines if (match := _RANK.match(line))}
    ranks = ranks or len(found)
    if not ranks:
        raise InputError(f"{path}: no line such as '#  Rank  0 ...' tells the number of ranks; give --ranks")
    return Log(Path(path), collective or _collective(path, lines), ranks, max(*roots, 0, 0), sizes, times)


def _table(path: Path, lines: list[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Names of columns, and rows with their line numbers."""
    headers = [number for number, line in enumerate(lines, 1) if _HEADER.match(line)]
    if not headers:
        raise InputError(f"{path}: no table of nccl-tests, whose header reads '#  size  count  type ... time ...'")
    if len(headers) > 1:
        raise InputError(f"{path}:{headers[1]}: a second table begins; one table at a time")
    rows = [(number, line) for number, line in enumerate(lines, 1) if number > headers[0] and _ROW.match(line)]
    if not rows:
        raise InputError(f"{path}:{headers[0]}: the table has no rows")
    return lines[headers[0] - 1].lstrip("# ").split(), rows


def _row(place: str, columns: list[str], line: str) -> tuple[int, float, int]:
    """Size [bytes], time out of place [s] and root of a row."""
    values = line.split()
    if len(values) < columns.index("time") + 1:
        raise InputError(f"{place}: the row has {len(values)} columns, the header {len(columns)}: {', '.join(columns)}")
    named = dict(reversed(list(zip(columns, values))))  # the first of columns of one name, which is out of place
    try:
        size, time, root = int(named["size"]), float(named["time"]) * _MICRO, int(named.get("root", 0))
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None
    if size <= 0 or not 0 < time < float("inf"):
        raise InputError(f"{place}: size and time must be above 0, got {named['size']} B and {named['time']} us")
    return size, time, root


def _collective(path: Path, lines: list[str]) -> str:
    for text in (*lines, path.name):
        if match := _PROGRAM.search(text):
            return COLLECTIVES[match[1]]
    for program in sorted(COLLECTIVES, key=len, reverse=True):
        if program in path.name:
            return COLLECTIVES[program]
    known = ", ".join(COLLECTIVES.values())
    raise InputError(f"{path}: neither log nor file name tell the program; give --collective, one of {known}")


def cases(log: Log, topology: Path) -> list[Case]:
    """A case per row of a log, on the machine of a topology file. Raises InputError."""
    if log.collective not in COLLECTIVES.values():
        known = list(COLLECTIVES.values())
        raise InputError(
            f"unknown collective '{log.collective}'; allowed: {', '.join(known)}{nearest(log.collective, known)}"
        )
    described = experiment(log, topology)
    shared = {
        "suite": "measured",
        "case": f"{log.collective} x{log.ranks}",
        "source": log.path.name,
        "simulate": partial(_replayed, described),
        "run": "measured",
    }
    return [
        Case(**shared, quantity=f"time of {SIZE.exact(size)}", unit="us", reference=time / _MICRO)
        for size, time in zip(log.sizes, log.times)
    ]


def experiment(log: Log, topology: Path) -> Experiment:
    """The experiment that repeats a log, as NCCL does it, on the first GPUs of a topology file. Raises InputError."""
    rooted = {"root": log.root} if log.collective in ("broadcast", "reduce") else {}
    workload = {
        "kind": "collective",
        "collective": log.collective,
        "algorithm": "auto",
        "sizes": [f"{size}B" for size in log.sizes],
        **rooted,
    }
    described = {
        "topology": {"file": str(topology)},
        "jobs": [{"workload": workload, "ranks": log.ranks}],
        "output": {"samples": 2},
    }
    return reader.validate(described, Experiment)


def _replayed(described: Experiment) -> Mapping[str, float]:
    finished = run(described)
    rows = finished.summary["collectives"]
    return {f"time of {SIZE.exact(row['size'])}": row["time_mean"] / _MICRO for row in rows}
