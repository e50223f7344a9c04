"""YAML text to plain data that knows its lines, without YAML's surprises.

PyYAML's parser gives events with their marks; values follow the core rules of YAML 1.2 (https://yaml.org/spec/1.2.2,
section 10.3): 1e-6 is a number, while 12:30, on, off, yes, no, 0x10 and dates are text. Tags are refused, aliases
may not expand without bound, and a repeated key is an error.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from simnet.reader.source import Location
from simnet.units import shown

MAX_NODES = 1_000_000
MAX_DEPTH = 100

NULL = re.compile(r"(~|null|Null|NULL|)\Z")
BOOL = re.compile(r"(true|True|TRUE|false|False|FALSE)\Z")
INT = re.compile(r"[-+]?[0-9]+\Z")
FLOAT = re.compile(r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z")
MERGE = re.compile(r"<<\Z")
_MAX_DIGITS = 100  # Python refuses to convert very long integers; such a number is a float
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where PyYAML was built with it, is 20 times faster


class NotYaml(ValueError):  # noqa: N818
    """Text that cannot be read at all; args are the line and a sentence."""


@dataclass
class Tree:
    """Plain data, the line of every location, which locations repeat another, and (location, sentence) problems."""

    data: Any = None
    lines: dict[Location, int] = field(default_factory=dict)
    aliases: dict[Location, Location] = field(default_factory=dict)
    problems: list[tuple[Location, str]] = field(default_factory=list)

    def below(self, key: str) -> "Tree":
        """The tree of a mapping with this one below `key`."""
        lines = {(): 1} | {(key, *location): line for location, line in self.lines.items()}
        aliases = {(key, *location): (key, *other) for location, other in self.aliases.items()}
        return Tree({key: self.data}, lines, aliases, [((key, *place), text) for place, text in self.problems])


class _Anchored(NamedTuple):
    value: Any
    location: Location
    nodes: int
    depth: int


def parse(text: str) -> Tree:
    """Read one YAML document; an empty one holds None. Raises NotYaml."""
    control = _CONTROL.search(text)
    if control:
        code = f"U+{ord(control.group()):04X}"
        raise NotYaml(_line_at(text, control.start()), f"holds the control character {code}; is this a binary file?")
    try:
        return _Composer(text).document()
    except yaml.MarkedYAMLError as error:
        raise NotYaml(*_syntax_problem(error, text)) from None
    except yaml.YAMLError as error:
        raise NotYaml(1, f"not valid YAML: {error}") from None


def scalar(text: str) -> Any:
    """The value of text without quotes."""
    if NULL.match(text):
        return None
    if BOOL.match(text):
        return text[0] in "tT"
    if INT.match(text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if FLOAT.match(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


class _Composer:
    """Builds the tree from the parser's events; one use."""

    def __init__(self, text: str):
        self.events = yaml.parse(text, Loader=_PARSER)
        self.tree = Tree()
        self.anchors: dict[str, _Anchored | None] = {}  # None while its value is still open
        self.nodes = 0
        self.deepest = 0

    def document(self) -> Tree:
        self.tree.lines[()] = 1
        next(self.events)  # stream start
        if isinstance(next(self.events), yaml.DocumentStartEvent):
            first = next(self.events)
            self.tree.lines[()] = _line(first)
            self.tree.data = self.value(first, ())
            next(self.events)  # document end
            following = next(self.events)
            if isinstance(following, yaml.DocumentStartEvent):
                raise NotYaml(_line(following), "a second document starts here; one file holds one")
        return self.tree

    def value(self, event: yaml.Event, location: Location) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, location)
        self.count(event, 1, len(location))
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.problem(location, f"the tag {shown(tag)} is not allowed; write plain values, text in quotes")
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        nodes, deepest, self.deepest = self.nodes, self.deepest, len(location)
        value = self.content(event, location)
        if event.anchor is not None:
            depth = self.deepest - len(location)
            self.anchors[event.anchor] = _Anchored(value, location, self.nodes - nodes + 1, depth)
        self.deepest = max(self.deepest, deepest)
        return value

    def content(self, event: yaml.Event, location: Location) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(location)
        return self.mapping(location)

    def sequence(self, location: Location) -> list:
        values = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            place = (*location, len(values))
            self.tree.lines[place] = _line(event)
            values.append(self.value(event, place))
        return values

    def mapping(self, location: Location) -> dict:
        values: dict[str, Any] = {}
        merged = None
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = event.value if isinstance(event, yaml.ScalarEvent) else "?"
            place = (*location, key)
            is_merge = key == "<<" and event.implicit[0]
            if key in values or (is_merge and merged is not None):
                self.problem(place, f"this key is there twice, first on line {self.tree.lines[place]}")
                self.tree.aliases.pop(place, None)
            self.tree.lines[place] = _line(event)
            if not isinstance(event, yaml.ScalarEvent):
                self.problem(place, "a key must be plain text")
                self.value(event, place)
            value = self.value(next(self.events), place)
            if is_merge:
                merged = value
            else:
                values[key] = value
        if merged is not None:
            self.merge(values, merged, location)
        return values

    def merge(self, values: dict, merged: Any, location: Location) -> None:
        """YAML's `<<: *base`: keys of one or several mappings, unless the mapping has its own or an earlier one has."""
        place = (*location, "<<")
        rows = {(): merged} if isinstance(merged, dict) else dict(enumerate(merged if isinstance(merged, list) else []))
        if not rows or not all(isinstance(row, dict) for row in rows.values()):
            self.problem(place, "'<<' takes a mapping or a list of mappings")
            return
        for index, row in rows.items():
            origin = place if index == () else (*place, index)
            for key in [key for key in row if key not in values]:
                values[key] = row[key]
                self.tree.aliases[(*location, key)] = (*origin, key)

    def alias(self, event: yaml.AliasEvent, location: Location) -> Any:
        if event.anchor not in self.anchors:
            raise NotYaml(_line(event), f"{shown('*' + event.anchor)} refers to an anchor that is not above it")
        anchored = self.anchors[event.anchor]
        if anchored is None:
            raise NotYaml(_line(event), f"{shown('*' + event.anchor)} stands inside the value that it repeats")
        self.count(event, anchored.nodes, len(location) + anchored.depth)
        self.tree.aliases[location] = anchored.location
        return anchored.value

    def count(self, event: yaml.Event, nodes: int, depth: int) -> None:
        self.nodes += nodes
        self.deepest = max(self.deepest, depth)
        if self.nodes > MAX_NODES:
            raise NotYaml(_line(event), f"expands to more than {MAX_NODES:,} values")
        if self.deepest > MAX_DEPTH:
            raise NotYaml(_line(event), f"nested deeper than {MAX_DEPTH} levels")

    def problem(self, location: Location, sentence: str) -> None:
        self.tree.problems.append((location, sentence))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _syntax_problem(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """The line of a syntax error and what to do about it, in words for people who do not know YAML's grammar."""
    rows = text.splitlines() or [""]
    mark = error.problem_mark or error.context_mark
    row = min(mark.line, len(rows) - 1) if mark else 0
    opened = error.context_mark.line + 1 if error.context_mark else row + 1
    problem, context = error.problem or "", error.context or ""
    character = rows[row][mark.column : mark.column + 1] if mark else ""
    if "\t" in rows[row][: len(rows[row]) - len(rows[row].lstrip())]:
        advice = "indent with spaces, not tabs"
    elif "cannot start any token" in problem:
        advice = f"text that starts with '{character}' needs quotes"
    elif "mapping values are not allowed" in problem:
        advice = "a ':' where no key can stand; check the indentation, and put text that holds ': ' in quotes"
    elif "scalar" in context and "end of stream" in problem:
        advice = f"the quote that opens on line {opened} is never closed"
    elif context.endswith(("flow sequence", "flow mapping")):
        bracket = "{" if "mapping" in context else "["
        advice = f"the '{bracket}' of line {opened} is not closed, or a ',' is missing"
    elif "block" in context:
        advice = f"does not line up with what starts on line {opened}"
    else:
        advice = " ".join(part for part in (problem, context) if part)
    return row + 1, f"not valid YAML: {advice}"
