"""Frozen pydantic models that describe what a user asked for, and tables of them as YAML sees them."""

import difflib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainSerializer,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)


class Params(BaseModel):
    """Base of every description: frozen, no unknown keys, no computed state."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)


def _beside_the_yaml(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    resolved = path if path.is_absolute() or folder is None else Path(folder) / path
    if not resolved.is_file():
        raise ValueError(f"no such file: {path}" + (f" (looked in {folder})" if folder else ""))
    return resolved


InputPath = Annotated[
    Path,
    AfterValidator(_beside_the_yaml),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "description": "a file, relative to the YAML that names it"}),
]
"""A readable file; a relative path is looked up beside the YAML that names it (validation context 'folder')."""


class FileParams(Params):
    """Base of `{file: ...}`, the other form of a mapping that otherwise has a `kind`."""

    file: InputPath


def nearest(word: str, allowed: list[str]) -> str:
    """'; did you mean ...?' with the nearest spelling, or ''."""
    close = difflib.get_close_matches(word, allowed, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def tagged(table: dict[str, type[Params]], file: type[FileParams] | None = None) -> Any:
    """The type of a mapping whose key `kind` names a row of `table` (or that names a `file`).

    Rows are named once, in the table: every row becomes a model with `kind: Literal[name]` added, so that a
    validated value knows its row, is written back with it, and appears in the JSON Schema.
    """
    rows = {
        name: create_model(model.__name__, __base__=model, __doc__=model.__doc__, kind=(Literal[name], name))
        for name, model in table.items()
    }
    names = ", ".join(rows)
    alternative = " (or a 'file')" if file is not None else ""

    def check(value: Any) -> Any:
        if isinstance(value, Params):
            return value
        if not isinstance(value, dict):
            raise ValueError(f"expected a mapping with a 'kind'{alternative}, got {value!r}")
        if file is not None and "file" in value:
            return value
        if "kind" not in value:
            raise ValueError(f"needs a 'kind'{alternative}; allowed kinds: {names}")
        if value["kind"] not in rows:
            raise ValueError(
                f"kind: unknown {value['kind']!r}; allowed: {names}{nearest(str(value['kind']), list(rows))}"
            )
        return value

    def row_of(value: Any) -> str:
        if isinstance(value, Params):
            return getattr(value, "kind", "file")
        return "file" if file is not None and "file" in value else value["kind"]

    choices = [Annotated[model, Tag(name)] for name, model in rows.items()]
    if file is not None:
        choices.append(Annotated[file, Tag("file")])
    union = choices[0]
    for choice in choices[1:]:
        union = union | choice
    return Annotated[union, Discriminator(row_of), BeforeValidator(check)]
