"""Quantities at the border: text such as '400Gbps' or '64MiB' to plain floats, and back.

Inside simnet everything is seconds, bytes, bytes per second, FLOP and FLOP/s; the factor 8 between
bits and bytes occurs only here.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_BITS_PER_BYTE = 8.0


def _scaled(units: dict[str, float], *prefixes: dict[str, float]) -> dict[str, float]:
    return {p + u: scale * base for table in prefixes for p, scale in table.items() for u, base in units.items()}


def shown(value: object) -> str:
    """A value in a message: short and on one line."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]}..."


@dataclass(frozen=True)
class Dimension:
    """One kind of quantity: its units as {name: size in the inner unit} and how to print it."""

    name: str
    inner: str
    units: dict[str, float]
    examples: tuple[str, str]
    printed: tuple[str, ...]  # from large to small
    positive: bool = False  # 0 makes no sense
    most: float = math.inf  # what is longer is a slip, and no clock could count it

    def parse(self, text: object) -> float:
        """Read a quantity; a bare number is refused, except 0.

        Raises ValueError with a sentence that says what to write instead.
        """
        if isinstance(text, bool) or not isinstance(text, (str, int, float)):
            raise ValueError(f"expected a {self.name} such as {self._examples()}, got {shown(text)}")
        match = _QUANTITY.fullmatch(str(text).strip())
        if not match:
            raise ValueError(f"{shown(text)} is no {self.name}; write one such as {self._examples()}")
        number, unit = match["number"], match["unit"]
        value = float(number)
        if not unit and value != 0:
            raise ValueError(f"{shown(str(text))} has no unit; write a {self.name} such as {self._examples()}")
        if unit and unit not in self.units:
            raise ValueError(f"{shown(text)}: '{unit}' is no unit of a {self.name}; {self._unit_hint(unit)}")
        result = value
        if unit and math.isfinite(value):  # in decimal, so that 5us is the float nearest to 0.000005
            result = float(Decimal(number) * Decimal(repr(self.units[unit])))
        if not math.isfinite(result) or result < 0 or (self.positive and result == 0):
            bound = "above 0" if self.positive else "at least 0"
            raise ValueError(f"a {self.name} must be finite and {bound}, got {shown(text)}")
        if result > self.most:
            raise ValueError(f"a {self.name} must be at most {self.most:g} {self.inner}, got {shown(text)}")
        return result

    def format(self, value: float, digits: int = 4) -> str:
        """Print a quantity for people, with `digits` significant digits."""
        if value == 0 or not math.isfinite(value):
            return f"{value:g} {self.printed[-1]}"
        # rounded in each unit, so that 999.96 us prints as 1 ms
        for unit in self.printed:
            number = f"{value / self.units[unit]:.{digits}g}"
            if abs(float(number)) >= 1:
                break
        return f"{number} {unit}"

    def exact(self, value: float) -> str:
        """Write a quantity as text that `parse` reads back to the same float."""
        if value == 0:
            return f"0{self.inner}"
        for unit in self.printed:
            text = f"{value / self.units[unit]:.15g}"
            is_short = "e" not in text and len(text) <= 8 and (float(text) >= 1 or unit == self.printed[-1])
            if is_short and self.parse(text + unit) == value:
                return text + unit
        return f"{value!r}{self.inner}"

    def _examples(self) -> str:
        return " or ".join(f"'{e}'" for e in self.examples)

    def _unit_hint(self, unit: str) -> str:
        folded = [u for u in self.units if u.lower() == unit.lower()]
        begun = [u for u in self.units if u.startswith(unit)]
        if folded or begun:
            reminder = " (b is bit, B is byte)" if "b" in unit.lower() else ""
            return f"did you mean {' or '.join(repr(u) for u in folded or begun)}?{reminder}"
        return f"write one such as {self._examples()}"


_QUANTITY = re.compile(
    r"(?P<number>[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?(nan|inf))\s*(?P<unit>[A-Za-zµμ/]*)"
)

RATE = Dimension(
    "rate", "B/s",
    _scaled({"bps": 1 / _BITS_PER_BYTE, "b/s": 1 / _BITS_PER_BYTE, "Bps": 1.0, "B/s": 1.0}, _DECIMAL, _BINARY),
    ("400Gbps", "50GB/s"), ("TB/s", "GB/s", "MB/s", "kB/s", "B/s"), positive=True,
)  # fmt: skip
SIZE = Dimension(
    "size", "B",
    _scaled({"b": 1 / _BITS_PER_BYTE, "B": 1.0}, _DECIMAL, _BINARY),
    ("64MiB", "256kB"), ("GiB", "MiB", "KiB", "B"),
)  # fmt: skip
TIME = Dimension(
    "time", "s",
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0},
    ("5us", "1.5ms"), ("s", "ms", "us", "ns"), most=1e10,
)  # fmt: skip
WORK = Dimension(
    "number of operations", "FLOP", _scaled({"FLOP": 1.0}, _DECIMAL), ("2TFLOP", "300GFLOP"),
    ("TFLOP", "GFLOP", "MFLOP", "FLOP"),
)  # fmt: skip
COMPUTE_RATE = Dimension(
    "compute rate", "FLOP/s", _scaled({"FLOP/s": 1.0, "FLOPS": 1.0}, _DECIMAL), ("312TFLOP/s", "67TFLOP/s"),
    ("TFLOP/s", "GFLOP/s", "FLOP/s"), positive=True,
)  # fmt: skip
DIMENSIONS = (RATE, SIZE, TIME, WORK, COMPUTE_RATE)


def _quantity(dimension: Dimension) -> type:
    units = "|".join(sorted(dimension.units, key=len, reverse=True))
    schema = {
        "anyOf": [
            {"type": "string", "pattern": rf"^[0-9.]+([eE][-+]?[0-9]+)?\s*({units})$|^0$"},
            {"const": 0},
        ],
        "examples": list(dimension.examples),
        "description": f"a {dimension.name} with its unit",
    }

    return Annotated[
        float,
        BeforeValidator(dimension.parse),
        PlainSerializer(dimension.exact, return_type=str),
        WithJsonSchema(schema),
    ]


Rate = _quantity(RATE)
Size = _quantity(SIZE)
Time = _quantity(TIME)
Work = _quantity(WORK)
ComputeRate = _quantity(COMPUTE_RATE)
