"""YAML files and plain data to models, and back to YAML; whatever is wrong with the input is said in its own words.

Every problem reads 'file:line: path: sentence', one a line, all problems of a stage in one InputError.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from simnet.errors import InputError
from simnet.reader import options, yaml_tree
from simnet.reader.sentences import sentences
from simnet.reader.source import Location, Source, path

__all__ = ["Location", "Source", "dump", "load", "parse", "path", "read", "validate"]

MAX_SIZE = 16 * 2**20
"""Larger files [bytes] are refused."""

Model = TypeVar("Model", bound=BaseModel)


def read(file: str | Path, model: type[Model]) -> Model:
    """The model that a YAML file describes. Raises InputError with all problems."""
    return load(file, model)[0]


def load(
    file: str | Path,
    model: type[Model],
    overrides: Iterable[str] = (),
    defaults: dict[str, Any] | None = None,
    root: str | None = None,
) -> tuple[Model, Source]:
    """The model that a YAML file describes, and where each of its values stands.

    overrides: 'a.b=c' as given to `--set`. defaults: top-level keys for a file that lacks them. root: the key under
    which the whole content goes, for a file that holds a list. Raises InputError with all problems.
    """
    try:
        tree = yaml_tree.parse(_text(file))
    except yaml_tree.NotYaml as error:
        line, sentence = error.args
        raise InputError(f"{file}:{line}: {sentence}") from None
    if root is not None:
        tree = tree.below(root)
    source = Source(str(file), tree.lines, tree.aliases)
    data, problems = tree.data, tree.problems
    if data is None:
        data, problems = {}, [((), "the file is empty"), *problems]
    data, source = options.apply(data, overrides, source)
    if isinstance(data, dict):
        data = {**(defaults or {}), **data}
    return validate(data, model, source, Path(file).parent, problems), source


def validate(
    data: Any,
    model: type[Model],
    source: Source | None = None,
    folder: Path | None = None,
    problems: Iterable[tuple[Location, str]] = (),
) -> Model:
    """The model that plain data describes.

    source: where the data is from, for messages; without one they name the path alone. folder: where relative paths
    of input files start. problems: (location, sentence) pairs known so far. Raises InputError with all problems.
    """
    found, valid = list(problems), None
    try:
        valid = model.model_validate(_without_truth(data), context={"folder": folder})
    except ValidationError as error:
        found += sentences(error, data, model)
    if found:
        raise (source or Source()).error(found)
    return valid


def dump(value: Any) -> str:
    """YAML text of a model or of plain data, which reads back as an equal one; `kind` leads its mapping.

    Fields that are None are left out.
    """
    data = value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value
    return yaml.dump(_kind_first(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def parse(text: str) -> Any:
    """Plain data of what `dump` has written. Raises ValueError with a sentence where the text is no such YAML."""
    try:
        tree = yaml_tree.parse(text)
    except yaml_tree.NotYaml as error:
        line, sentence = error.args
        raise ValueError(f"line {line}: {sentence}") from None
    for location, sentence in tree.problems:
        raise ValueError(f"line {tree.lines.get(location, 1)}: {sentence}")
    return tree.data


class _Dumper(yaml.SafeDumper):
    """Puts text in quotes where `yaml_tree.scalar` would take it for something else; writes no anchors."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  (PyYAML's registry, which must not be the parent's)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        # PyYAML would write some line breaks of Unicode as they are, and read them as spaces
        lines_printable = all(line.isprintable() for line in text.split("\n"))
        style = '"' if not lines_printable else "|" if "\n" in text else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


for _tag, _pattern in (
    ("null", yaml_tree.NULL), ("bool", yaml_tree.BOOL), ("int", yaml_tree.INT), ("float", yaml_tree.FLOAT),
    ("merge", yaml_tree.MERGE),
):  # fmt: skip
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, None)
_Dumper.add_representer(str, _Dumper.represent_text)


def _text(file: str | Path) -> str:
    try:
        with open(file, "rb") as stream:
            raw = stream.read(MAX_SIZE + 1)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # a NUL byte in the name
        raise InputError(f"{str(file)!r}: cannot be read: {error}") from None
    if len(raw) > MAX_SIZE:
        raise InputError(f"{file}: is larger than {MAX_SIZE // 2**20} MiB, the most that is read as YAML")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8; is this a binary file?") from None


def _without_truth(data: Any) -> Any:
    """The data with true and false as text: pydantic takes it where it wants a boolean, and not for a number."""
    if isinstance(data, bool):
        return str(data).lower()
    if isinstance(data, dict):
        return {key: _without_truth(value) for key, value in data.items()}
    return [_without_truth(value) for value in data] if isinstance(data, (list, tuple)) else data


def _kind_first(data: Any) -> Any:
    if isinstance(data, dict):
        first = {"kind": data["kind"]} if "kind" in data else {}
        return {key: _kind_first(value) for key, value in {**first, **data}.items()}
    return [_kind_first(value) for value in data] if isinstance(data, (list, tuple)) else data
