"""Where the values of an input stand: in a file, in an option of the command line, or in Python code."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from simnet.errors import InputError
from simnet.units import shown

Location = tuple[str | int, ...]
"""A value's place in the data: keys and list indices from the top, such as ('jobs', 0, 'ranks')."""

MAX_PROBLEMS = 100
"""So many problems are worth reading."""
_LONG = 60  # characters of a key


@dataclass(frozen=True)
class Source:
    """The origin of one input, for messages about it.

    name: the file as the user wrote it, '' for data from Python. lines: of every location in the text. aliases: a
    location that repeats another one (YAML's `*anchor` and `<<`). options: locations that an option has set, with
    the option.
    """

    name: str = ""
    lines: dict[Location, int] = field(default_factory=dict)
    aliases: dict[Location, Location] = field(default_factory=dict)
    options: dict[Location, str] = field(default_factory=dict)

    def line(self, location: Location) -> int | None:
        """The line of a location or, where the text lacks it, of the innermost mapping or list around it."""
        if location in self.lines:
            return self.lines[location]
        for end in range(len(location), -1, -1):
            start = location[:end]
            if start in self.aliases:
                return self.line(self.aliases[start] + location[end:])
            if start in self.lines:
                return self.lines[start]
        return None

    def option(self, location: Location) -> str | None:
        """The option that has set a location or something around it."""
        inwards = (location[:end] for end in range(len(location), -1, -1))
        return next((self.options[start] for start in inwards if start in self.options), None)

    def say(self, location: Location, sentence: str) -> str:
        """'file:line: path: sentence', '--set a.b=c: path: sentence' or, for Python data, 'path: sentence'."""
        line = self.line(location)
        place = self.option(location) or (f"{self.name}:{line}" if line else self.name)
        return ": ".join(part for part in (place, path(location), sentence) if part)

    def error(self, problems: Iterable[tuple[Location, str]]) -> InputError:
        """One InputError of all (location, sentence) pairs, in the order of their lines; options come last."""

        def order(problem: tuple[Location, str]) -> tuple[bool, int]:
            return self.option(problem[0]) is not None, self.line(problem[0]) or 0

        said = dict.fromkeys(self.say(location, sentence) for location, sentence in sorted(problems, key=order))
        more = ["... and more"] if len(said) > MAX_PROBLEMS else []
        return InputError("\n".join([*list(said)[:MAX_PROBLEMS], *more]))


def path(location: Location) -> str:
    """A location as `--set` writes it: 'jobs.0.ranks'."""
    keys = [str(key) for key in location]
    return ".".join(key if key.isprintable() and len(key) <= _LONG else shown(key) for key in keys)
