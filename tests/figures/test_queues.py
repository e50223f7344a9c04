import numpy as np
import pytest

from simnet.figures import queues
from simnet.units import SIZE
from tests.example_result import example, packets


def titles(figure):
    return [axes.get_title("left") for axes in figure.axes], [axes.get_title("right") for axes in figure.axes]


def levels(axes):
    return sorted(line.get_ydata()[0] for line in axes.lines)


def test_the_longest_queues_come_first():
    names, told = titles(queues.draw(packets(ports=6)))
    assert names == [f"switch -> h{i}" for i in (5, 4, 3, 2)]
    assert told[0] == f"mean {SIZE.format(300e3, 3)}, longest {SIZE.format(600e3, 3)}"
    assert titles(queues.draw(packets(ports=6, output={"queues": 2})))[0] == ["switch -> h5", "switch -> h4"]


def test_ports_may_be_named():
    named = {"queues": [["switch", "h0"], ["switch", "h2"], ["h0", "switch"]]}  # the last has no row here
    assert titles(queues.draw(packets(output=named)))[0] == ["switch -> h0", "switch -> h2"]


def test_a_queue_over_time_is_that_of_the_samples():
    [axes] = queues.draw(packets(ports=1)).axes
    drawn = axes.patches[0].get_data()
    assert len(drawn.values) == 40
    assert drawn.edges[[0, -1]].tolist() == [0, 1e-3]
    assert drawn.values == pytest.approx(100e3 * (1 - np.abs(np.linspace(-1, 1, 40))))


def test_thresholds_are_drawn_where_they_are_in_view_and_told_where_not():
    figure = queues.draw(packets(ports=3))
    assert levels(figure.axes[0]) == [80e3, 150e3, 300e3, 300e3]  # the longest, too
    assert levels(figure.axes[2]) == [100e3, 150e3]
    assert titles(figure)[1][2].endswith("; out of view: Kmax 293 KiB")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [label.partition(",")[0] for label in labels] == ["mean over 25 us", "longest", "Kmin", "Kmax", "XOFF"]


def test_without_queues_there_is_a_sentence():
    figure = queues.draw(example(2))
    assert figure.axes[0].texts[0].get_text() == "No packet waited in a queue in this run."
