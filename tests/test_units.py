"""Quantities: text to floats and back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from simnet.units import COMPUTE_RATE, DIMENSIONS, RATE, SIZE, TIME, WORK, Rate, Size, Time

by_name = pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda d: d.name)
# from subnormal to what still has room for a prefix
magnitudes = st.floats(min_value=1e-300, max_value=1e290, allow_subnormal=False)


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (RATE, "400Gbps", 50e9),
        (RATE, "400 Gb/s", 50e9),
        (RATE, "50GB/s", 50e9),
        (RATE, "8bps", 1.0),
        (RATE, "1KiB/s", 1024.0),
        (SIZE, "64MiB", 64 * 2**20),
        (SIZE, "256kB", 256e3),
        (SIZE, "1Kib", 128.0),
        (SIZE, "0", 0.0),
        (SIZE, 0, 0.0),
        (TIME, "5us", 5e-6),
        (TIME, "5µs", 5e-6),
        (TIME, "1.5ms", 1.5e-3),
        (TIME, ".5 s", 0.5),
        (TIME, "1e-6s", 1e-6),
        (TIME, "700ns", 7e-7),
        (TIME, "2min", 120.0),
        (WORK, "2TFLOP", 2e12),
        (COMPUTE_RATE, "312TFLOP/s", 312e12),
        (COMPUTE_RATE, "312TFLOPS", 312e12),
    ],
)
def test_text_becomes_the_nearest_float_in_the_inner_unit(dimension, text, value):
    assert dimension.parse(text) == value


@pytest.mark.parametrize(
    ("dimension", "text", "sentence"),
    [
        (RATE, "400", "'400' has no unit; write a rate such as '400Gbps' or '50GB/s'"),
        (RATE, 400, "'400' has no unit"),
        (TIME, 1e-6, "'1e-06' has no unit; write a time such as '5us' or '1.5ms'"),
        (RATE, "400gbps", "did you mean 'Gbps' or 'GBps'? (b is bit, B is byte)"),
        (RATE, "50GB", "'GB' is no unit of a rate; did you mean 'GBps' or 'GB/s'?"),
        (RATE, "5us", "'us' is no unit of a rate; write one such as '400Gbps' or '50GB/s'"),
        (SIZE, "64mb", "did you mean 'Mb' or 'MB'? (b is bit, B is byte)"),
        (TIME, "12:30", "'12:30' is no time; write one such as '5us' or '1.5ms'"),
        (TIME, "", "'' is no time"),
        (RATE, "-5Gbps", "a rate must be finite and above 0, got '-5Gbps'"),
        (RATE, "0Gbps", "must be finite and above 0"),
        (RATE, 0, "must be finite and above 0, got 0"),
        (RATE, "nanGbps", "must be finite and above 0"),
        (RATE, "infGbps", "must be finite and above 0"),
        (TIME, "-1s", "must be finite and at least 0"),
        (TIME, "1e400s", "must be finite and at least 0"),
        (TIME, "1e99999999s", "must be finite and at least 0"),
        (TIME, math.inf, "has no unit"),
        (TIME, ".nan", "is no time"),
        (TIME, True, "expected a time such as '5us' or '1.5ms', got True"),
        (TIME, None, "expected a time"),
        (TIME, [1], "expected a time"),
        (SIZE, "9" * 400 + "B", "..."),
    ],
)
def test_everything_else_is_refused_with_what_to_write_instead(dimension, text, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        dimension.parse(text)
    assert sentence in str(error.value)
    assert len(str(error.value)) < 200


@by_name
@given(value=magnitudes)
def test_exact_text_reads_back_as_the_same_float(dimension, value):
    value = min(value, dimension.most)
    assert dimension.parse(dimension.exact(value)) == value


@by_name
@given(value=magnitudes)
def test_formatted_text_reads_back_within_its_digits(dimension, value):
    value = min(value, dimension.most)
    assert dimension.parse(dimension.format(value)) == pytest.approx(value, rel=5.1e-4)


@by_name
@given(text=st.text() | st.floats() | st.integers() | st.from_regex(r"-?[0-9.]{1,6} ?[a-zA-Z/]{0,6}", fullmatch=True))
def test_parse_gives_a_finite_number_or_a_sentence(dimension, text):
    try:
        value = dimension.parse(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017
    else:
        assert math.isfinite(value)
        assert value >= 0


@by_name
def test_every_unit_is_read_and_every_example_is_valid(dimension):
    for unit, scale in dimension.units.items():
        assert dimension.parse(f"2{unit}") == pytest.approx(2 * scale)
    assert all(dimension.parse(example) > 0 for example in dimension.examples)
    assert all(unit in dimension.units for unit in (*dimension.printed, dimension.inner))


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (TIME, 0.00099996, "1 ms"),
        (TIME, 1.23456e-3, "1.235 ms"),
        (TIME, 0, "0 ns"),
        (TIME, 5e-10, "0.5 ns"),
        (TIME, math.inf, "inf ns"),
        (SIZE, 3.001 * 2**20, "3.001 MiB"),
        (SIZE, 1023 * 2**10, "1023 KiB"),
        (RATE, 50e9, "50 GB/s"),
        (WORK, 3.5e12, "3.5 TFLOP"),
    ],
)
def test_format(dimension, value, text):
    assert dimension.format(value) == text


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (RATE, 50e9, "50GB/s"),
        (SIZE, 64 * 2**20, "64MiB"),
        (SIZE, 1000, "1000B"),
        (TIME, 1e-6, "1us"),
        (TIME, 0, "0s"),
        (TIME, 1 / 3, "0.3333333333333333s"),
    ],
)
def test_exact(dimension, value, text):
    assert dimension.exact(value) == text


@pytest.mark.parametrize(("quantity", "text"), [(Rate, "50GB/s"), (Size, "64MiB"), (Time, "5us")])
def test_pydantic_types_read_and_write_text(quantity, text):
    adapter = TypeAdapter(quantity)
    value = adapter.validate_python(text)
    assert isinstance(value, float)
    assert adapter.dump_python(value) == text


@by_name
def test_the_json_schema_pattern_admits_what_parse_admits(dimension):
    import re

    quantity = {d.name: t for d, t in zip(DIMENSIONS, _types())}[dimension.name]
    pattern = TypeAdapter(quantity).json_schema()["anyOf"][0]["pattern"]
    for unit in dimension.units:
        assert re.search(pattern, f"2.5{unit}")
        assert re.search(pattern, f"1e-3 {unit}")
    assert not re.search(pattern, "5")
    assert not re.search(pattern, "5parsec")


def _types():
    from simnet.units import ComputeRate, Work

    return Rate, Size, Time, Work, ComputeRate


@pytest.mark.parametrize("text", ["1e300s", "1e11s", "3000000h"])
def test_times_that_no_clock_can_count_are_refused(text):
    assert TIME.parse("1e10s") == 1e10
    with pytest.raises(ValueError, match=r"at most 1e\+10 s"):
        TIME.parse(text)
