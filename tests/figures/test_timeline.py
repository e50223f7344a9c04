import matplotlib.collections
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from simnet.figures import timeline
from simnet.figures.coverage import coverage
from simnet.figures.style import KIND_COLORS
from simnet.metrics import summarize
from simnet.result import TASKS, table
from tests.example_result import Run, example, pipeline, size_sweep


def bars(figure):
    """The rectangles of a Gantt chart: (start, end, y of the upper edge, colour)."""
    [collection] = [c for c in figure.axes[0].collections if isinstance(c, matplotlib.collections.PolyCollection)]
    corners = [path.vertices for path in collection.get_paths()]
    colors = [to_hex(c) for c in collection.get_facecolors()]
    return sorted((p[0, 0], p[1, 0], p[0, 1], c.upper()) for p, c in zip(corners, colors))


def waiting_run():
    """Rank 0 is there after 1 ms, rank 1 after 3 ms; then both move 50 MB at 50 GB/s."""
    run = Run(2)
    ready = [run.compute("j", 0, "short", 1e-3), run.compute("j", 1, "long", 3e-3)]
    run.collective("j", [0, 1], "g", "all_reduce", 50e6, ready, 1.0)
    return run.result()


def test_bars_are_where_the_tasks_were_and_waiting_has_its_own_colour():
    compute, reduce, waiting = KIND_COLORS["compute"], KIND_COLORS["all_reduce"], timeline.WAITING_COLOR
    end = 3e-3 + 2e-6 + 1e-3
    first, second = 0.08, 0.08 + 0.84 / 2
    assert bars(timeline.draw(waiting_run())) == [
        (0, pytest.approx(1e-3), pytest.approx(first), compute),
        (0, pytest.approx(3e-3), pytest.approx(1 + first), compute),
        (pytest.approx(1e-3), pytest.approx(3e-3), pytest.approx(second), waiting),
        (pytest.approx(3e-3), pytest.approx(end), pytest.approx(second), reduce),
        (pytest.approx(3e-3), pytest.approx(end), pytest.approx(1 + second), reduce),
    ]


def test_legend_names_what_is_there_and_the_title_what_is_seen():
    [legend] = timeline.draw(waiting_run()).legends
    assert [t.get_text() for t in legend.get_texts()] == ["compute", "all_reduce", "waiting for other members"]
    title = legend.get_title().get_text()
    assert title.startswith("What the 2 ranks did over 4.002 ms: 50% compute")


def test_axis_is_in_the_unit_of_the_run():
    assert timeline.draw(example(2)).axes[0].get_xlabel().startswith("time [ms]")
    run = Run(1)
    run.compute("j", 0, "short", 3e-6)
    figure = timeline.draw(run.result())
    figure.canvas.draw()
    assert figure.axes[0].get_xlabel() == "time [us]"
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()][:3] == ["0", "0.5", "1"]


def test_streams_nobody_used_take_no_room():
    figure = timeline.draw(size_sweep(2))
    assert {round(y % 1, 6) for _, _, y, _ in bars(figure)} == {0.08}


def test_more_than_64_ranks_become_shares_of_the_ranks():
    assert len(timeline.draw(example(64)).axes) == 1
    figure = timeline.draw(example(65))
    compute, communication = figure.axes
    assert "compute stream" in compute.get_ylabel()
    assert "communication stream" in communication.get_ylabel()
    assert compute.get_ylim() == (0, 1)
    # all ranks compute during the forward pass
    middle = compute.patches[0].get_data()
    assert middle.values[len(middle.values) // 3] == pytest.approx(1)


def test_shares_of_the_ranks_add_up_to_their_work():
    result = example(70)
    figure = timeline.draw(result)
    values, edges, _ = figure.axes[0].patches[0].get_data()
    mean = float(np.sum(values * np.diff(edges)) / edges[-1])
    assert mean == pytest.approx(np.mean([row["compute"] for row in result.summary["ranks"]]))


def test_many_tasks_are_painted_as_an_image_of_the_same_colours(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_BARS", 3)
    figure = timeline.draw(waiting_run())
    [image] = figure.axes[0].images
    picture = np.asarray(image.get_array())
    lines = picture.shape[0]
    assert to_hex(picture[lines // 8, 100]).upper() == KIND_COLORS["compute"]  # rank 0 computes
    assert to_hex(picture[lines // 8 * 3, 1200]).upper() == timeline.WAITING_COLOR  # then waits, half way
    assert to_hex(picture[lines // 8 * 7, 2300]).upper() == KIND_COLORS["all_reduce"]
    assert np.all(picture[lines // 8 * 7, 100] == 1)  # rank 1 communicates nothing yet
    assert picture.shape[1] == timeline.COLUMNS


def test_unfinished_tasks_reach_the_end():
    whole = waiting_run()
    columns = {name: whole.tasks[name].to_pylist() for name in TASKS.names}
    columns["end"] = [np.nan if name == "long" else end for name, end in zip(columns["name"], columns["end"])]
    tasks = table(TASKS, columns)
    summary = summarize(tasks, whole.flows, whole.links, status="aborted", time=6e-3)
    result = type(whole)(summary, {}, tasks, whole.flows, whole.links, whole.samples)
    assert any(end == pytest.approx(6e-3) for _, end, _, _ in bars(timeline.draw(result)))


def test_short_tasks_are_never_hidden():
    [collection] = timeline.draw(pipeline(8, 16)).axes[0].collections
    edges = {to_hex(c).upper() for c in collection.get_edgecolors()}
    assert edges == {"#FFFFFF", KIND_COLORS["send_recv"], timeline.WAITING_COLOR}


# -- coverage ------------------------------------------------------------------------------------------------


def test_coverage_by_hand():
    # bins of 1 s; [0.5, 2.25] fills half of bin 0, all of bin 1, a quarter of bin 2
    filled = coverage(np.array([0, 1]), np.array([0.5, 3.0]), np.array([2.25, 4.0]), 2, 4, 4.0)
    assert filled.tolist() == [[0.5, 1, 0.25, 0], [0, 0, 0, 1]]


spans = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 10), st.floats(0, 10)), max_size=20)


@given(spans, st.integers(1, 50))
def test_coverage_keeps_every_second(rows, bins):
    group = np.array([g for g, _, _ in rows], int)
    start, end = np.array([min(a, b) for _, a, b in rows]), np.array([max(a, b) for _, a, b in rows])
    filled = coverage(group, start, end, 3, bins, 10.0)
    lengths = np.bincount(group, end - start, 3) if rows else np.zeros(3)
    assert filled.sum(axis=1) * 10.0 / bins == pytest.approx(lengths, abs=1e-9)
    assert (filled >= 0).all()
