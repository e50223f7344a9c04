"""Every row of the table of controls: numbers, names, what it brings, defaults with a source."""

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level.settings import check, describe, problems, settings_of
from simnet.network.policies import Policies

TABLE = controls.CONGESTION_CONTROLS
# what a control brings: transport, pauses, credits, trimming, marking (the reference's table of defaults)
BROUGHT = {
    "none": ("go_back_n", "pfc", "no", False),
    "fixed_window": ("go_back_n", "pfc", "no", False),
    "dctcp": ("go_back_n", "pfc", "no", True),
    "dcqcn": ("go_back_n", "pfc", "no", True),
    "timely": ("go_back_n", "pfc", "no", False),
    "patched_timely": ("go_back_n", "pfc", "no", False),
    "hpcc": ("go_back_n", "pfc", "no", False),
    "powertcp": ("go_back_n", "pfc", "no", False),
    "swift": ("selective_repeat", "none", "no", False),
    "nscc": ("trim_nack", "none", "yes", True),
    "eqds": ("trim_nack", "none", "yes", False),
    "ib_cca": ("go_back_n", "credits", "no", True),
}


def test_codes_follow_the_table():
    codes = [getattr(controls, name.upper()) for name in TABLE]
    assert codes == list(range(len(TABLE)))


@pytest.mark.parametrize("kind", TABLE)
def test_a_row_is_found_again_however_it_was_made(kind):
    assert controls.name_of(TABLE[kind]()) == kind
    assert controls.name_of(Policies(congestion_control={"kind": kind}).congestion_control) == kind


@pytest.mark.parametrize("kind", TABLE)
def test_a_control_brings_its_transport_and_ports(kind):
    settings = settings_of(Policies(congestion_control={"kind": kind}))
    check(settings)
    told = describe(settings)
    brought = told["transport"], told["flow_control"], told["trimming"], told["marking"] != "none"
    assert brought == BROUGHT[kind]


@pytest.mark.parametrize("kind", TABLE)
def test_every_default_has_a_source(kind):
    words = ("[", "derived", "recalled", "RFC", "paper", "assumed", "or of the paper", "from the RTT alone")
    for name, field in TABLE[kind].model_fields.items():
        assert any(word in field.description for word in words), name


def test_a_new_experiment_uses_dcqcn():
    assert controls.name_of(Policies().congestion_control) == "dcqcn"


def test_forms_of_dcqcn_fill_in_what_is_not_set():
    dcqcn = TABLE["dcqcn"]
    assert dcqcn(form="paper").numbers()[1] == 100e6 / 8  # 40 Mb/s at 40 Gb/s
    assert dcqcn(form="mlx").numbers()[1] == 20e6 / 8
    assert dcqcn(form="paper", additive="20Mbps").numbers()[1] == 20e6 / 8
    assert not np.isnan(dcqcn().numbers()).any()


@pytest.mark.parametrize(
    ("kind", "ports", "problem"),
    [
        ("hpcc", {"int_stamps": False}, "needs INT"),
        ("powertcp", {"int_stamps": False}, "needs INT"),
        ("eqds", {"trimming": False}, "needs trimming"),
        ("nscc", {"trimming": False}, "needs trimming"),
        ("ib_cca", {"credits": "100B"}, "less than a packet"),
        ("ib_cca", {"credits": "64KiB", "pfc": {"xoff": "60kB"}}, "set one"),
    ],
)
def test_switches_that_cannot_do_what_a_control_needs_are_an_error(kind, ports, problem):
    with pytest.raises(InputError, match=problem):
        check(settings_of(Policies(congestion_control={"kind": kind}, ports=ports)))


def test_all_contradictions_are_told_at_once():
    settings = settings_of(
        Policies(
            congestion_control={"kind": "hpcc"},
            transport={"kind": "trim_nack"},
            ports={"int_stamps": False, "buffer": "100B", "queue": "200B"},
        )
    )
    keys = [".".join(keys) for keys, _ in problems(settings)]
    assert keys == ["ports.queue", "ports.buffer", "congestion_control.kind", "transport.kind"]
    with pytest.raises(InputError) as error:
        check(settings)
    assert [line.split(": ")[0] for line in str(error.value).splitlines()] == [f"network.{key}" for key in keys]


def test_int_records_take_their_place_in_packets():
    assert settings_of(Policies(congestion_control={"kind": "hpcc"}))[0].full_packet == 4096 + 64 + 42
    assert settings_of(Policies(congestion_control={"kind": "dctcp"}))[0].full_packet == 4096 + 64
