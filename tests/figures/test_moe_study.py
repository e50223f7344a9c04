"""Pictures of a study of MoE layers: every group, axis and cell is there, and says the number it stands for."""

import itertools

import pytest

from simnet.figures import moe_study


def row(groups, batch, hidden, speedup, share=0.5, ratio=1.1):
    return {
        "model_parallel": groups[0], "expert_sharding": groups[1], "batch": batch, "sequence": 512, "hidden": hidden,
        "expert_hidden": 2 * hidden, "top_k": 1, "speedup": speedup, "share": share, "s2_over_s1": ratio,
    }  # fmt: skip


ROWS = [
    row(groups, batch, hidden, speedup=groups[0] + batch / 8, share=hidden / 4096, ratio=1.0 + groups[0] / 10)
    for groups, batch, hidden in itertools.product(((1, 2), (2, 1), (4, 4)), (2, 4), (1024, 2048))
]


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_speedups_by_groups_and_by_axis():
    figure = moe_study.speedups(ROWS, "Speedups", (1.13, 5.77))
    groups, *panels = [axes for part in figure.subfigs for axes in part.axes]
    assert [label.get_text() for label in groups.get_yticklabels()] == ["(1, 2)", "(2, 1)", "(4, 4)"]
    assert {"1.38", "2.38", "4.38", "1.13", "5.77"} <= set(words(groups))  # N_MP + the mean of 1/4 and 1/2
    assert [axes.get_title("left") for axes in panels] == ["N_MP", "N_ESP", "B", "L", "M", "H"]
    assert words(panels[2]) == ["2.58", "2.83"]  # 7 / 3 + B / 8


def test_shares_beside_the_published_one():
    figure = moe_study.shares(ROWS, "Shares", 0.6)
    by_sharding, by_model = figure.axes
    assert words(by_sharding) == ["38%"] * 3
    assert [label.get_text() for label in by_model.get_xticklabels()] == ["N_MP = 1", "N_MP = 2", "N_MP = 4"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["average", "60% (paper)"]


def test_the_map_has_a_cell_for_tokens_and_groups_where_there_is_a_choice():
    figure = moe_study.choice_map({"link": ROWS, "copy": ROWS[:8]}, "S1 or S2")
    link, copy = figure.axes[:2]
    assert [label.get_text() for label in link.get_xticklabels()] == ["(2,1)\ntop-1", "(4,4)\ntop-1"]
    assert link.get_yticklabels()[0].get_text() == "B L 1,024, M 1,024"
    assert words(link) == ["1.20", "1.40"] * 4
    assert words(copy) == ["1.20"] * 4
    assert (link.get_title("left"), copy.get_title("left")) == ("link", "copy")


def test_a_cell_has_the_geometric_mean():
    rows = [row((2, 1), 2, 1024, 1.0, ratio=0.5), row((2, 1), 2, 1024, 1.0, ratio=2.0)]
    ratio, _, _ = moe_study._table(rows)
    assert ratio.item() == pytest.approx(1.0)
