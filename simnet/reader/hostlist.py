"""Slurm's hostlist expressions: 'rack[1-2]n[01-16,20],login' stands for rack1n01, rack1n02, ... rack2n20 and login."""

import re
from itertools import product

MOST = 1_000_000
"""Expressions that stand for more names are refused."""

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expand(text: str) -> list[str]:
    """The names that an expression stands for, in order. Raises ValueError with a sentence."""
    names: list[str] = []
    for part in _parts(text):
        names += _names(part, MOST - len(names))
    return names


def _parts(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if depth not in (0, 1):
            raise ValueError(f"'{_short(text)}': brackets do not match")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    if depth:
        raise ValueError(f"'{_short(text)}': a bracket is not closed")
    return parts


def _names(part: str, most: int) -> list[str]:
    if not part:
        raise ValueError("an empty name in a list")
    pieces = re.split(r"\[([^]]*)\]", part)
    choices, count = [], 1
    for i, piece in enumerate(pieces):
        choice = _numbers(piece, part, most) if i % 2 else [piece]
        count *= len(choice)
        if count > most:
            raise ValueError(f"'{_short(part)}' stands for more than {MOST:,} names")
        choices.append(choice)
    return ["".join(name) for name in product(*choices)]


def _numbers(ranges: str, part: str, most: int) -> list[str]:
    """'1-3,07' as ['1', '2', '3', '07']; the width of the lower end is kept."""
    numbers: list[str] = []
    for one in ranges.split(","):
        match = _RANGE.fullmatch(one)
        if not match:
            raise ValueError(f"'{_short(part)}': '{_short(one)}' is no number or range such as 01-16")
        low, high = match[1], match[2] or match[1]
        if int(high) < int(low):
            raise ValueError(f"'{_short(part)}': the range {low}-{high} runs backwards")
        if int(high) - int(low) >= most:
            raise ValueError(f"'{_short(part)}' stands for more than {MOST:,} names")
        numbers += (str(n).zfill(len(low)) for n in range(int(low), int(high) + 1))
    return numbers


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
