"""What counts as missed."""

import pytest

from simnet.validation.cases import Case, Verdict


def verdict(simulated, limit="about", tolerance=0.1) -> Verdict:
    return Verdict(Case("s", "c", "q", "us", 10.0, "by hand", float, tolerance, limit=limit), simulated)


@pytest.mark.parametrize(
    ("limit", "missed"),
    [("about", [True, False, False, True]), ("at most", [False, False, False, True]),
     ("at least", [True, False, False, False])],
)  # fmt: skip
def test_a_bound_is_missed_on_one_side_only(limit, missed):
    assert [verdict(x, limit).missed for x in (8.9, 9.1, 10.9, 11.1)] == missed


def test_what_counts_of_an_error_on_the_right_side_of_a_bound():
    assert [verdict(x, "at least").off for x in (8.0, 12.0)] == pytest.approx([0.2, 0.0])
    assert [verdict(x, "at most").off for x in (8.0, 12.0)] == pytest.approx([0.0, 0.2])
    assert [verdict(x).off for x in (8.0, 12.0)] == pytest.approx([0.2, 0.2])


def test_nothing_is_missed_without_a_promise_but_a_run_that_fails():
    assert not verdict(1.0, tolerance=None).missed
    assert verdict(None, tolerance=None).missed
