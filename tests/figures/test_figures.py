import os
import subprocess
import sys
from dataclasses import replace
from io import BytesIO
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import matplotlib.image
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from simnet.figures import FIGURES, to_png
from simnet.figures.style import CYCLE, KIND_COLORS, house_style, kind_color, readable_on, shortened, shortened_link
from simnet.result import read, write
from simnet.workload.collectives import KINDS
from tests.example_result import Run, example, packets, pipeline, size_sweep, training


def two_jobs():
    run = training(3, job="a job", layers=2)
    run.devices = [f"cluster-with-a-long-name/rack07/node{i:03d}/gpu{i}/slice-of-it" for i in range(3)]
    return training(3, job="another job", layers=2, run=run, begin=0.05).result()


RESULTS = {
    "2 ranks": lambda: example(2),
    "8 ranks": lambda: example(8),
    "64 ranks": lambda: example(64),
    "100 ranks": lambda: example(100),
    "pipeline": pipeline,
    "sizes": lambda: size_sweep(4),
    "two jobs": two_jobs,
    "packets": packets,
    "many ports": lambda: packets(12, 9, output={"queues": 12}),
    "one rank": lambda: example(1),
    "nothing": lambda: Run(2).result(),
}


PACKETS = ("packets", "many ports")  # of one task, but with queues and windows


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Results by name, as they are read back from disk."""
    folder = tmp_path_factory.mktemp("results")
    return {name: read(write(make(), folder / name)) for name, make in RESULTS.items()}


def pixels(png):
    return matplotlib.image.imread(BytesIO(png))[:, :, :3]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("name", RESULTS)
def test_every_figure_draws_every_stored_result(figure, name, stored):
    png = to_png(FIGURES[figure](stored[name]))
    assert png.startswith(b"\x89PNG")
    image = pixels(png)
    inked = (image < 0.98).any(axis=2).mean()
    empty = name in ("nothing", "one rank") or (figure in ("queues", "windows")) != (name in PACKETS)
    assert inked > (0.001 if empty else 0.02)


@pytest.mark.parametrize("status", ["completed", "stalled", "aborted"])
@pytest.mark.parametrize(
    ("figure", "name"),
    [(figure, "packets") for figure in ("timeline", "utilization", "queues", "windows")]
    + [("collectives", "8 ranks"), ("collectives", "sizes")],
)
def test_titles_tell_of_runs_that_did_not_complete(figure, name, status, stored):
    run = stored[name]
    drawn = FIGURES[figure](replace(run, summary=run.summary | {"status": status}))
    told = [text.get_text() for text in drawn.findobj(Text) if f"(run {status})" in text.get_text()]
    assert len(told) == (status != "completed")


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("name", RESULTS)
def test_no_text_is_cut_or_overlaps_its_neighbours(figure, name, stored):
    drawn = FIGURES[figure](stored[name])
    renderer = FigureCanvasAgg(drawn).get_renderer()
    house_style(drawn.draw)(renderer)
    for axes in drawn.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():  # ticks out of view exist, but are not drawn
                tick.label1.set_visible(tick.label1.get_visible() and low <= tick.get_loc() <= high)
    frame = drawn.get_window_extent(renderer)
    for text in drawn.findobj(Text):
        if text.get_visible() and text.get_text():
            box = text.get_window_extent(renderer)
            assert box.x0 >= frame.x0 - 1, text
            assert box.x1 <= frame.x1 + 1, text
            assert box.y0 >= frame.y0 - 1, text
            assert box.y1 <= frame.y1 + 1, text
    for axes in drawn.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [t.get_window_extent(renderer) for t in labels if t.get_visible() and t.get_text()]
            turned = any(t.get_rotation() for t in labels)
            assert turned or not any(a.overlaps(b) for a, b in pairwise(boxes))
        titles = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        boxes = [t.get_window_extent(renderer) for t in titles if t.get_text()]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("figure", FIGURES)
def test_equal_bytes_whatever_the_user_has_set(figure, stored):
    result = stored["8 ranks"]
    plain = to_png(FIGURES[figure](result))
    with matplotlib.rc_context({"figure.dpi": 40, "font.size": 20, "axes.grid": True, "savefig.facecolor": "red"}):
        assert to_png(FIGURES[figure](result)) == plain
    assert b"Software" not in plain
    assert b"Creation" not in plain


SCRIPT = """
import sys
from tests.example_result import example
from simnet.figures import FIGURES, to_png
result = example(3)
assert "matplotlib.pyplot" not in sys.modules
for draw in FIGURES.values():
    sys.stdout.buffer.write(to_png(draw(result)))
"""


def test_equal_bytes_in_another_process_with_another_hash_seed():
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONHASHSEED": "99"}
    there = subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, env=environment, check=True, capture_output=True)
    assert there.stdout == b"".join(to_png(draw(example(3))) for draw in FIGURES.values())


def test_every_kind_of_collective_has_a_colour_of_its_own():
    kinds = ["compute", *KINDS]
    colors = [kind_color(kind, kinds) for kind in kinds]
    assert len(set(colors)) == len(kinds)
    assert set(KINDS) <= set(KIND_COLORS)
    assert kind_color("of tomorrow", ["of tomorrow"]) == CYCLE[0]


def test_text_on_colours_can_be_read():
    assert readable_on("white") == readable_on(KIND_COLORS["compute"]) != "white"
    assert readable_on("black") == readable_on(KIND_COLORS["all_reduce"]) == "white"


def test_long_names_lose_their_middle():
    assert shortened("short") == "short"
    assert shortened("a" * 30 + "b" * 30, 11) == "aaaaa…bbbbb"
    assert len(shortened("x" * 100, 44)) == 44
    assert shortened_link("a" * 60 + " -> " + "b" * 60).count("…") == 2
    assert np.all([len(end) == 24 for end in shortened_link("a" * 60 + " -> " + "b" * 60).split(" -> ")])
