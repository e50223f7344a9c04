"""`--set a.b=c`: values from the command line, put into the data before it is validated."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from simnet.errors import InputError
from simnet.reader.source import Location, Source, path
from simnet.reader.yaml_tree import NotYaml, parse


def apply(data: Any, texts: Iterable[str], source: Source) -> tuple[Any, Source]:
    """The data with every 'a.b=c' of `texts` in it, and a Source that tells which location came from which.

    Keys lead from the top, a number picks an item of a list, and missing mappings are made. The value is YAML. A new
    `kind` takes the other keys of its mapping away, as those belong to the former kind; so does a `file` in the place
    of a `kind`. Keys that are set too stay. Raises InputError with all problems.
    """
    setter, problems = _Setter(source), []
    for text in texts:
        option = f"--set {text if text.isprintable() else repr(text)}"
        try:
            keys, value = _split(text)
            data = setter.put(data, keys, value, option)
        except ValueError as error:
            problems.append(f"{option}: {error}")
    if problems:
        raise InputError("\n".join(problems))
    return data, replace(source, options=setter.options)


def _split(text: str) -> tuple[list[str], Any]:
    name, equals, value = text.partition("=")
    keys = name.strip().split(".")
    if not equals or not all(keys):
        raise ValueError("write it as key=value, with '.' between keys, such as jobs.0.iterations=2")
    try:
        tree = parse(value)
    except NotYaml as error:
        raise ValueError(f"{path(tuple(keys))}: {error.args[1]}") from None
    if tree.problems:
        raise ValueError("; ".join(f"{path((*keys, *place))}: {sentence}" for place, sentence in tree.problems))
    return keys, tree.data


class _Setter:
    """Puts values into data and remembers which option has set what."""

    def __init__(self, source: Source):
        self.options = dict(source.options)

    def put(self, data: Any, keys: list[str], value: Any, option: str, location: Location = ()) -> Any:
        """`data`, which stands at `location`, with `value` under `keys`; copies what it changes."""
        if not keys:
            beneath = [place for place in self.options if place[: len(location)] == location]
            for place in beneath:
                del self.options[place]
            self.options[location] = option
            return value
        if data is None:
            data = {}
            self.options[location] = option
        if isinstance(data, list):
            key, changed = self._index(data, keys[0], location), list(data)
        elif isinstance(data, dict):
            key, changed = keys[0], self._without_former_kind(data, keys, value, option, location)
        else:
            raise ValueError(f"{path((*location, keys[0]))}: '{path(location)}' holds no keys, it is {data!r}")
        inner = data[key] if isinstance(data, list) or key in changed else None
        changed[key] = self.put(inner, keys[1:], value, option, (*location, key))
        return changed

    def _index(self, data: list, key: str, location: Location) -> int:
        if not (key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(data)):
            numbers = "it is empty" if not data else f"its items are 0 to {len(data) - 1}"
            raise ValueError(f"{path((*location, key))}: '{path(location)}' is a list; {numbers}")
        return int(key)

    def _without_former_kind(self, data: dict, keys: list[str], value: Any, option: str, location: Location) -> dict:
        renamed = keys == ["kind"] and data.get("kind") != value
        replaced = keys == ["file"] and "kind" in data and "file" not in data
        if not (renamed or replaced):
            return dict(data)
        self.options.setdefault(location, option)
        kept = [key for key in data if any(place[: len(location) + 1] == (*location, key) for place in self.options)]
        return {key: data[key] for key in kept}
