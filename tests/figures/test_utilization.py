import numpy as np
import pytest

from simnet.figures import utilization
from simnet.metrics import summarize
from simnet.result import LINKS, SAMPLES
from tests.example_result import Run, example, rows_table


def run_with(shares, peak=1.0, bins=4):
    """A run of 4 s whose link i was used by shares[i] in the first half and not at all in the second."""
    run = Run(1)
    run.compute("j", 0, "work", 4.0)
    result = run.result()
    links = [(f"l{i} -> s", f"l{i}", "s", "ib", 1.0, 0.0, 2 * u, u / 2, u * peak, 2.0) for i, u in enumerate(shares)]
    samples = [
        (f"l{i} -> s", b * 4.0 / bins, u) for i, u in enumerate(shares) if u for b in range(bins // 2)
    ]  # fmt: skip
    tables = rows_table(LINKS, links), rows_table(SAMPLES, samples, bin_width=4.0 / bins)
    summary = summarize(result.tasks, result.flows, tables[0], status="completed")
    return type(result)(summary, {}, result.tasks, result.flows, *tables)


def heat(figure):
    [image] = figure.axes[0].images
    return image.get_array()


def names(figure):
    return [t.get_text() for t in figure.axes[0].get_yticklabels()]


def test_busiest_link_on_top_and_time_from_left_to_right():
    figure = utilization.draw(run_with([0.2, 0.8, 0.0]))
    assert names(figure) == ["l1 -> s", "l0 -> s"]
    assert heat(figure).filled(0).tolist() == [[0.8, 0.8, 0, 0], [0.2, 0.2, 0, 0]]
    assert heat(figure).mask.tolist() == [[False, False, True, True]] * 2  # no traffic has a colour of its own


def test_bars_show_mean_and_peak():
    bars = utilization.draw(run_with([0.5, 0.25])).axes[1]
    assert [patch.get_width() for patch in bars.patches] == [0.25, 0.125]
    assert bars.lines[0].get_xdata().tolist() == [0.5, 0.25]


def test_at_most_thirty_links_and_the_title_says_so():
    figure = utilization.draw(run_with([0.9 - 0.01 * i for i in range(40)]))
    assert len(names(figure)) == 30
    assert figure.legends[0].get_title().get_text() == "Utilization of the 30 busiest of 40 used links over 4 s"


def test_many_bins_are_averaged():
    picture = heat(utilization.draw(run_with([0.6], bins=6000)))
    assert picture.shape[1] <= utilization.MOST_COLUMNS
    assert picture.filled(0).mean() == pytest.approx(0.3)
    assert np.isclose(picture.max(), 0.6)


def test_a_network_without_contention_may_pass_one():
    figure = utilization.draw(run_with([3.0]))
    assert figure.axes[1].get_xlim() == (0, 3.0)
    assert figure.axes[0].images[0].get_clim() == (0, 3.0)


def test_mean_over_time_is_the_mean_of_the_bar():
    result = example(4)
    figure = utilization.draw(result)
    assert heat(figure).filled(0).mean(axis=1) == pytest.approx([p.get_width() for p in figure.axes[1].patches])
