"""Fixtures for all tests."""

import sys
from typing import NamedTuple

import pytest

from simnet.cli import main


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
