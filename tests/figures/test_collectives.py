import pytest
from matplotlib.colors import to_rgb

from simnet.figures import collectives
from simnet.figures.style import KIND_COLORS
from tests.example_result import Run, example, size_sweep


def test_curves_over_message_size():
    result = size_sweep(4)
    bandwidth, time = collectives.draw(result).axes
    rows = [row for row in result.summary["collectives"] if row["kind"] == "all_reduce"]
    line = bandwidth.lines[0]
    assert line.get_label() == "all_reduce, ring, 4 ranks"
    assert line.get_xdata().tolist() == [2.0**p for p in range(10, 31, 2)]
    assert line.get_ydata() == pytest.approx([row["bus_bandwidth"] / 1e9 for row in rows])
    assert time.lines[0].get_ydata() == pytest.approx([row["time_mean"] for row in rows])
    assert len(bandwidth.lines) == 2
    assert (bandwidth.get_xscale(), time.get_yscale()) == ("log", "log")


def test_bars_where_sizes_do_not_vary():
    result = example(4)
    [axes] = collectives.draw(result).axes
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == pytest.approx([row["bus_bandwidth"] / 1e9 for row in result.summary["collectives"]])
    assert axes.get_yticklabels()[0].get_text() == "pooled all_to_all (direct), 30.5 MiB, n = 4"
    assert axes.patches[1].get_facecolor()[:3] == pytest.approx(to_rgb(KIND_COLORS["all_reduce"]))
    assert axes.texts[0].get_text() == " 20 GB/s in 1.2 ms"


def test_buckets_of_similar_sizes_make_no_curve():
    run = Run(2)
    for size in (25e6, 25.1e6, 7e6):
        run.collective("j", [0, 1], f"bucket of {size:.0f}", "all_reduce", size, [0.0, 0.0], 1.0)
    [axes] = collectives.draw(run.result()).axes
    assert len(axes.patches) == 3


def test_jobs_are_told_apart():
    run = Run(2)
    for job in ("a", "b"):
        for size in (1e3, 1e6, 1e9):
            run.collective(job, [0, 1], "g", "all_reduce", size, [0.0, 0.0], 1.0)
    bandwidth, _ = collectives.draw(run.result()).axes
    assert [line.get_label() for line in bandwidth.lines] == [
        "a: all_reduce, ring, 2 ranks",
        "b: all_reduce, ring, 2 ranks",
    ]


def test_a_run_without_collectives_says_so():
    [axes] = collectives.draw(Run(1).result()).axes
    assert axes.texts[0].get_text() == "No collective or transfer finished in this run."
