"""The command `simnet validate`: what it prints and writes, and what it refuses."""

import json

import pytest

from simnet import validation
from simnet.validation import Case
from tests.validation.test_measured_log import LOG


class Small:
    """A small suite: two numbers. It is here to be printed."""

    AIMS = {}  # noqa: RUF012

    @staticmethod
    def cases():
        """Two cases, one of them slow."""
        return [
            Case("small", "quick", "time", "us", 2.0, "by hand", three, tolerance=0.1, note="one and a half"),
            Case("small", "slow", "time", "us", 3.0, "by hand", three, slow=True),
        ]


class Patient:
    """A suite of slow cases alone."""

    @staticmethod
    def cases():
        """One case, which takes long."""
        return [Case("patient", "long", "time", "us", 3.0, "by hand", three, slow=True)]


def three():
    return 3.0


SUITES = {"small": Small, "patient": Patient}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(validation, "SUITES", SUITES)
    monkeypatch.setattr("simnet.cli.validating.SUITES", SUITES)


def test_a_suite_is_printed_with_what_it_misses(command):
    ran = command("validate", "small", "--jobs", 1)
    assert ran.code == 0
    for text in ("small: quick  by hand", "one and a half", "+50.0%", "missed", "against 2, +50.0%, 10.0% promised"):
        assert text in ran.out
    assert "slow" not in ran.out


def test_slow_cases_run_when_asked_for(command):
    assert "small: slow" in command("validate", "--all", "--jobs", 1).out


def test_a_suite_of_slow_cases_runs_when_it_is_named(command):
    assert "patient" not in command("validate", "--jobs", 1).out
    both = command("validate", "small", "patient", "--jobs", 1).out
    assert "patient: long" in both
    assert "small: slow" not in both


def test_files(command, tmp_path):
    (tmp_path / "docs").mkdir()
    arguments = ("--json", tmp_path / "e.json", "--plot", tmp_path / "p", "--write", tmp_path / "docs" / "v.md")
    ran = command("validate", "--jobs", 1, "--quiet", *arguments)
    assert (ran.code, ran.out) == (0, "")
    (row,) = json.loads((tmp_path / "e.json").read_text())
    assert row["error"] == pytest.approx(0.5)
    assert (tmp_path / "p" / "small.png").read_bytes() == (
        tmp_path / "docs" / "pictures" / "validation_small.png"
    ).read_bytes()
    assert "A small suite: two numbers." in (tmp_path / "docs" / "v.md").read_text()


def test_a_log_is_compared_with_a_topology(command, tmp_path):
    log, machine = tmp_path / "all_reduce.log", tmp_path / "machine.yaml"
    log.write_text(LOG)
    machine.write_text("{kind: dgx_a100}")
    ran = command("validate", "--measured", log, "--topology", machine, "--json", tmp_path / "e.json")
    assert ran.code == 0
    assert "time of 4KiB" in ran.out
    assert [row["suite"] for row in json.loads((tmp_path / "e.json").read_text())] == ["measured"] * 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["smal"], "unknown suite 'smal'; allowed: small, patient; did you mean 'small'?"),
        (["--topology", "x.yaml"], "--topology is of --measured"),
        (["--measured", "x.log"], "--measured needs --topology"),
        (["--measured", "x.log", "--topology", "x.yaml"], "x.log: cannot be read"),
        (["small", "--measured", "x.log"], "leave SUITE out"),
        (["--measured", "x.log", "--topology", "x.yaml", "--write", "v.md"], "--write is of the suites"),
    ],
)
def test_bad_input_is_a_sentence(command, arguments, sentence):
    ran = command("validate", *arguments)
    assert ran.code == 2
    assert sentence in ran.err


def test_a_place_that_cannot_be_written(command, tmp_path):
    ran = command("validate", "--jobs", 1, "--quiet", "--json", tmp_path / "nowhere" / "e.json")
    assert ran.code == 1
    assert "could not write" in ran.err
