"""Running cases: shared runs, failures, and how close a group of them comes."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.validation import Case, Verdict
from simnet.validation.replay import replay
from simnet.validation.statistics import Aim, groups, quantile, spread

CALLS = []


def case(name="a", quantity="time", reference=10.0, simulate=None, **options):
    return Case("suite", name, quantity, "us", reference, "by hand", simulate or ten, **options)


def ten():
    return 10.0


def both():
    CALLS.append("both")
    return {"time": 11.0, "rate": 3.0}


def refused():
    raise InputError("no such machine")


def broken():
    raise KeyError("oops")


def verdict(error, name="a", **options):
    return Verdict(case(name, reference=100.0, **options), 100.0 * (1 + error))


# -- runs -----------------------------------------------------------------------------------------------------


def test_cases_of_one_run_share_it():
    CALLS.clear()
    cases = [case("a", "time", simulate=both, run="x"), case("b"), case("a", "rate", 2.0, simulate=both, run="x")]
    verdicts = replay(cases, jobs=1)
    assert CALLS == ["both"]
    assert [v.case for v in verdicts] == cases
    assert [v.error for v in verdicts] == pytest.approx([0.1, 0.0, 0.5])


def test_cases_without_a_key_run_alone():
    assert [v.simulated for v in replay([case("a"), case("a", "other"), case("b")], jobs=1)] == [10.0] * 3


def test_failures_are_verdicts_that_miss():
    found = replay([case("a", simulate=refused), case("b", simulate=broken), case("c")], jobs=1)
    assert [v.failure for v in found] == ["no such machine", "internal error: KeyError: 'oops'", ""]
    assert [v.missed for v in found] == [True, True, False]
    assert found[0].error is None


def test_a_run_that_lacks_a_quantity_says_which():
    (found,) = replay([case("a", "colour", simulate=both, run="x")], jobs=1)
    assert found.failure == "its run gave no 'colour'"


def test_worker_processes_answer_the_same():
    cases = [case(str(i), reference=float(i + 1)) for i in range(4)]
    assert replay(cases, jobs=2) == replay(cases, jobs=1)


def test_progress_counts_runs():
    seen = []
    cases = [case("a", "time", simulate=both, run="x"), case("a", "rate", simulate=both, run="x"), case("b")]
    replay(cases, 1, lambda *news: seen.append(news))
    assert seen == [(1, 2, "a"), (2, 2, "b")]


# -- statistics -----------------------------------------------------------------------------------------------


def test_quantiles_of_equal_weights_are_order_statistics():
    values, weights = np.array([5.0, 1.0, 3.0, 2.0]), np.ones(4)
    assert [quantile(values, weights, share) for share in (0.25, 0.5, 0.51, 1.0)] == [1.0, 2.0, 3.0, 5.0]
    assert np.isnan(quantile(np.array([]), np.array([]), 0.5))


def test_a_case_weighs_the_same_however_many_numbers_it_has():
    # three numbers of a weigh 1/3 each, the one of b weighs 1
    many = [verdict(e, "a") for e in (0.3, 0.4, 0.5)]
    found = spread([*many, verdict(0.1, "b")])
    assert (found.count, found.cases) == (4, 2)
    assert found.median == pytest.approx(0.1)
    assert found.p90 == pytest.approx(0.5)
    assert found.worst.error == pytest.approx(0.5)


def test_errors_count_by_size_and_what_is_not_counted_does_not():
    found = spread([verdict(-0.2), verdict(0.1), verdict(9.0, counted=False)])
    assert (found.median, found.p90) == pytest.approx((0.1, 0.2))
    assert found.worst.error == pytest.approx(-0.2)


def test_failures_are_no_error_of_a_size_and_reach_no_aim():
    failed = Verdict(case(), None, "why")
    found = spread([verdict(0.01), failed])
    assert (found.failed, found.missed) == (1, 1)
    assert not found.reaches(Aim(median=0.5))
    assert not spread([failed]).reaches(Aim(median=0.5))


@pytest.mark.parametrize(("aim", "reached"), [(Aim(0.11, 0.21), True), (Aim(0.09), False), (Aim(p90=0.19), False)])
def test_aims(aim, reached):
    assert spread([verdict(0.1), verdict(0.2)]).reaches(aim) is reached


def test_groups_keep_their_order():
    found = groups([verdict(0, group="b"), verdict(1, group="a"), verdict(2, group="b")])
    assert {name: len(members) for name, members in found.items()} == {"b": 2, "a": 1}
    assert list(found) == ["b", "a"]
