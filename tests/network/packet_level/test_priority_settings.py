"""What holds for each priority, and what contradicts itself."""

import pytest
from pydantic import ValidationError

from simnet.errors import InputError
from simnet.network.packet_level import settings
from tests.network.packet_level.priorities import LOSSY, B, of_lanes, policies, started
from tests.network.systems import star


def test_thresholds_come_with_the_controls_of_a_priority():
    chosen = policies(control={"kind": "dcqcn"}, ports={}, classes=[{"congestion_control": {"kind": "dctcp"}}])
    model = started(star(5, B), chosen, [])
    assert of_lanes(model, "kmin")[:, 0].tolist() == [400e3, 300e3]
    told = model.report().settings
    assert told["priority 1.marking"] == "above 300000B at 12.5GB/s"
    assert told["class1.priority"] == "1"
    assert told["priority 0.share"] == told["priority 1.share"] == "weight 1"


def problems(**chosen) -> list[str]:
    return [f"{'.'.join(keys)}: {text}" for keys, text in policies(**chosen).problems()]


def test_a_priority_of_its_own_settles_what_controls_contradict():
    def beside(priority):
        classes = [{"congestion_control": {"kind": "nscc"}}]
        return problems(priorities=[priority], control={"kind": "dcqcn"}, ports={}, classes=classes)

    assert len(beside(0)) == 2
    assert "or another `priority` for one of them" in beside(0)[0]
    assert beside(1) == []


def test_contradictions_within_a_priority_name_its_keys():
    classes = [{"congestion_control": {"kind": kind}} for kind in ("dctcp", "dcqcn")]
    found = problems(priorities=[4, 4], ports={}, classes=classes)
    assert found[0].startswith("classes.class2.congestion_control.kind: 'dcqcn' brings marking")
    assert "set network.ports.priorities.4.ecn" in found[0]


@pytest.mark.parametrize(
    ("ports", "own", "sentence"),
    [
        ({"virtual_lanes": 2}, {}, "ports.virtual_lanes: a port has virtual lanes or priorities, not both"),
        ({"credits": "1MB"}, {1: LOSSY}, "ports.credits: .* 'lossless: false' of 'network.ports.priorities.1'"),
        ({"credits": "1MB"}, {1: {"pfc": {}}}, "ports.credits: .* 'pfc' of 'network.ports.priorities.1'"),
        ({}, {1: {"queue": "1kB"}}, "ports.priorities.1.queue: holds 1000 B, less than a packet"),
    ],
)
def test_sentences_about_priorities(ports, own, sentence):
    chosen = policies(ports=ports, own=own)
    with pytest.raises(InputError, match=f"network.{sentence}"):
        settings.check(settings.settings_of(chosen))


def test_a_class_is_told_what_its_priority_denies():
    found = problems(control={"kind": "eqds"}, ports={}, own={1: {"trimming": False}})
    assert found == ["classes.class1.priority: 'eqds' needs trimming, which ports.priorities.1.trimming denies"]


@pytest.mark.parametrize("number", ["x", 8, -1])
def test_priorities_have_numbers_from_0_to_7(number):
    with pytest.raises(ValidationError, match="priorities are numbered from 0 to 7"):
        policies(own={number: {}})


def test_a_priority_may_be_lossless_where_no_control_asks_for_it():
    chosen = policies(control={"kind": "swift"}, ports={}, own={1: {"lossless": True}})
    told = settings.describe(settings.settings_of(chosen))
    assert told["flow_control"] == "none"
    assert told["priority 1.flow_control"] == "pfc"
