"""Lines of text files that other programs wrote, with the place of each for messages."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simnet.errors import InputError
from simnet.units import shown

MAX_SIZE = 64 * 2**20
"""Larger files [bytes] are refused."""


@dataclass(frozen=True)
class Line:
    """The words of a line, and where it stands."""

    file: Path
    number: int
    words: tuple[str, ...]

    def error(self, sentence: str) -> InputError:
        """The problem, placed."""
        return InputError(f"{self.file}:{self.number}: {sentence}")

    def integer(self, at: int, what: str, least: int = 0) -> int:
        """Word `at` as a whole number. Raises InputError."""
        number = self._number(at, what, int, "a whole number")
        if number < least:
            raise self.error(f"{what} must be at least {least}, got {number}")
        return number

    def decimal(self, at: int, what: str) -> float:
        """Word `at` as a number of at least 0. Raises InputError."""
        number = self._number(at, what, float, "a number")
        if not 0 <= number < float("inf"):
            raise self.error(f"{what} must be finite and at least 0, got {self.words[at]}")
        return number

    def _number(self, at: int, what: str, read: Callable, kind: str):
        if at >= len(self.words):
            raise self.error(f"the line ends where {what} should be")
        try:
            return read(self.words[at])
        except ValueError:
            raise self.error(f"{what} should be {kind}, got {shown(self.words[at])}") from None


def read(path: str | Path, comment: str = "#") -> list[Line]:
    """The lines of a text file that hold words and do not begin with `comment`. Raises InputError."""
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            raw = stream.read(MAX_SIZE + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(raw) > MAX_SIZE:
        raise InputError(f"{path}: is larger than {MAX_SIZE // 2**20} MiB, the most that is read")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8; is this a binary file?") from None
    lines = [Line(path, i, tuple(row.split())) for i, row in enumerate(text.split("\n"), 1)]
    lines = [line for line in lines if line.words and not line.words[0].startswith(comment)]
    if not lines:
        raise InputError(f"{path}:1: the file is empty")
    return lines
