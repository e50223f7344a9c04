"""What an importer assumed, told once for all devices of which it holds."""

_NAMED = 4  # devices that a sentence names before it counts


class Notes:
    """Assumptions in the making: what was taken of which devices."""

    def __init__(self):
        self._names: dict[str, dict[str, None]] = {}

    def add(self, name: str, text: str) -> None:
        """`text` (no full stop) holds of the device, server or link `name`."""
        self._names.setdefault(text, {})[name] = None

    def sentences(self) -> list[str]:
        """'a, b and 3 more: text.' for every text, in the order of their first mention."""
        return [_sentence(text, list(names)) for text, names in self._names.items()]


def _sentence(text: str, names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}: {text}."
