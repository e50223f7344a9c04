"""The set-up itself: what is locked, what is imported when, and where the version stands."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simnet

ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "numpy", "pydantic", "pyarrow", "matplotlib", "simpy", "networkx", "yaml")


@pytest.fixture(scope="module")
def setup_cfg():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


@pytest.fixture(scope="module")
def locked():
    """{name: [(version and marker, number of hashes), ...]}"""
    text = (ROOT / "requirements.lock").read_text()
    entries = re.findall(r"^([a-z0-9-]+)==(\S+.*?) \\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.M)
    table = {}
    for name, version, hashes in entries:
        table.setdefault(name, []).append((version, hashes.count("sha256")))
    return table


def wanted(setup_cfg):
    lines = setup_cfg["options"]["install_requires"] + setup_cfg["options.extras_require"]["dev"]
    return {re.split(r"[<>=~!]", line)[0].strip().lower() for line in lines.split("\n") if line.strip()}


def test_the_lock_pins_every_dependency_with_hashes(setup_cfg, locked):
    assert wanted(setup_cfg) <= set(locked)
    text = (ROOT / "requirements.lock").read_text()
    assert sum(len(v) for v in locked.values()) == len(re.findall(r"^[a-z]\S*==", text, re.M))


def test_the_lock_holds_binaries_for_several_platforms(locked):
    # numba comes compiled for three Pythons on two Linux platforms at least, and the hash of each file is there
    assert all(hashes >= 6 for name in ("numba", "llvmlite", "pyarrow", "pydantic-core") for _, hashes in locked[name])


def test_the_lock_names_no_host():
    assert "://" not in (ROOT / "requirements.lock").read_text()


def test_ci_calls_make_test_and_nothing_else():
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if not line.startswith("#")]
    assert lines[-1] == "exec make test"
    assert len(lines) == 3


def test_the_version_stands_in_one_place(setup_cfg):
    assert simnet.__version__ == setup_cfg["metadata"]["version"]
    assert setup_cfg["metadata"]["version"] not in (ROOT / "pyproject.toml").read_text()


def loaded(code: str) -> list[str]:
    """Heavy packages that are loaded after `code` ran in a fresh interpreter."""
    code += f"\nimport sys\nprint(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return run.stderr.split()


def test_import_simnet_loads_nothing_heavy():
    assert loaded("import simnet") == []


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    found = loaded(
        f"import sys\nfrom simnet.cli import main\nsys.argv = ['simnet', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\nelse:\n    raise AssertionError"
    )
    assert [name for name in found if name != "pydantic"] == []  # which typer loads


@pytest.mark.parametrize("first", ["", "import simnet.run", "from simnet.run import save"])
def test_simnet_run_is_the_function_whatever_was_imported_first(first):
    code = f"{first}\nimport simnet\nassert callable(simnet.run) and simnet.run.__name__ == 'run'"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
