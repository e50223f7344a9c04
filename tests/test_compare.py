"""Comparisons: what is measured, which row is best, what made no difference, and the command."""

import csv
import io
import re

import numpy as np
import pytest
from matplotlib.text import Text as DrawnText

from simnet import result
from simnet.cli.comparing import short_names
from simnet.figures import comparison as figure
from simnet.figures import to_png
from simnet.metrics.comparison import MEASURES, Row, best_rows, slowdowns, to_csv, without_effect
from simnet.result import MESSAGES
from simnet.sweep import compare, pool
from simnet.sweep.comparing import _models_apart, _no_difference
from tests.example_result import rows_table

INCAST = """
topology: {kind: single_switch, node: {kind: gpu}, nodes: 4, link_rate: 100Gbps, link_latency: 1us}
network: {model: packet}
jobs:
  - workload: {kind: traffic, pattern: incast, size: 100kB}
"""


def row(label, errors=(), **values):
    return Row({"key": label}, (1,), {k: v if isinstance(v, list) else [v] for k, v in values.items()}, errors=errors)


@pytest.fixture(scope="module")
def incast(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "incast.yaml"
    path.write_text(INCAST)
    return path


@pytest.fixture(scope="module")
def two_by_two(incast):
    varied = {"network.congestion_control.kind": ["none", "hpcc"], "network.load_balancing.kind": ["ecmp", "spray"]}
    return compare(incast, varied, jobs=1)


def test_a_class_can_be_varied_and_given_up(incast):
    overrides = ["network.classes.other.congestion_control={kind: swift, beta: 0.7}", "jobs.0.traffic_class=other"]
    key = "network.classes.other.congestion_control.kind"
    found = compare(incast, {key: ["swift", "hpcc"]}, overrides, jobs=1)
    assert [row.settings["other.congestion_control"] for row in found.rows] == ["swift", "hpcc"]
    assert found.rows[0].mean("makespan") != found.rows[1].mean("makespan")
    assert found.rows[0].mean("slowdown") > 1
    given_up = compare(incast, {"jobs.0.traffic_class": ["other", "null"]}, overrides, jobs=1)
    assert [row.settings["congestion_control"] for row in given_up.rows] == ["dcqcn", "dcqcn"]
    assert not any(row.errors for row in given_up.rows)


# -- by hand --------------------------------------------------------------------------------------------------


def test_the_smallest_is_best_and_of_fairness_the_largest():
    rows = [row("a", makespan=2.0, jain_index=0.9), row("b", makespan=1.0, jain_index=0.7), row("c", makespan=3.0)]
    assert best_rows(rows, "makespan") == [1]
    assert best_rows(rows, "jain_index") == [0]
    assert best_rows(rows, "slowdown") == []


def test_equal_rows_share_the_first_place_unless_all_are_equal():
    assert best_rows([row("a", dropped=0), row("b", dropped=0), row("c", dropped=4)], "dropped") == [0, 1]
    assert best_rows([row("a", dropped=0), row("b", dropped=0)], "dropped") == []
    assert best_rows([row("a", dropped=0)], "dropped") == []


def test_a_row_that_failed_is_not_best():
    rows = [row("a", makespan=0.5, errors=("it broke",)), row("b", makespan=1.0), row("c", makespan=2.0)]
    assert rows[0].mean("makespan") is None
    assert best_rows(rows, "makespan") == [1]


def test_a_difference_inside_the_spread_is_not_marked():
    # means 10 and 11; standard deviations sqrt(2) and 0
    near = [row("a", makespan=[9.0, 11.0]), row("b", makespan=[11.0, 11.0])]
    assert near[0].mean("makespan") == 10
    assert near[0].spread("makespan") == pytest.approx(2**0.5)
    assert best_rows(near, "makespan") == []
    far = [near[0], row("b", makespan=[11.5, 11.5])]
    assert best_rows(far, "makespan") == [0]
    # the spread of the row behind counts, too
    assert best_rows([row("a", makespan=[10.0, 10.0]), row("b", makespan=[10.0, 13.0])], "makespan") == []
    # a third row that is far away does not help
    assert best_rows([*near, row("c", makespan=[50.0, 50.0])], "makespan") == []


def test_no_network_model_is_better_than_another():
    rows = [Row({"network.model": m}, (1,), {"makespan": [t]}) for m, t in (("flow", 1.0), ("packet", 2.0))]
    assert best_rows(rows, "makespan") == []


def test_slowdown_is_against_the_same_message_alone():
    ideal = rows_table(MESSAGES, [("j", 0, "a", "b", 10.0, 0.0, 2.0), ("j", 0, "b", "a", 10.0, 5.0, 9.0)])
    rows = [
        ("j", 0, "b", "a", 10.0, 0.0, 12.0),  # 12 / 4
        ("j", 0, "a", "b", 10.0, 1.0, 2.0 + 1.0),  # 2 / 2
        ("j", 0, "a", "b", 99.0, 0.0, 1.0),  # nothing to compare with
        ("j", 0, "a", "b", 10.0, 1.0, np.nan),  # did not end
    ]
    assert slowdowns(rows_table(MESSAGES, rows), ideal).tolist() == [3.0, 1.0]
    assert len(slowdowns(rows_table(MESSAGES, []), ideal)) == 0


def product(**outcomes):
    """Rows of two keys: 'cc_lb'=makespan."""
    rows = []
    for name, value in outcomes.items():
        cc, lb = name.split("_")
        rows.append(Row({"cc": cc, "lb": lb}, (1,), {"makespan": [value]}))
    return rows


def test_values_without_effect():
    assert without_effect(product(x_ecmp=1.0, x_spray=1.0, y_ecmp=2.0, y_spray=2.0)) == [("lb", ["ecmp", "spray"])]
    assert without_effect(product(x_ecmp=1.0, x_spray=1.0, y_ecmp=2.0, y_spray=3.0)) == []
    assert without_effect(product(x_ecmp=1.0, y_ecmp=2.0, z_ecmp=1.0)) == [("cc", ["x", "z"])]


def test_settings_that_never_acted_are_told_once():
    rows = [
        Row({"cc": c}, (1,), {"makespan": [1.0 * n]}, {"transport": "go_back_n"}, unused=(f"marking never acted: {n}",))
        for n, c in enumerate("ab", 1)
    ]
    assert _no_difference(rows) == ["marking never acted in every row"]
    assert _no_difference([rows[0], Row({"cc": "b"}, (1,), {"makespan": [9.0]})]) == ["marking never acted in a (1)"]


def test_names_over_columns():
    assert short_names(["network.congestion_control.kind", "seed"]) == ["congestion_control", "seed"]
    assert short_names(["a.kind", "a"]) == ["a.kind", "a"]


# -- a small incast -------------------------------------------------------------------------------------------


def test_rows_are_the_product_in_order(two_by_two):
    assert [row.name for row in two_by_two.rows] == ["none, ecmp", "none, spray", "hpcc, ecmp", "hpcc, spray"]
    assert all(not row.errors for row in two_by_two.rows)


def test_the_numbers_are_those_of_the_runs(two_by_two):
    none, _, hpcc, _ = two_by_two.rows
    for row_ in (none, hpcc):
        # 3 x 100 kB in packets of 4096 B and 64 B of headers, all through the receiver's link at 12.5 GB/s
        assert row_.mean("makespan") == pytest.approx(3 * (100_000 + 25 * 64) / 12.5e9 + 2.3e-6, rel=0.1)
        assert row_.mean("fct_max") == pytest.approx(row_.mean("makespan"))
        assert row_.mean("fct_p50") <= row_.mean("fct_p99") <= row_.mean("fct_max")
        assert 2 < row_.mean("slowdown") < 3.2
        assert row_.mean("mean_queue") < row_.mean("peak_queue") < 300e3
        assert row_.mean("dropped") == row_.mean("retransmitted_bytes") == 0
        assert row_.mean("jain_index") > 0.9
    assert hpcc.mean("mean_queue") < none.mean("mean_queue")
    assert best_rows(two_by_two.rows, "mean_queue") == [2, 3]
    assert hpcc.settings["transport"] == "go_back_n"
    assert hpcc.settings["flow_control"] == "pfc"


def test_one_switch_has_one_path_and_little_traffic_pauses_nobody(two_by_two):
    [first, *rest] = two_by_two.notes
    assert first == "network.load_balancing.kind made no difference: ecmp and spray gave the same numbers"
    assert "PFC never paused a link in every row" in rest


def test_csv_has_a_line_per_row_in_base_units(two_by_two):
    lines = list(csv.DictReader(io.StringIO(to_csv(two_by_two.rows))))
    assert len(lines) == 4
    assert lines[2]["network.congestion_control.kind"] == "hpcc"
    assert float(lines[2]["makespan"]) == two_by_two.rows[2].mean("makespan")
    assert "mean_queue" in lines[2]["best"].split()
    assert "mean_queue" not in lines[0]["best"].split()
    assert lines[0]["transport"] == "go_back_n"
    assert lines[0]["error"] == ""
    assert set(MEASURES) <= set(lines[0])


def test_csv_of_several_seeds_has_spreads_and_errors():
    rows = [row("a", makespan=[1.0, 3.0]), row("b", errors=("no, really",))]
    rows[0] = Row(rows[0].labels, (1, 2), rows[0].values)
    a, b = csv.DictReader(io.StringIO(to_csv(rows)))
    assert (a["makespan"], float(a["makespan_spread"]), a["seeds"]) == ("2.0", pytest.approx(2**0.5), "2")
    assert (b["makespan"], b["error"]) == ("", "no, really")


def test_seeds_make_means_and_spreads(incast):
    comparison = compare(incast, {"network.load_balancing.kind": ["ecmp"]}, seeds=2, jobs=1)
    [only] = comparison.rows
    assert only.seeds == (1, 2)
    assert len(only.values["makespan"]) == 2
    assert only.spread("makespan") == 0  # one path: seeds change nothing


def test_models_side_by_side_say_what_made_the_difference(incast):
    comparison = compare(incast, {"network.model": ["flow", "packet"]}, jobs=1)
    flow, packet = comparison.rows
    assert flow.mean("peak_queue") is None
    assert flow.settings == {"model": "flow"}
    [told] = [note for note in comparison.notes if note.startswith("packet against flow: makespan x ")]
    ratio = float(re.search(r"makespan x ([0-9.]+)", told)[1])
    assert ratio == pytest.approx(packet.mean("makespan") / flow.mean("makespan"), abs=1e-3)
    assert told.endswith("headers alone make x 1.016, and nothing else is worth more than 2 %")


def test_what_sets_two_models_apart():
    numbers = {"makespan": [1.0], "fct_mean": [1.0]}
    flow = Row({"network.model": "flow"}, (1,), numbers)
    busy = {"makespan": [1.5], "fct_mean": [1.0], "mean_queue": [2048.0], "peak_queue": [4096.0], "pauses": [7]}
    packet = Row({"network.model": "packet"}, (1,), busy)
    a = {"wire": 1.0, "operations": [("x", 1, 1.0), ("y", 1, 1.5)], "bytes": np.array([1.0, 1.0]), "paused": 2e-6}
    b = {"wire": 1.0, "operations": [("x", 1, 1.0), ("y", 1, 1.0)], "bytes": np.array([2.0, 0.0]), "paused": 0.0}
    assert _models_apart([flow, packet], [b, a]) == [
        "packet against flow: makespan x 1.500, mean FCT x 1.000; headers alone make x 1.000; beyond that: queueing "
        "(up to 4 KiB in one queue), 7 pauses (2 us of all links together), 50% of the bytes took other links (hash, "
        "acknowledgements); furthest apart: y x 1.50"
    ]


# -- the command ----------------------------------------------------------------------------------------------


def test_compare_prints_and_keeps_the_table(command, incast, tmp_path):
    out = tmp_path / "out"
    ran = command("compare", incast, "--vary", "network.congestion_control.kind=none,hpcc", "--out", out, "--jobs", "1")
    assert ran.code == 0, ran.err
    table = [line.split() for line in ran.out.splitlines() if line.startswith(("  none ", "  hpcc "))]
    assert len(table) >= 2
    assert "marks, pauses, drops, resent" in ran.out
    assert "* best of its column" in ran.out
    assert re.search(r"KiB\*", ran.out)
    assert "transport go_back_n" in ran.out
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert len((out / "comparison.csv").read_text().splitlines()) == 3
    stored = result.read(out / "runs" / "hpcc")
    assert stored.messages.num_rows == 3


def test_compare_goes_on_where_it_was(command, incast, tmp_path, monkeypatch):
    arguments = (
        "compare",
        incast,
        "--vary",
        "network.load_balancing.kind=ecmp",
        "--jobs",
        "1",
        "--out",
        tmp_path / "o",
    )
    first = command(*arguments)
    monkeypatch.setattr(pool, "build", lambda *_: pytest.fail("ran again"))
    assert command(*arguments) == first
    assert command(*arguments, "--quiet") == (0, "", "")


def test_compare_leaves_what_is_not_its_own(command, incast, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "mine.txt").touch()
    ran = command("compare", incast, "--vary", "seed=1,2", "--out", tmp_path / "letters")
    assert (ran.code, ran.out) == (2, "")
    assert "mine.txt" in ran.err
    ran = command("compare", incast, "--vary", "seed=1,2", "--out", tmp_path / "letters" / "mine.txt")
    assert ran.code == 2


def test_compare_names_what_is_wrong_before_anything_runs(command, incast, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "build", lambda *_: pytest.fail("ran"))
    monkeypatch.chdir(tmp_path)
    ran = command("compare", incast, "--vary", "network.congestion_control.kind=hpcc,dctpc", "--jobs", "1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("--vary network.congestion_control.kind=dctpc: network.congestion_control.kind: unknown")
    assert "did you mean 'dctcp'?" in ran.err
    assert command("compare", incast, "--vary", "network.congestion_control.kind").code == 2
    ran = command("compare", incast, "--vary", "seed=1,2", "--set", "seed=3", "--jobs", "1")
    assert (ran.code, ran.err) == (2, "--set seed=3: is varied already\n")
    assert command("compare", incast).code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_cannot_run_is_shown_and_fails_the_command(command, incast, tmp_path):
    ran = command(
        "compare", incast, "--vary", "network.congestion_control.kind=none,hpcc",
        "--set", "network.ports.int_stamps=false", "--out", tmp_path / "o", "--jobs", "1",
    )  # fmt: skip
    assert ran.code == 1
    assert re.search(r"^  hpcc +-", ran.out, re.M)
    assert re.search(r"^  hpcc: .*network\.congestion_control\.kind: .*INT", ran.out, re.M)
    assert re.search(r"^  none +[0-9]", ran.out, re.M)


def test_interrupted_compare_says_how_to_go_on(command, incast, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "build", interrupt)
    ran = command("compare", incast, "--vary", "seed=1,2", "--out", tmp_path / "o", "--jobs", "1")
    assert ran.code == 130
    assert f"go on with --out {tmp_path / 'o'}" in ran.err


# -- the picture ----------------------------------------------------------------------------------------------


def example_rows(n=6, queues=True, seeds=3):
    rows = []
    for i in range(n):
        scale = 1 + i / n
        values = {name: [scale * 1e-4 * (1 + 0.02 * s) for s in range(seeds)] for name in MEASURES}
        values |= {name: [scale * 3e5 if queues else None] * seeds for name in ("mean_queue", "peak_queue")}
        rows.append(Row({"a": f"control {i}", "b": "ecmp"}, tuple(range(seeds)), values))
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        example_rows(),
        example_rows(1, seeds=1),
        example_rows(70),
        example_rows(queues=False),
        [*example_rows(2), row("c", errors=("it broke",))],
        [*example_rows(2), row("c" * 90, **dict.fromkeys(MEASURES, 1e-2))],  # far slower: a logarithmic axis
        [row("c", errors=("it broke",))],
    ],
    ids=["six", "one", "seventy", "no queues", "one failed", "spread out", "all failed"],
)
def test_the_figure_draws_any_comparison(rows):
    drawn = figure.draw(rows, "title")
    png = to_png(drawn)
    assert png.startswith(b"\x89PNG")
    words = " ".join(text.get_text() for text in drawn.findobj(DrawnText))
    assert ("failed" in words) == (any(row.errors for row in rows) and len(rows) > 1)
    assert to_png(figure.draw(rows, "title")) == png
