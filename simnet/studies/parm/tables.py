"""The tables of the study: a row per configuration, and what they say together."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Row = Mapping[str, Any]

PUBLISHED = {"smallest": 1.13, "largest": 5.77, "share": 0.60}
"""Of the paper's abstract and introduction."""
DERIVED = {
    (1, 2): 1.25, (1, 4): 1.41, (2, 1): 1.95, (2, 2): 2.46, (2, 4): 2.78, (4, 1): 3.07, (4, 2): 4.77, (4, 4): 5.46,
}  # fmt: skip
"""Average speedup by (N_MP, N_ESP) on the 32-GPU grid, derived by hand from the alpha-beta formulas with SAA hidden."""
DERIVED_SHARES = {1: 0.61, 2: 0.79, 4: 0.89}
"""Average share of communication in the baseline by N_ESP, derived likewise."""


def average_by(rows: Iterable[Row], key: Callable[[Row], Any] | str, value: str) -> dict[Any, float]:
    """Mean of a column for every value of a key, in order of the key."""
    of = key if callable(key) else lambda row: row[key]
    groups: dict[Any, list[float]] = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row[value])
    return {name: float(np.mean(groups[name])) for name in sorted(groups)}


def groups_of(row: Row) -> tuple[int, int]:
    """(N_MP, N_ESP)."""
    return row["model_parallel"], row["expert_sharding"]


def choice(rows: Sequence[Row]) -> dict[str, float]:
    """How well parm_auto chose where there is something to choose, N_MP > 1.

    right: share of configurations where it took the faster schedule (equal times are right either way); worst: largest
    loss, time of its choice / time of the faster one - 1; s1: share of configurations where S1 is the faster one.
    """
    several = [row for row in rows if row["model_parallel"] > 1]
    best = np.array([min(row["parm_s1"], row["parm_s2"]) for row in several])
    losses = np.array([row["parm_auto"] for row in several]) / best - 1
    faster = np.array([row["parm_s1"] <= row["parm_s2"] for row in several])
    return {"right": float((losses < 1e-9).mean()), "worst": float(losses.max()), "s1": float(faster.mean())}


def extremes(rows: Sequence[Row], value: str = "speedup") -> tuple[float, float, float]:
    """Smallest, mean and largest of a column."""
    values = np.array([row[value] for row in rows])
    return float(values.min()), float(values.mean()), float(values.max())


def to_csv(rows: Sequence[Row]) -> str:
    """All rows, with the columns of the first one, empty where a row has nothing; numbers with 6 digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
    return text.getvalue()


def markdown(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table of a README."""
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
