"""The same layer under two schedules: bands, names, and what stands in the key."""

import pytest

import simnet
from simnet.figures import side_by_side

TOPOLOGY = {"kind": "pcie_server", "gpus": 4, "gpus_per_switch": 4, "sockets": 1, "gpu": "rtx_2080_ti"}
LAYER = {"batch": 4, "sequence": 512, "hidden": 1024, "expert_hidden": 2048, "model_parallel": 2, "launch": "0"}


@pytest.fixture(scope="module")
def results():
    return {
        name: simnet.run({
            "topology": TOPOLOGY, "jobs": [{"workload": {"kind": "moe_layer", "schedule": name, "top_k": 1, **LAYER}}]
        })
        for name in ("parm_s1", "parm_s2")
    }  # fmt: skip


def test_a_band_per_result_with_its_time(results):
    figure = side_by_side.draw(results, "One layer")
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["parm_s1", "parm_s2"]
    words = [text.get_text() for text in axes.texts]
    assert sum(word.endswith("ms") for word in words) == 2
    assert "experts" in words


def test_the_key_has_what_can_be_seen_by_the_name_it_is_given(results):
    legend = side_by_side.draw(results, "One layer", {"traffic": "SAA"}).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["compute", "all_to_all", "all_gather", "SAA"]
