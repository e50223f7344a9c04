"""The matrix that `nvidia-smi topo -m` prints, out of a terminal or a post: which words join which devices.

Columns are apart by tabs or spaces, or run together; long lines are wrapped, and colours are switched on and off. What
one half of the matrix has lost stands in the other.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from simnet.errors import InputError
from simnet.reader import lines
from simnet.reader.lines import Line

PCIE_WORDS = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Distances over PCIe, from near to far."""

_OLD_WORDS = {"SOC": "SYS"}  # before driver 384
_CELLS = re.compile(rf"X|NV[1-9]\d{{0,3}}|{'|'.join([*PCIE_WORDS, *_OLD_WORDS])}")
_NAMES = re.compile(r"GPU\d+|NIC\d+|mlx5_bond_\d+|mlx5_\d+")
_COLOURS = re.compile(r"\x1b?\[\d*(?:;\d+)*m")
_AFTER_DEVICES = ("CPU", "NUMA", "GPU")  # first words of the headings CPU Affinity, NUMA Affinity, GPU NUMA ID
_UNREADABLE = ("?", "-", "--")
_MOST = 128  # devices of one server; the work grows with the cube


@dataclass
class Row:
    """A line of the matrix. known: column -> word; found: how many cells there were; numa: NUMA node, '' unknown."""

    line: Line
    words: list[str]
    known: dict[int, str] = field(default_factory=dict)
    found: int = 0
    numa: str = ""


@dataclass(frozen=True)
class Matrix:
    """Devices and how any two are joined. words: (i, j) with i < j -> NV# or one of PCIE_WORDS.

    lines: where each device is described; numa: something that is equal for GPUs of one NUMA node, '' unknown.
    """

    names: list[str]
    words: dict[tuple[int, int], str]
    lines: list[Line]
    numa: list[str]
    assumptions: list[str]

    @property
    def gpus(self) -> list[int]:
        """Which devices are GPUs, in the order of their numbers; all others are NICs."""
        numbers = {i: int(name[3:]) for i, name in enumerate(self.names) if name.startswith("GPU")}
        return sorted(numbers, key=numbers.get)


def read(path: Path) -> Matrix:
    """The matrix of a file. Raises InputError with file and line."""
    rows = [_plain(line) for line in lines.read(path)]
    rows = [line for line in rows if line.words]
    start = next((i for i, line in enumerate(rows) if re.search(r"(^| )GPU\d", " ".join(line.words))), None)
    if start is None:
        raise lines.read(path)[0].error("no matrix of `nvidia-smi topo -m`, which begins with a line 'GPU0 GPU1 ...'")
    header, first = rows[start], start
    names: list[str] = []
    while first < len(rows) and not _is_row(rows[first]):
        names += _names(rows[first])
        first += 1
    _check_names(header, names)
    found = _rows(rows[first:], names)
    for name, row in found.items():
        _read_cells(row, names.index(name), len(names))
    return _joined(header, names, found)


def _plain(line: Line) -> Line:
    words = " ".join(_COLOURS.sub(" ", word) for word in line.words).split()
    return Line(line.file, line.number, tuple(words))


def _is_row(line: Line) -> bool:
    return len(line.words) > 1 and bool(_cells(line.words[1]) or line.words[1] in _UNREADABLE)


def _cells(word: str) -> list[str]:
    """The cells that ran together in a word; [] where it is none."""
    cells = _CELLS.findall(word)
    return [_OLD_WORDS.get(cell, cell) for cell in cells] if "".join(cells) == word else []


def _names(line: Line) -> list[str]:
    names = []
    for word in line.words:
        if word in _AFTER_DEVICES or word.startswith("CPU"):
            break
        parts = _NAMES.findall(word)
        names += parts if "".join(parts) == word else [word]
    return names


def _check_names(header: Line, names: list[str]) -> None:
    if len(names) > _MOST:
        raise header.error(f"more than {_MOST} devices")
    for name in names:
        if not re.fullmatch(r"GPU\d{1,4}|(?!GPU)[A-Za-z][\w.:-]*", name):
            raise header.error(f"'{name[:40]}' is no column; they are GPU0, GPU1, ... and NICs such as NIC0 or mlx5_0")
    gpus = [int(name[3:]) for name in names if name.startswith("GPU")]
    if not gpus:
        raise header.error("this is a row of the matrix; the line above it that names the columns is missing")
    for name in names:
        if names.count(name) > 1:
            raise header.error(f"{name} is there twice")
    missing = [i for i in range(max(gpus)) if i not in gpus]
    if missing:
        raise header.error(f"GPU{missing[0]} is missing: the columns are {', '.join(names[:8])} ...")


def _rows(rest: list[Line], names: list[str]) -> dict[str, Row]:
    """Rows by name, each with the words of the lines over which it was wrapped."""
    found: dict[str, Row] = {}
    last = None
    for line in rest:
        first = line.words[0]
        if "legend" in " ".join(line.words[:2]).lower():
            break
        if first in names and first not in found:
            last = found[first] = Row(line, list(line.words[1:]))
        elif first in names:
            raise line.error(f"there are two rows of {first}, the other in line {found[first].line.number}")
        elif re.fullmatch(r"GPU\d+", first):
            raise line.error(f"a row of {first}, which is in no column; columns are {', '.join(names)}")
        elif last is not None:
            _append(last, line.words, len(names))
    return found


def _append(row: Row, words: tuple[str, ...], columns: int) -> None:
    """Go on with a row that was wrapped, maybe in the middle of a word."""
    done = sum(len(_cells(word)) for word in row.words)
    if row.words and done < columns and not _cells(words[0]) and _cells(row.words[-1] + words[0]):
        row.words[-1] += words[0]
        words = words[1:]
    row.words += words


def _read_cells(row: Row, own: int, columns: int) -> None:
    """Fill in what a row says. A side of its X with the wrong number of cells says nothing."""
    cells, rest = [], list(row.words)
    while rest and len(cells) < columns:
        found = ["?"] if rest[0] in _UNREADABLE else _cells(rest[0])
        if not found:
            break
        cells += found
        rest.pop(0)
    if rest and (len(cells) > columns or _cells(rest[0])):
        raise row.line.error(f"more cells than the {columns} columns that the heading names")
    if rest and len(cells) < columns and not re.fullmatch(r"[\d,-]+|N/A", rest[0]):
        known = ["X", "NV1, NV2, ...", *PCIE_WORDS]
        raise row.line.error(f"unknown kind of link '{rest[0]}'; known: {', '.join(known)}")
    row.numa = rest[1] if len(rest) > 1 and rest[1].isdigit() else " ".join(rest[:1]).replace("N/A", "")
    row.found = len(cells)
    if cells.count("X") != 1:
        return
    at = cells.index("X")
    if len(cells) == columns and at != own:
        raise row.line.error(f"the X is in column {at + 1}; that of this device is column {own + 1}")
    if at == own:
        row.known |= enumerate(cells[:at])
    if len(cells) - at == columns - own:
        row.known |= zip(range(own + 1, columns), cells[at + 1 :])
    row.known = {column: cell for column, cell in row.known.items() if cell != "?"}


def _joined(header: Line, names: list[str], rows: dict[str, Row]) -> Matrix:
    """Both halves of the matrix as one."""
    words, repaired = {}, {}
    for j, b in enumerate(names):
        for i, a in enumerate(names[:j]):
            upper = rows[a].known.get(j) if a in rows else None
            lower = rows[b].known.get(i) if b in rows else None
            if upper and lower and upper != lower:
                raise rows[b].line.error(
                    f"{b} and {a} are joined by {lower}, but line {rows[a].line.number} has {upper}"
                )
            if not (upper or lower):
                raise _lost(header, names, rows, a, b)
            words[i, j] = upper or lower
            for name, cell in ((a, upper), (b, lower)):
                if cell is None:
                    repaired[name] = repaired.get(name, 0) + 1
    notes = [
        f"{name}: {count} cells of its row are lost or moved, taken from the rows of the other devices."
        for name, count in repaired.items()
    ]
    places = [rows[name].line if name in rows else header for name in names]
    return Matrix(names, words, places, [rows[name].numa if name in rows else "" for name in names], notes)


def _lost(header: Line, names: list[str], rows: dict[str, Row], a: str, b: str) -> InputError:
    """Nothing says how two devices are joined."""
    for name in (b, a):
        if name not in rows:
            last = max((row.line for row in rows.values()), key=lambda line: line.number, default=header)
            return last.error(f"the matrix is cut off: there is no row of {name}, so nothing says how it joins {a}")
    worst = min((rows[a], rows[b]), key=lambda row: row.found)
    return worst.line.error(
        f"{worst.found} cells for {len(names)} columns, and no other row says how {a} and {b} are joined"
    )
