"""What happened in a run, as data: tables with units, written whole to one directory, read back without the engine."""

from simnet.result.directory import check_writable, holds, next_directory, read, write
from simnet.result.tables import (
    FLOWS,
    LINKS,
    MESSAGES,
    PROBES,
    SAMPLES,
    SCHEMAS,
    TASKS,
    Coded,
    RunResult,
    numbers,
    table,
    text,
)

__all__ = [
    "FLOWS",
    "LINKS",
    "MESSAGES",
    "PROBES",
    "SAMPLES",
    "SCHEMAS",
    "TASKS",
    "Coded",
    "RunResult",
    "check_writable",
    "holds",
    "next_directory",
    "numbers",
    "read",
    "table",
    "text",
    "write",
]
