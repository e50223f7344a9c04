"""Runs side by side: what is measured of each, means and spreads over seeds, and which row is best in what."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from simnet.metrics.columns import joint, merged, plain
from simnet.result import RunResult, numbers


class Measure(NamedTuple):
    """A column of a comparison: title, unit ('s', 'B', '1' of ratios, '' of counts), and what counts as better."""

    title: str
    unit: str
    higher_is_better: bool = False


MEASURES: dict[str, Measure] = {
    "makespan": Measure("makespan", "s"),
    "fct_mean": Measure("FCT mean", "s"),
    "fct_p50": Measure("p50", "s"),
    "fct_p99": Measure("p99", "s"),
    "fct_max": Measure("max", "s"),
    "slowdown": Measure("slowdown", "1"),
    "mean_queue": Measure("mean queue", "B"),
    "peak_queue": Measure("peak queue", "B"),
    "marked": Measure("marks", ""),
    "pauses": Measure("pauses", ""),
    "dropped": Measure("drops", ""),
    "retransmitted_bytes": Measure("resent", "B"),
    "jain_index": Measure("Jain", "1", higher_is_better=True),
}
_ROUNDING = 1e-12
_OF_QUEUES = {"mean_queue": "mean", "peak_queue": "peak"} | {
    name: name for name in ("marked", "pauses", "dropped", "retransmitted_bytes")
}


def measures(result: RunResult, ideal: pa.Table | None = None) -> dict[str, float | None]:
    """The MEASURES of a run with messages; None where it has no such thing.

    FCT: from the moment a message may be sent to its last byte at the receiver. slowdown: mean over messages of FCT /
    its time on an idle network, from `ideal`, the messages of the same experiment without contention. mean_queue,
    peak_queue: of the link where it is largest. jain_index: of the messages' rates.
    """
    completion, queues = result.summary["flow_completion"], result.summary["queues"] or {}
    found = {"makespan": result.summary["makespan"], "jain_index": completion.get("jain_index")}
    found |= {f"fct_{name}": completion[name] for name in ("mean", "p50", "p99", "max")}
    found |= {name: queues.get(key) for name, key in _OF_QUEUES.items()}
    if ideal is not None and result.messages is not None:
        ratios = slowdowns(result.messages, ideal)
        found["slowdown"] = ratios.mean() if len(ratios) else None
    return plain({name: found.get(name) for name in MEASURES})


def slowdowns(messages: pa.Table, ideal: pa.Table) -> np.ndarray:
    """Time of every message that ended / the shortest time of one of its size between its devices in `ideal`."""
    size = np.concatenate([numbers(messages, "size"), numbers(ideal, "size")])
    key = joint(*(merged(end, messages, ideal)[0] for end in ("source", "destination")), size)
    _, key = np.unique(key, return_inverse=True)
    best = np.full(key.max(initial=-1) + 1, np.inf)
    np.fmin.at(best, key[messages.num_rows :], numbers(ideal, "end") - numbers(ideal, "start"))
    with np.errstate(invalid="ignore"):  # what a rank sends to itself takes no time
        ratio = (numbers(messages, "end") - numbers(messages, "start")) / best[key[: messages.num_rows]]
    return ratio[np.isfinite(ratio) & (ratio > 0)]


@dataclass(frozen=True)
class Row:
    """Runs that differ in nothing but their seeds.

    labels: value of every varied key. values: of every measure, one number per seed (None: it has none). settings: the
    policies that held. unused: sentences about settings that never acted. errors: what went wrong, one a run.
    """

    labels: dict[str, str]
    seeds: tuple[int, ...]
    values: dict[str, list[float | None]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The labels in a row."""
        return ", ".join(self.labels.values())

    def mean(self, measure: str) -> float | None:
        """Mean over the seeds; None if any run failed or has no such measure."""
        known = self.values.get(measure, [])
        if self.errors or not known or None in known:
            return None
        return float(np.mean(known))

    def spread(self, measure: str) -> float:
        """Sample standard deviation over the seeds; 0 for one seed."""
        if self.mean(measure) is None or len(self.values[measure]) < 2:
            return 0.0
        return float(np.std(self.values[measure], ddof=1))


def best_rows(rows: list[Row], measure: str) -> list[int]:
    """Numbers of the rows that are best in a measure, none if that cannot be said.

    Rows share the first place if they are exactly equal, but not if all rows are. Nobody has it where another row is
    behind by no more than the larger of the two spreads. No network model is better than another.
    """
    if len({row.labels.get("network.model") for row in rows}) > 1:
        return []
    means = {i: row.mean(measure) for i, row in enumerate(rows) if row.mean(measure) is not None}
    if len(means) < 2:
        return []
    sign = -1.0 if MEASURES[measure].higher_is_better else 1.0
    first = min(means, key=lambda i: sign * means[i])
    equal = [i for i in means if abs(means[i] - means[first]) <= _ROUNDING * abs(means[first])]
    behind = {i: sign * (means[i] - means[first]) for i in means if i not in equal}
    clear = all(gap > max(rows[i].spread(measure), rows[first].spread(measure)) for i, gap in behind.items())
    return equal if behind and clear else []


def without_effect(rows: list[Row]) -> list[tuple[str, list[str]]]:
    """(key, values) of varied keys whose values gave exactly the same numbers, whatever the other keys were."""
    found = []
    sound = [row for row in rows if not row.errors]
    for key in dict.fromkeys(key for row in rows for key in row.labels):
        outcomes: dict[str, dict] = {}
        for row in sound:
            others = tuple(value for other, value in row.labels.items() if other != key)
            outcomes.setdefault(row.labels[key], {})[others] = row.values
        alike: list[tuple[dict, list[str]]] = []
        for value, outcome in outcomes.items():
            known = next((names for seen, names in alike if seen == outcome), None)
            known.append(value) if known else alike.append((outcome, [value]))
        found += [(key, names) for _, names in alike if len(names) > 1]
    return found


def to_csv(rows: list[Row]) -> str:
    """CSV in seconds and bytes: a line per row with means, spreads (of several seeds) and where it is best."""
    several = any(len(row.seeds) > 1 for row in rows)
    best = {name: best_rows(rows, name) for name in MEASURES}
    out = io.StringIO()
    settings = list(dict.fromkeys(key for row in rows for key in row.settings))
    columns = [column for name in MEASURES for column in ([name, f"{name}_spread"] if several else [name])]
    writer = csv.writer(out, lineterminator="\n")
    labels = list(rows[0].labels) if rows else []
    writer.writerow([*labels, "seeds", *columns, "best", *(key for key in settings if key not in labels), "error"])
    for i, row in enumerate(rows):
        cells: list[Any] = [*row.labels.values(), len(row.seeds)]
        for name in MEASURES:
            mean = row.mean(name)
            cells.append("" if mean is None else repr(mean))
            if several:
                cells.append("" if mean is None else repr(row.spread(name)))
        cells.append(" ".join(name for name in MEASURES if i in best[name]))
        cells += [row.settings.get(key, "") for key in settings if key not in labels]
        writer.writerow([*cells, "; ".join(dict.fromkeys(row.errors))])
    return out.getvalue()


def row_of(labels: Mapping[str, str], runs: list[tuple[int, dict[str, Any] | None, str]]) -> Row:
    """A row from its runs: (seed, what `sweep.comparing.measured` returned, error) each."""
    good = [found for _, found, _ in runs if found]
    return Row(
        labels=dict(labels),
        seeds=tuple(seed for seed, _, _ in runs),
        values={name: [found["measures"][name] for found in good] for name in MEASURES},
        settings={k: v for k, v in good[0]["network"].items() if k != "unused"} if good else {},
        unused=tuple(dict.fromkeys(s for found in good for s in found["network"]["unused"])),
        errors=tuple(error for _, _, error in runs if error),
    )
