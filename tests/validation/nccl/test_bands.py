"""How close it is today: every table as the model of the library predicts it, some of each kind as simulated."""

import numpy as np
import pytest

from simnet.validation.cases import Verdict
from simnet.validation.nccl import AIMS, LARGE, SMALL, cases
from simnet.validation.nccl.fitting import problems
from simnet.validation.nccl.replaying import figures, replayed
from simnet.validation.nccl.tables import tables
from simnet.validation.statistics import spread
from simnet.workload.collectives.library import CONSTANTS

# a table of each generation, kind of collective and kind of link
SIMULATED = (
    "h100_aic all_reduce x8",
    "h100_aic all_to_all x8",
    "a100_aic all_gather x4",
    "b200_aic reduce_scatter x8",
    "gb200_aic all_reduce x2",
    "rtx_pro_6000_aic all_reduce x8",
    "l40s_aic all_reduce x2",
    "rtx4090_cross_socket all_reduce x2",
    "a40_bridge all_reduce x2",
    "v100_vtrain all_reduce x7",
    "a100_40g_superbench reduce x8",
    "h20_2n all_to_all x4",
    "h100_2n_ring all_reduce x16",
)


@pytest.fixture(scope="module")
def predicted():
    """Figures of every counted table, by its name."""
    return {p.table.name: figures(p.table, p.predicted_all(CONSTANTS)) for p in problems()}


@pytest.fixture(scope="module")
def verdicts(predicted):
    """A verdict on every counted case."""
    return [Verdict(case, predicted[case.case][case.quantity]) for case in cases() if case.counted]


@pytest.mark.parametrize("group", AIMS)
def test_what_is_aimed_at_is_reached(verdicts, group):
    found = spread([verdict for verdict in verdicts if verdict.case.group == group])
    assert found.cases > 70
    assert found.reaches(AIMS[group]), (found.median, found.p90)


@pytest.mark.parametrize("name", SIMULATED)
def test_simulations_agree_with_predictions(predicted, name):
    """Nobody else uses the links, so the flows take as long as the model says."""
    simulated = replayed(name)
    assert set(simulated) == set(predicted[name])
    assert list(simulated.values()) == pytest.approx(list(predicted[name].values()), rel=0.02)


@pytest.mark.parametrize("name", SIMULATED)
def test_no_table_drifts_away(verdicts, name):
    mine = [verdict for verdict in verdicts if verdict.case.case == name]
    for group, most in ((LARGE, 0.35), (SMALL, 0.35)):
        errors = [abs(verdict.error) for verdict in mine if verdict.case.group == group]
        assert not errors or np.median(errors) < most


def test_every_counted_table_is_predicted(predicted):
    assert set(predicted) == {name for name, table in tables().items() if not table.left_out}
