import numpy as np

from simnet.figures import windows
from tests.example_result import example, packets


def labels(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_line_for_every_connection_and_one_more_for_its_pacing():
    figure = windows.draw(packets(flows=2))
    window, rate, rtt = figure.axes
    assert [len(axes.lines) for axes in figure.axes] == [2, 3, 2]
    assert labels(figure) == ["h0 -> h9", "h1 -> h9", "rate of pacing"]
    assert window.get_ylabel() == "window [KiB]"
    assert rate.get_ylabel() == "rate [GB/s]"
    assert rtt.get_ylabel() == "round-trip time [us]"


def test_a_line_ends_when_its_connection_does():
    window = windows.draw(packets(flows=2, steps=40)).axes[0]
    assert [len(line.get_xdata()) for line in window.lines] == [21, 40]


def test_no_round_trip_before_the_first():
    rtt = windows.draw(packets(flows=1)).axes[2]
    assert np.isnan(rtt.lines[0].get_ydata()[0])
    assert not np.isnan(rtt.lines[0].get_ydata()[1:]).any()


def test_a_single_connection_is_in_the_title():
    assert windows.draw(packets(flows=1)).legends[0].get_title().get_text() == "Window and rate of h0 -> h9"


def test_more_than_colours_can_tell_apart_are_counted():
    figure = windows.draw(packets(flows=20))
    assert "the first 8 of 20 sampled connections" in figure.legends[0].get_title().get_text()
    assert len(figure.axes[0].lines) == 8


def test_without_windows_bytes_in_flight_are_shown():
    result = packets(flows=1)
    column = result.probes.schema.get_field_index("window")
    endless = result.probes["window"].to_numpy() + np.inf
    result = type(result)(**vars(result) | {"probes": result.probes.set_column(column, "window", [endless])})
    assert windows.draw(result).axes[0].get_ylabel().startswith("in flight [")


def test_without_probes_there_is_a_sentence():
    assert "output.probes" in windows.draw(example(2)).axes[0].texts[0].get_text()
