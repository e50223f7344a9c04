"""Hostlist expressions, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.reader.hostlist import expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[008,9]x", ["n008x", "n9x"]),
        ("r[1-2]n[0-1],login", ["r1n0", "r1n1", "r2n0", "r2n1", "login"]),
        ("grp[10,11]", ["grp10", "grp11"]),
        ("[1-2]", ["1", "2"]),
    ],
)
def test_expansions(text, names):
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("n[1-3", "a bracket is not closed"),
        ("n1-3]", "brackets do not match"),
        ("n[[1-3]]", "brackets do not match"),
        ("n[3-1]", "the range 3-1 runs backwards"),
        ("n[a-c]", "'a-c' is no number or range"),
        ("n[]", "'' is no number or range"),
        ("a,,b", "an empty name"),
        ("", "an empty name"),
        ("n[0-9999999]", "more than 1,000,000 names"),
        ("n[0-999][0-999][0-9]", "more than 1,000,000 names"),
    ],
)
def test_what_stands_for_nothing(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        expand(text)


@given(st.integers(0, 9999), st.integers(0, 50), st.integers(1, 6))
def test_a_range_keeps_the_width_of_its_lower_end(low, more, width):
    names = expand(f"n[{low:0{width}}-{low + more}]")
    assert names == [f"n{n:0{width}}" if width > len(str(low)) else f"n{n}" for n in range(low, low + more + 1)]
