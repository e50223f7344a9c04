"""The product of what is varied: 'a.b=c,d' options to cases, and every problem with them before anything runs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from simnet.errors import InputError
from simnet.experiment import Experiment, load
from simnet.params import Params
from simnet.sweep.pool import Case

MOST_RUNS = 10_000


@dataclass(frozen=True)
class Cell:
    """One run of a matrix: its case, the value of every varied key, and its seed."""

    case: Case
    labels: dict[str, str]
    seed: int


def parse_vary(texts: Iterable[str]) -> dict[str, list[str]]:
    """Keys and values of 'a.b=c,d' options, {key: values}. Raises InputError with all problems."""
    varied: dict[str, list[str]] = {}
    problems = []
    for text in texts:
        key, equals, rest = text.partition("=")
        key, values = key.strip(), _split(rest)
        option = f"--vary {text if text.isprintable() else repr(text)}"
        if not equals or not all(key.split(".")) or not all(values):
            problems.append(f"{option}: write it as key=value,value, such as network.load_balancing.kind=ecmp,spray")
        elif key in varied:
            problems.append(f"{option}: {key} is varied already")
        elif len(set(values)) < len(values):
            problems.append(f"{option}: a value occurs twice")
        else:
            varied[key] = values
    if problems:
        raise InputError("\n".join(problems))
    return varied


def _split(text: str) -> list[str]:
    """Parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def matrix(path: str | Path, varied: dict[str, list[str]], overrides: Iterable[str] = (), seeds: int = 1) -> list[Cell]:
    """All combinations of the varied values, each with `seeds` seeds from the experiment's own on.

    Messages are recorded in each. Raises InputError for a value that no combination can take; a combination that
    is impossible as such stays in, to become a row with its error.
    """
    path, overrides = Path(path), list(overrides)
    combinations = [dict(zip(varied, values)) for values in product(*varied.values())]
    if len(combinations) * seeds > MOST_RUNS:
        raise InputError(f"--vary: {len(combinations) * seeds:,} runs; at most {MOST_RUNS:,} are taken on")
    experiments, errors = [], []
    for labels in combinations:
        try:
            experiments.append(load(path, _overrides(overrides, labels))[0])
            errors.append("")
        except InputError as error:
            experiments.append(None)
            errors.append(str(error))
    _refuse_hopeless(varied, combinations, errors)
    cells, taken = [], {}
    for labels, experiment in zip(combinations, experiments):
        first = experiment.seed if experiment else 0
        for seed in range(first, first + seeds):
            more = [*_overrides(overrides, labels), *([f"seed={seed}"] if seeds > 1 else []), "output.messages=true"]
            name = "-".join([*map(_slug, labels.values()), *([f"seed{seed}"] if seeds > 1 else [])])
            taken[name] = taken.get(name, 0) + 1
            name += f"-{taken[name]}" if taken[name] > 1 else ""
            cells.append(Cell(Case(name, path, tuple(more)), labels, seed))
    return cells


def _overrides(overrides: list[str], labels: dict[str, str]) -> list[str]:
    return [*overrides, *(f"{key}={value}" for key, value in labels.items())]


def _slug(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", value).strip("._")[:40] or "x"


def _refuse_hopeless(varied: dict[str, list[str]], combinations: list[dict], errors: list[str]) -> None:
    """Raise InputError for every value all of whose combinations are wrong."""
    lines: dict[str, None] = {}
    for key, values in varied.items():
        for value in values:
            with_it = [e for labels, e in zip(combinations, errors) if labels[key] == value]
            if all(with_it):
                shared = set.intersection(*(set(e.splitlines()) for e in with_it))
                lines |= dict.fromkeys(line for line in with_it[0].splitlines() if line in shared or not shared)
    if lines:
        options = [f"{key}={value}" for key, values in varied.items() for value in values]
        text = "\n".join(lines)
        for option in sorted(options, key=len, reverse=True):
            text = text.replace(f"--set {option}:", f"--vary {option}:")
        raise InputError(text)


def dropped_keys(path: str | Path, varied: dict[str, list[str]], overrides: Iterable[str] = ()) -> list[str]:
    """Sentences about keys of the file that a varied `kind` leaves behind."""
    try:
        experiment, source = load(path, list(overrides))
    except InputError:
        return []
    sentences = []
    for key, values in varied.items():
        keys = key.split(".")
        mapping = _at(experiment, keys[:-1])
        if keys[-1] != "kind" or not isinstance(mapping, Params):
            continue
        place = tuple(int(k) if k.isdigit() else k for k in keys[:-1])
        names = [name for name in sorted(mapping.model_fields_set - {"kind"}) if source.option((*place, name)) is None]
        others = [value for value in values if value != mapping.kind]
        if names and others:
            s = "s" if len(names) == 1 else ""
            held = f"hold{s} for {mapping.kind} only" if mapping.kind in values else f"belong{s} to {mapping.kind}"
            sentences.append(
                f"{', '.join(names)} of {'.'.join(keys[:-1])} in the file {held}: "
                f"{', '.join(others)} ran without, on {'its' if len(others) == 1 else 'their'} own defaults"
            )
    return sentences


def _at(experiment: Experiment, keys: list[str]) -> Any:
    value: Any = experiment
    for key in keys:
        try:
            value = value[int(key)] if isinstance(value, tuple) else _inner(value, key)
        except (AttributeError, IndexError, KeyError, ValueError):
            return None
    return value


def _inner(value: Any, key: str) -> Any:
    return value[key] if isinstance(value, dict) else getattr(value, key)
