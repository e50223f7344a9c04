"""Variants of an experiment side by side: run the matrix, make rows of it, and say what made a difference."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simnet.experiment import Network, load
from simnet.metrics.comparison import Row, measures, row_of, without_effect
from simnet.network import TrafficClass
from simnet.result import RunResult, numbers
from simnet.run import build, replayed
from simnet.sweep.matrix import dropped_keys, matrix
from simnet.sweep.pool import Case, Outcome, Progress, sweep
from simnet.units import SIZE, TIME

MODEL = "network.model"
_APART = 0.02  # of a completion time: what is worth an explanation
_MOST_OPERATIONS = 3


@dataclass(frozen=True)
class Comparison:
    """rows: one per combination. notes: sentences for the reader. outcomes: of every run, in order."""

    rows: list[Row]
    notes: list[str]
    outcomes: list[Outcome]


def compare(
    path: str | Path,
    varied: dict[str, list[str]],
    overrides: Iterable[str] = (),
    seeds: int = 1,
    directory: str | Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run an experiment with all combinations of the varied values. See `matrix` and `sweep` for the arguments.

    Raises InputError.
    """
    overrides = list(overrides)
    cells = matrix(path, varied, overrides, seeds)
    outcomes = sweep([cell.case for cell in cells], measured, directory, jobs, progress)
    rows, raw = [], []
    for first in range(0, len(cells), seeds):
        group = range(first, first + seeds)
        rows.append(row_of(cells[first].labels, [(cells[i].seed, outcomes[i].value, outcomes[i].error) for i in group]))
        raw.append(outcomes[first].value)
    notes = [*dropped_keys(path, varied, overrides), *_models_apart(rows, raw), *_no_difference(rows)]
    return Comparison(rows, notes, outcomes)


def measured(case: Case, finished: RunResult) -> dict[str, Any]:
    """What a comparison wants of a run: measures, the policies that held, times of operations, bytes of links."""
    experiment, source = load(case.path, list(case.overrides))
    classes = dict.fromkeys(experiment.network.classes, TrafficClass())
    alone = Network(model="analytic", changes=experiment.network.changes, classes=classes)
    ideal = replayed(build(experiment.model_copy(update={"network": alone}), source)).messages
    summary = finished.summary
    packets = experiment.network.packets
    return {
        "measures": measures(finished, ideal),
        "network": summary["network"],
        "operations": [(row["label"], row["size"], row["time_mean"]) for row in summary["collectives"]],
        "bytes": numbers(finished.links, "bytes"),
        "paused": float(numbers(finished.links, "paused").sum()),
        "wire": (packets.payload + packets.header) / packets.payload if summary["queues"] else 1.0,
    }


# -- what the numbers say -------------------------------------------------------------------------------------


def _no_difference(rows: list[Row]) -> list[str]:
    """Sentences about settings that cannot have mattered."""
    sentences = []
    for key, values in without_effect(rows):
        why = ""
        models = {row.settings.get("model") for row in rows if row.labels[key] in values}
        if key.startswith("network.") and key != MODEL and "packet" not in models:
            why = "; congestion control, transport, ports and packets exist in model: packet alone"
        sentences.append(f"{key} made no difference: {' and '.join(values)} gave the same numbers{why}")
    by_clause: dict[str, list[tuple[Row, str]]] = {}
    for row in rows:
        for sentence in row.unused:
            clause, _, detail = sentence.partition(": ")
            by_clause.setdefault(clause, []).append((row, detail))
    for clause, found in by_clause.items():
        names = list(dict.fromkeys(row.name for row, _ in found))
        where = "in every row" if len(names) == len(rows) else f"in {'; '.join(names)}"
        details = list(dict.fromkeys(detail for _, detail in found if detail))
        sentences.append(f"{clause} {where}" + (f" ({details[0]})" if len(details) == 1 else ""))
    reordered = [row for row in rows if row.mean("retransmitted_bytes") and _lossless(row)]
    if reordered:
        sentences.append(
            f"packets were sent again though none was lost in {'; '.join(row.name for row in reordered)}: "
            "overtaken packets count as lost to this transport"
        )
    return sentences


def _lossless(row: Row) -> bool:
    return not row.mean("dropped") and row.settings.get("trimming") == "no" and row.settings["transport"] == "go_back_n"


def _models_apart(rows: list[Row], raw: list[dict | None]) -> list[str]:
    """For rows that differ in the network model alone: how far they are apart, and what made the difference."""
    sentences = []
    for i, packet in enumerate(rows):
        if packet.labels.get(MODEL) != "packet" or packet.errors or not raw[i]:
            continue
        for j, other in enumerate(rows):
            rest = packet.labels | {MODEL: other.labels.get(MODEL)}
            if j != i and other.labels == rest and not other.errors and raw[j]:
                sentences.append(_apart(packet, raw[i], other, raw[j]))
    return sentences


def _apart(packet: Row, a: dict, other: Row, b: dict) -> str:
    ratio = {name: packet.mean(name) / other.mean(name) for name in ("makespan", "fct_mean") if other.mean(name)}
    text = f"{packet.name} against {other.name}: " + ", ".join(
        f"{title} {ratio[name]:.3f}" for name, title in (("makespan", "makespan x"), ("fct_mean", "mean FCT x"))
        if name in ratio
    )  # fmt: skip
    text += f"; headers alone make x {a['wire']:.3f}"
    causes = _causes(packet, a, b, other.labels[MODEL] == "analytic")
    if any(abs(value / a["wire"] - 1) > _APART for value in ratio.values()):
        text += f"; beyond that: {', '.join(causes)}" if causes else ""
        slower = [
            (time / before, label) for (label, size, time), (_, _, before) in zip(a["operations"], b["operations"])
            if time and before and abs(time / before / a["wire"] - 1) > _APART
        ]  # fmt: skip
        slower.sort(key=lambda row: -abs(np.log(row[0])))
        if len(a["operations"]) > 1 and slower:
            text += "; furthest apart: " + ", ".join(f"{name} x {r:.2f}" for r, name in slower[:_MOST_OPERATIONS])
    else:
        text += ", and nothing else is worth more than 2 %"
    return text


def _causes(packet: Row, a: dict, b: dict, ideal: bool) -> list[str]:
    """What the packet-level run knows and the other one does not, as far as it happened."""
    causes = ["flows share links"] if ideal else []
    if packet.mean("mean_queue"):
        causes.append(f"queueing (up to {SIZE.format(packet.mean('peak_queue'))} in one queue)")
    if packet.mean("pauses"):
        causes.append(f"{packet.mean('pauses'):,.0f} pauses ({TIME.format(a['paused'])} of all links together)")
    if packet.mean("dropped"):
        causes.append(f"{packet.mean('dropped'):,.0f} drops")
    if packet.mean("retransmitted_bytes"):
        causes.append("retransmissions")
    if len(a["bytes"]) == len(b["bytes"]) and a["bytes"].sum() > 0 and b["bytes"].sum() > 0:
        moved = 0.5 * np.abs(a["bytes"] / a["bytes"].sum() - b["bytes"] / b["bytes"].sum()).sum()
        if moved > 0.05:
            causes.append(f"{moved:.0%} of the bytes took other links (hash, acknowledgements)")
    return causes
