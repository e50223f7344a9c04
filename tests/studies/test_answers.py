"""Answers of studies: kept, resumed, and begun anew where they are of another version."""

import json
from dataclasses import dataclass

from simnet.studies import answers as room
from simnet.studies.answers import answers


@dataclass(frozen=True)
class Number:
    """An item."""

    value: int


asked = []


def square(item):
    asked.append(item.value)
    return {"square": item.value**2}


def test_answers_come_in_order_and_are_not_asked_for_twice(tmp_path):
    path = tmp_path / "study" / "unfinished.jsonl"
    items = [Number(3), Number(1), Number(2)]
    asked.clear()
    progress = []
    assert answers(square, items[:2], path, jobs=1) == [{"square": 9}, {"square": 1}]
    told = answers(square, items, path, jobs=1, progress=lambda done, of: progress.append((done, of)))
    assert told == [{"square": 9}, {"square": 1}, {"square": 4}]
    assert asked == [3, 1, 2]
    assert progress == [(3, 3)]


def test_a_line_that_was_cut_off_is_asked_again(tmp_path):
    path = tmp_path / "unfinished.jsonl"
    answers(square, [Number(1), Number(2)], path, jobs=1)
    path.write_text(path.read_text()[:-5])
    asked.clear()
    assert answers(square, [Number(1), Number(2)], path, jobs=1) == [{"square": 1}, {"square": 4}]
    assert asked == [2]
    asked.clear()
    assert answers(square, [Number(1), Number(2)], path, jobs=1) == [{"square": 1}, {"square": 4}]
    assert asked == []


def fails_at_first(item):
    asked.append(item.value)
    return {"square": item.value**2} if asked.count(item.value) > 1 else {"error": "memory was short"}


def test_a_failure_is_told_but_asked_again(tmp_path):
    path = tmp_path / "unfinished.jsonl"
    asked.clear()
    assert answers(fails_at_first, [Number(2)], path, jobs=1) == [{"error": "memory was short"}]
    assert answers(fails_at_first, [Number(2)], path, jobs=1) == [{"square": 4}]


def test_answers_of_another_version_are_not_taken(tmp_path, monkeypatch):
    path = tmp_path / "unfinished.jsonl"
    answers(square, [Number(1)], path, jobs=1)
    monkeypatch.setattr(room, "_stamp", lambda: {"simnet": "another"})
    asked.clear()
    answers(square, [Number(1)], path, jobs=1)
    assert asked == [1]
    assert json.loads(path.read_text().splitlines()[0]) == {"simnet": "another"}
