"""Answers of a study, kept as they come: an interrupted study goes on where it was."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import simnet
from simnet.sweep.workers import each

Progress = Callable[[int, int], None]  # (answers so far, of how many)


def answers(
    function: Callable[[Any], dict[str, Any]],
    items: Sequence[Any],
    path: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """function(item) of every item, in order; what `path` holds of an earlier, interrupted call is not asked again.

    items: dataclasses of plain values, distinct. function: at the top of a module; its answers are plain values, a
    failure is {"error": text} and is asked again by the next call. path: a file of JSON lines that is deleted by
    whoever has used all answers; one that another version of simnet has left is begun anew.
    """
    keys = [json.dumps(asdict(item)) for item in items]
    known = _read(path)
    missing = [i for i, key in enumerate(keys) if key not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    if not known:
        path.write_text(json.dumps(_stamp()), encoding="utf-8")
    with path.open("a", encoding="utf-8") as kept:
        kept.write("\n")  # the last line may have been cut off
        for number, answer in each(function, [items[i] for i in missing], _died, jobs):
            key = keys[missing[number]]
            known[key] = answer
            if "error" not in answer:
                kept.write(f'{{"item": {key}, "answer": {json.dumps(answer)}}}\n')
                kept.flush()
            if progress:
                progress(sum(key in known for key in keys), len(keys))
    return [known[key] for key in keys]


def _died(item: Any, reason: str) -> dict[str, Any]:
    return {"error": reason}


def _read(path: Path) -> dict[str, Any]:
    """Answers by item; none where the file is of another version. Lines that were cut off are left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    if not rows or rows[0] != _stamp():
        return {}
    return {json.dumps(row["item"]): row["answer"] for row in rows[1:]}


def _stamp() -> dict[str, str]:
    """What answers depend on besides their item: simnet's own code."""
    digest = hashlib.sha256()
    for source in sorted(Path(simnet.__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return {"simnet": digest.hexdigest()}
