"""Frozen pydantic models that describe what a user asked for, and tables of them as YAML sees them."""

import difflib
import os
import re
from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainSerializer,
    SerializationInfo,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from simnet.units import shown

KIND_TAG = "kind="
"""How the union tags of `tagged` begin, so that the reader can tell them from keys in pydantic's locations."""


class Params(BaseModel):
    """Base of every description: frozen, no unknown keys, no NaN or infinity, no computed state.

    A field that may be None has None as its default, as None is left out when a description is written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _beside_the_yaml(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    resolved = path if path.is_absolute() or folder is None else Path(folder) / path
    if not os.path.isfile(resolved):
        problem = "is no file" if os.path.exists(resolved) else "no such file"
        raise ValueError(f"{problem}: {shown(str(path))}" + (f" (looked in {folder})" if folder else ""))
    return resolved


def path_beside(path: Path, folder: Path | None) -> str:
    """A path as YAML in `folder` would name it."""
    return Path(os.path.relpath(path, folder)).as_posix() if folder is not None else str(path)


def _write_path(path: Path, info: SerializationInfo) -> str:
    return path_beside(path, (info.context or {}).get("folder"))


InputPath = Annotated[
    Path,
    AfterValidator(_beside_the_yaml),
    PlainSerializer(_write_path, return_type=str),
    WithJsonSchema({"type": "string", "description": "a file, relative to the YAML that names it"}),
]
"""A readable file; a relative path counts from the YAML that names it (context 'folder', to validate and to write)."""


_NAME = "[A-Za-z0-9_.-]+"


def _check_name(name: str) -> str:
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{shown(name)} must hold letters, digits, '_', '.' and '-' only, and at least one of them")
    return name


Name = Annotated[str, AfterValidator(_check_name), WithJsonSchema({"type": "string", "pattern": f"^{_NAME}$"})]
"""A name that may be part of the path of a file."""


class FileParams(Params):
    """Base of `{file: ...}`, the other form of a mapping that otherwise has a `kind`."""

    file: InputPath


def nearest(word: str, allowed: Iterable[str]) -> str:
    """'; did you mean ...?' with the nearest spelling, or ''."""
    lower = {name.lower(): name for name in allowed}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean '{lower[close[0]]}'?" if close else ""


def inside(keys: tuple[str | int, ...], sentence: str) -> PydanticCustomError:
    """What a validator raises about one of the keys inside the value that it was given."""
    return PydanticCustomError("inside", "{sentence}", {"sentence": sentence, "inside": keys})


def row_name(table: dict[str, Any]) -> Any:
    """The type of a text that names a row of `table`."""
    return Literal[tuple(table)]


def tagged(table: dict[str, type[Params]], file: type[FileParams] | None = None) -> Any:
    """The type of a mapping whose key `kind` names a row of `table` (or that names a `file`).

    Rows are named once, in the table: every row becomes a model with `kind: Literal[name]` added, so that a
    validated value knows its row, is written back with it, and appears in the JSON Schema. In Python, an
    instance of a row's own class does as well.
    """
    rows = {name: _row(name, model) for name, model in table.items()}
    names = ", ".join(rows)
    alternative = " (or a 'file')" if file is not None else ""

    def check(value: Any) -> Any:
        if isinstance(value, Params):
            return _as_row(value)
        if not isinstance(value, dict):
            raise ValueError(f"expected a mapping with a 'kind'{alternative}; allowed kinds: {names}")
        if "kind" not in value:
            if file is not None and "file" in value:
                return value
            raise inside(("kind",), f"missing key{alternative}; allowed: {names}")
        kind = value["kind"]
        if not isinstance(kind, str) or kind not in rows:
            raise inside(("kind",), f"unknown {shown(kind)}; allowed: {names}{nearest(str(kind), rows)}")
        return value

    def _as_row(value: Params) -> Params:
        name = next((name for name, model in table.items() if type(value) is model), None)
        if name is None:
            return value
        return rows[name].model_construct(value.model_fields_set | {"kind"}, **dict(value), kind=name)

    def tag_of(value: Any) -> str:
        kind = value.get("kind", "file") if isinstance(value, dict) else getattr(value, "kind", "file")
        return KIND_TAG + kind

    choices = [Annotated[model, Tag(KIND_TAG + name)] for name, model in rows.items()]
    if file is not None:
        choices.append(Annotated[file, Tag(KIND_TAG + "file")])
    return Annotated[reduce(or_, choices), Discriminator(tag_of), BeforeValidator(check)]


def _row(name: str, model: type[Params]) -> type[Params]:
    kind = (Literal[name], ...)
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, kind=kind)
