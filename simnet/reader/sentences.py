"""pydantic's errors as (location, sentence) pairs for the person who wrote the YAML."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from simnet.params import KIND_TAG, nearest
from simnet.reader.source import Location
from simnet.units import shown

EXPECTED = {
    "int_type": "a whole number", "int_parsing": "a whole number", "int_from_float": "a whole number",
    "int_parsing_size": "a whole number", "float_type": "a number", "float_parsing": "a number",
    "finite_number": "a finite number", "bool_type": "true or false", "bool_parsing": "true or false",
    "string_type": "text", "list_type": "a list", "tuple_type": "a list", "dict_type": "a mapping",
    "model_type": "a mapping", "model_attributes_type": "a mapping", "path_type": "the path of a file",
    "none_required": "nothing",
}  # fmt: skip
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
_LENGTHS = {"too_short": ("min_length", "least"), "too_long": ("max_length", "most")}
_WORTHWHILE = 1000  # errors that are looked at; hostile input has a million


@dataclass
class _Problem:
    """One pydantic error, followed through the data.

    within: the location of the union among whose types pydantic tried one in vain, if any. types: what the value
    may be. owner: the model whose key it is. given: what the user wrote. details: pydantic's error.
    """

    location: Location
    within: Location | None
    types: list[Any]
    owner: type[BaseModel] | None
    given: Any
    details: Any


def sentences(error: ValidationError, data: Any, model: type[BaseModel]) -> list[tuple[Location, str]]:
    """What is wrong with `data`, which did not validate as `model`; one sentence per place."""
    found, branches = [], {}
    for details in error.errors(include_url=False)[:_WORTHWHILE]:
        problem = _follow(details, data, model)
        if details["type"] == "too_short" and len(problem.given) >= details["ctx"]["min_length"]:
            continue  # pydantic counts only the valid items, and has said what is wrong with the others
        if problem.within is None:
            found.append((_place(problem), _sentence(problem)))
        else:
            branches.setdefault(problem.within, []).append(problem)
    for place, problems in branches.items():
        deeper = [problem for problem in problems if problem.location != place]
        if deeper:  # the value has the shape of one of the types, so the others are beside the point
            found += [(_place(problem), _sentence(problem)) for problem in deeper]
        else:
            found.append((place, _alternatives(problems)))
    return found


def _follow(details: Any, data: Any, model: type[BaseModel]) -> _Problem:
    """Walk from the top to where an error is, past the names of union members that pydantic puts among the keys."""
    types, owner, location, within = [model], None, (), None
    steps = details["loc"]
    for step in steps:
        if isinstance(step, str) and step.startswith(KIND_TAG):
            types = [t for t in types if _kind(t) == step.removeprefix(KIND_TAG)]
            continue
        lacking = details["type"] == "missing" and step == steps[-1]
        if lacking and isinstance(data, (list, tuple)):
            break  # a list that is too short is at fault as a whole
        if not (lacking or _holds(data, step)):
            within = location if within is None else within
            types = [t for t in types if getattr(t, "__name__", None) == step] or types
            continue
        owner = next((t for t in types if _is_model(t)), None)
        types = [inner for t in types for inner in _members(_inner(t, step))]
        data = None if lacking else data[step]
        location = (*location, step)
    return _Problem(location, within, types, owner, data, details)


def _holds(data: Any, step: str | int) -> bool:
    return step in data if isinstance(data, dict) else isinstance(data, (list, tuple)) and isinstance(step, int)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _kind(annotation: Any) -> str | None:
    """The kind that a model stands for, as `tagged` has declared it; 'file' for the model without one."""
    kind = annotation.model_fields.get("kind") if _is_model(annotation) else None
    return get_args(kind.annotation)[0] if kind else "file"


def _members(annotation: Any) -> list[Any]:
    """The types that a value may have: unions opened, annotations stripped, None left out."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [member for choice in get_args(annotation) for member in _members(choice)]
    return [] if annotation in (None, NoneType) else [annotation]


def _inner(annotation: Any, step: str | int) -> Any:
    """The type of what stands in a value of type `annotation` under a key or index."""
    if _is_model(annotation):
        return annotation.model_fields[step].annotation if step in annotation.model_fields else None
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    if get_origin(annotation) is tuple and isinstance(step, int) and ... not in arguments:
        return arguments[step] if step < len(arguments) else None
    return arguments[0] if get_origin(annotation) in (list, tuple) else None


def _place(problem: _Problem) -> Location:
    """Where a problem is; a validator may name a key inside the value it refuses."""
    return (*problem.location, *problem.details.get("ctx", {}).get("inside", ()))


def _sentence(problem: _Problem) -> str:
    details, context = problem.details, problem.details.get("ctx", {})
    kind, given = details["type"], _shown(problem.given)
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if "inside" in context:
        return context["sentence"]
    if kind == "missing" and isinstance(problem.given, (list, tuple)):
        items = next(len(get_args(t)) for t in problem.types if get_origin(t) is tuple)
        return f"needs {items} items, got {len(problem.given)}"
    if kind == "missing":
        description = _field(problem).description if _field(problem) else None
        return "missing key" + (f" ({description})" if description else "")
    if kind == "extra_forbidden":
        return _unknown_key(problem)
    if kind in ("literal_error", "enum"):
        allowed = _allowed(problem)
        return f"unknown {given}; allowed: {', '.join(allowed)}{nearest(str(problem.given), allowed)}"
    if kind in EXPECTED:
        return f"expected {_expected(problem)}, got {given}{_quote_hint(problem)}"
    if bound := {name: context[name] for name in _BOUNDS if name in context}:
        return f"must be {_interval({**_limits(problem), **bound})}, got {given}"
    if kind in _LENGTHS:
        limit, word = _LENGTHS[kind]
        return f"needs at {word} {context[limit]} item{'s' * (context[limit] != 1)}, got {context['actual_length']}"
    plain = details["msg"].replace("Input should", "must").replace("Value error, ", "")
    return f"{plain[:1].lower()}{plain[1:]}, got {given}" if problem.location else plain


def _alternatives(problems: list[_Problem]) -> str:
    """One sentence for a value that is none of the types of a union."""
    words = [f"'{word}'" for problem in problems for word in _allowed(problem)]
    phrases = [_expected(p) for p in problems if p.details["type"] in EXPECTED]
    others = [_sentence(p) for p in problems if p.details["type"] not in (*EXPECTED, "literal_error", "enum")]
    given = problems[0].given
    choices = list(dict.fromkeys(words + phrases))
    if not choices:
        return " or ".join(dict.fromkeys(others))
    expected = " or ".join(part for part in (", ".join(choices[:-1]), choices[-1]) if part)
    hint = nearest(str(given), [word[1:-1] for word in words])
    if others:
        return "; ".join(dict.fromkeys(others)) + f"; or write {expected}{hint}"
    return f"expected {expected}, got {_shown(given)}{hint}"


def _allowed(problem: _Problem) -> list[str]:
    if problem.details["type"] not in ("literal_error", "enum"):
        return []
    literals = [str(word) for t in problem.types if get_origin(t) is Literal for word in get_args(t)]
    return literals or [
        word.strip("'") for word in problem.details["ctx"]["expected"].replace(" or ", ", ").split(", ")
    ]


def _expected(problem: _Problem) -> str:
    phrase = EXPECTED[problem.details["type"]]
    models = [t for t in problem.types if _is_model(t)]
    return f"{phrase} with keys such as {', '.join(list(models[0].model_fields)[:4])}" if models else phrase


def _unknown_key(problem: _Problem) -> str:
    fields = list(problem.owner.model_fields) if problem.owner else []
    allowed = sorted(name for name in fields if name != "kind")
    key = str(problem.location[-1])
    return f"unknown key; allowed: {', '.join(allowed) or 'none'}{nearest(key, fields)}"


def _quote_hint(problem: _Problem) -> str:
    is_text = problem.details["type"] == "string_type" and isinstance(problem.given, (bool, int, float))
    return "; put it in quotes" if is_text else ""


def _field(problem: _Problem) -> FieldInfo | None:
    return problem.owner.model_fields.get(problem.location[-1]) if problem.owner and problem.location else None


def _limits(problem: _Problem) -> dict[str, Any]:
    """All bounds of the key that a problem is about, such as {'gt': 0, 'le': 1}."""
    field = _field(problem)
    return {} if field is None else {
        name: getattr(rule, name)
        for rule in (*field.metadata, *_annotations(field.annotation))
        for name in _BOUNDS
        if getattr(rule, name, None) is not None
    }  # fmt: skip


def _annotations(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        for rule in get_args(annotation)[1:]:
            yield from rule.metadata if isinstance(rule, FieldInfo) else [rule]
    for argument in get_args(annotation):
        yield from _annotations(argument)


def _interval(bounds: dict[str, Any]) -> str:
    bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in bounds.items()}
    lower = next((name for name in ("gt", "ge") if name in bounds), None)
    upper = next((name for name in ("lt", "le") if name in bounds), None)
    if lower and upper:
        opening, closing = "(" if lower == "gt" else "[", ")" if upper == "lt" else "]"
        return f"in {opening}{bounds[lower]}, {bounds[upper]}{closing}"
    return f"{_BOUNDS[lower or upper]} {bounds[lower or upper]}"


def _shown(value: Any) -> str:
    """A value of the data in YAML's words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return shown(value)
