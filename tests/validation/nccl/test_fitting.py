"""The fit: it finds what made the measurements, leaves alone what they do not tell of, and sees no table left out."""

from dataclasses import replace

import numpy as np
import pytest

from simnet.validation.nccl import fitting, unseen
from simnet.validation.nccl.fitting import fit, fitted, problems, untrained, with_value
from simnet.validation.nccl.tables import tables
from simnet.validation.replay import replay

NAMES = ("h100_aic all_reduce x8", "h100_aic all_gather x2", "h100_aic all_gather x4")
LAUNCH, NVLINK = ("generations", "hopper", "launch"), ("generations", "hopper", "nvlink")


@pytest.fixture(scope="module")
def three():
    return [problem for problem in problems() if problem.table.name in NAMES]


def made_with(problem, constants):
    """The problem as if its machine had these constants."""
    return replace(problem, times=problem.predicted(constants))


def test_what_is_left_out_is_no_problem():
    found = problems()
    assert not any(problem.table.left_out for problem in found)
    (first,) = [problem for problem in found if problem.table.name == "h100_2n all_reduce x16"]
    assert first.sizes[0] == 16  # its first row is above twice its second
    assert {problem.machine for problem in found if problem.table.series.startswith("h100_8n")} == {"h100_cluster"}


def test_constants_by_name(three):
    constants = three[0].library.constants
    values = fitted(constants)
    assert values[LAUNCH] == constants.generations["hopper"].launch
    changed = with_value(constants, LAUNCH, 1e-3)
    assert fitted(changed) == values | {LAUNCH: 1e-3}
    assert fitted(with_value(constants, NVLINK, 5.0))[NVLINK] == 0.98
    assert fitted(untrained(constants))[LAUNCH] == fitting.FIRST_GUESSES["generations.*.launch"][0]


def test_no_error_costs_nothing_and_outliers_are_capped(three):
    constants = three[0].library.constants
    exact = made_with(three[0], constants)
    assert exact.cost(constants) == pytest.approx(0.0, abs=1e-12)
    twice, tenfold = (replace(exact, times=exact.times * factor) for factor in (2.0, 10.0))
    assert 0 < twice.cost(constants) < tenfold.cost(constants) < 1.5 * twice.cost(constants)


def test_a_fit_finds_what_made_the_measurements(three):
    constants = three[0].library.constants
    true = with_value(with_value(constants, LAUNCH, 9e-6), NVLINK, 0.6)
    made = [made_with(problem, true) for problem in three]
    found = fitted(fit(made, constants, sweeps=15))
    assert found[LAUNCH] == pytest.approx(9e-6, rel=0.1)
    assert found[NVLINK] == pytest.approx(0.6, rel=0.05)


def test_a_fit_costs_less_and_leaves_alone_what_no_table_tells_of(three):
    constants = untrained(three[0].library.constants)
    better = fit(three, constants, sweeps=2)
    assert sum(p.cost(better) for p in three) < sum(p.cost(constants) for p in three)
    assert fitted(better)["fabrics", "efa", "hop"] == fitted(constants)["fabrics", "efa", "hop"]


def test_predictions_are_what_the_library_chooses(three):
    problem = three[0]
    constants = problem.library.constants
    chosen = [problem.library.choose(replace(problem.operation, size=size)).time for size in problem.sizes]
    assert problem.predicted(constants) == pytest.approx(np.array(chosen))


def test_the_suite_of_unseen_machines_leaves_whole_machines_out(monkeypatch):
    seen = []

    def without(machine):
        seen.append(machine)
        sizes = np.array(tables()["h100_2n all_reduce x16"].sizes)
        return {"h100_2n all_reduce x16": sizes * 1e-9}

    monkeypatch.setattr(unseen, "fit_without", without)
    cases = unseen.cases()
    assert all(case.slow for case in cases)
    assert {case.run for case in cases if case.case.startswith("h100_8n")} == {"nccl_unseen h100_cluster"}
    assert not any(case.case.startswith(("lambda", "rtx5090")) for case in cases)
    mine = [
        case for case in cases if case.case == "h100_2n all_reduce x16" and case.quantity.endswith((" 16B", " 1MiB"))
    ]
    assert [verdict.simulated for verdict in replay(mine, jobs=1)] == pytest.approx([0.016, 2**20 * 1e-3])
    assert seen == ["h100_2n"]
