"""The documentation is true: its examples run, what it prints is what comes, its links lead somewhere."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
import yaml

from docs import generate
from simnet import experiment
from simnet.run import build
from simnet.topology import TopologyFile
from simnet.workload import WorkloadFile

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TARGETS = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)


def blocks(language: str) -> list:
    """All fenced blocks of a language, with the page and line as test id."""
    found = []
    for page in PAGES:
        text = page.read_text()
        for block in re.finditer(rf"^( *)```{language}\n(.*?)^ *```$", text, re.M | re.S):
            line = text.count("\n", 0, block.start()) + 2
            lines = [row.removeprefix(block[1]) for row in block[2].splitlines()]
            found.append(pytest.param("\n".join(lines) + "\n", id=f"{page.name}:{line}"))
    return found


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with what is shipped, where examples may leave results."""
    for name in ("experiments", "topologies", "workloads"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", blocks("yaml"))
def test_yaml(text, checkout):
    (checkout / "mine").mkdir()
    path = checkout / "mine" / "example.yaml"
    path.write_text(text)
    keys = yaml.safe_load(text)
    if "jobs" in keys:
        build(*experiment.load(path))
    elif "tasks" in keys:
        assert WorkloadFile(file=path).build(keys["ranks"]).tasks > 0
    else:
        assert TopologyFile(file=path).build().devices


@pytest.mark.parametrize("text", blocks("console"))
def test_console(text, checkout, command):
    for shown in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line, _, expected = shown.partition("\n")
        name, *arguments = shlex.split(line)
        if name == "make":
            assert arguments[0] in TARGETS
            continue
        assert name == "simnet"
        if ">" in arguments:
            arguments = arguments[: arguments.index(">")]
        ran = command(*arguments)
        assert ran.code == 0, ran.err
        printed = iter(ran.out.splitlines())
        for row in expected.splitlines():
            assert row == "..." or row.rstrip() in (other.rstrip() for other in printed), row


@pytest.mark.parametrize("text", blocks("python"))
def test_python(text, checkout):
    path = checkout / "example.py"  # kernels want a file
    path.write_text(text)
    runpy.run_path(str(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_readme_leads_to_every_page():
    text = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in text] == []


def test_the_reference_is_up_to_date():
    assert generate.PAGE.read_text() == generate.page(), "run 'make docs'"
