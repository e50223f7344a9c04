"""Fixtures for all tests."""

import os
import sys
from typing import NamedTuple

import hypothesis
import pytest

from simnet.cli import main

# the same examples every time where a failure must mean a change; new ones at every run by hand
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsys):
    """A function that runs `simnet ARGUMENTS` in this process and returns its exit code and what it printed."""

    # whether kernels happen to be compiled already shall not show in what a test reads
    monkeypatch.setattr("simnet.cli.running.compiled_before", lambda room: True)
    monkeypatch.setattr("simnet.cli.comparing.compiled_before", lambda: True)

    def run(*arguments) -> Ran:
        monkeypatch.setattr(sys, "argv", ["simnet", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return Ran(code, *capsys.readouterr())

    return run
