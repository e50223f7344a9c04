"""Verdicts as data, as words and as the page."""

import json

import numpy as np
import pytest

from simnet.figures import to_png, validation
from simnet.validation import Case, Verdict
from simnet.validation.report import left_out, page, panels, percent, rows, sentence, summary_cells
from simnet.validation.statistics import Aim


def verdict(name="a x2", quantity="time", reference=100.0, error=0.1, failure="", **options):
    case = Case("nccl", name, quantity, "us", reference, "somebody", float, **options)
    return Verdict(case, None if failure else reference * (1 + error), failure)


VERDICTS = [
    verdict(error=0.5, group="large"),
    verdict(quantity="rate", error=-0.1, group="small"),
    verdict("b x2", error=0.02, group="large"),
    verdict("sick x2", error=3.0, group="large", counted=False, note="it was sick"),
    verdict("b x2", "other", counted=False, group="large"),
]


def test_rows_have_the_promised_keys():
    (row,) = rows([verdict(error=-0.25)])
    assert row == {
        "suite": "nccl", "case": "a x2", "quantity": "time", "unit": "us", "reference": 100.0, "simulated": 75.0,
        "error": -0.25, "source": "somebody",
    }  # fmt: skip
    assert json.loads(json.dumps(rows([verdict(failure="why")])))[0]["simulated"] is None


def test_an_aim_that_is_missed_says_so():
    cells = summary_cells("large", [verdict(error=0.1), verdict("b x2", error=0.3)], Aim(median=0.2, p90=0.2))
    assert cells == ("large", "2", "2", "10.0%", "20%", "30.0%", "20%, missed", "+30.0% (b x2, time)")


def test_words():
    assert sentence(verdict(tolerance=0.05)) == "a x2, time: 110 us against 100, +10.0%, 5.0% promised"
    assert sentence(verdict(tolerance=0.05, limit="at most")).endswith("at most 5.0% promised")
    assert sentence(verdict(failure="it broke")) == "a x2, time: it broke"
    assert (percent(None), percent(float("nan")), percent(0.5, "")) == ("-", "-", "50.0%")


def test_what_is_in_no_statistics_is_named():
    assert left_out(VERDICTS) == [
        "in no statistics: sick x2: it was sick",
        "in no statistics, as the first row is above twice the second: b x2 other",
    ]


def test_the_page_tells_misses_and_sources():
    text = page({"nccl": VERDICTS}, {"nccl": "What it is."}, {"nccl": {"large": Aim(median=0.01)}})
    assert "1%, missed" in text
    assert "| a x2 | 50.0% | +50.0% | 10.0% | -10.0% | [1] |" in text
    assert "| sick x2 | 300.0% | +300.0% |  |  | [1] |" in text
    assert "1. somebody" in text
    assert "pictures/validation_nccl.png" in text


def test_a_suite_without_aims_is_listed_number_by_number():
    listed = [verdict(tolerance=0.05), verdict("c", error=0.0, tolerance=0.05, limit="at most", note="half the nodes")]
    text = page({"nccl": listed}, {"nccl": "What it is."}, {"nccl": {}})
    assert "| a x2 | time | 100 us | 110 us | +10.0% | 5.0%, missed | [1] |" in text
    assert "| c | time | 100 us | 100 us | +0.0% | at most 5.0% | [1] |" in text
    assert "- c: half the nodes" in text


# -- pictures -------------------------------------------------------------------------------------------------


def test_panels_are_groups_of_one_unit():
    found = panels([*VERDICTS, verdict(failure="why", group="large")])
    assert [(panel.title, len(panel.reference)) for panel in found] == [("large", 4), ("small", 1)]
    assert found[0].counted.tolist() == [True, True, False, False]
    assert found[0].simulated == pytest.approx([150.0, 102.0, 400.0, 110.0])


def test_a_picture_has_a_panel_per_group_and_equal_bytes():
    figure = validation.draw(panels(VERDICTS), "nccl")
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in shown] == ["large", "small"]
    assert shown[0].get_xlim() == shown[0].get_ylim()
    dots = [line for line in shown[0].lines if line.get_marker() == "o"]
    assert np.concatenate([line.get_ydata() for line in dots]).tolist() == pytest.approx([400.0, 110.0, 150.0, 102.0])
    assert to_png(figure) == to_png(validation.draw(panels(VERDICTS), "nccl"))


def test_nothing_simulated_is_a_picture_too():
    figure = validation.draw([], "nccl")
    assert "No number" in figure.axes[0].texts[0].get_text()
