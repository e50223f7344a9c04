"""`--set a.b=c` on top of a file."""

import pytest

from simnet.errors import InputError
from simnet.reader import load, options
from simnet.reader.source import Source
from tests.reader.descriptions import Run

RUN = """topology: {kind: ring, k: 4, link_rate: 1GB/s}
jobs:
  - iterations: 2
  - placement: [a, b]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(RUN)
    return path


def apply(data, *texts):
    return options.apply(data, texts, Source())[0]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a.b=2", {"a": {"b": 2, "c": [1, {"d": 1}]}}),
        ("a.c.1.d=x", {"a": {"b": 1, "c": [1, {"d": "x"}]}}),
        ("a.c=[]", {"a": {"b": 1, "c": []}}),
        ("a.c.0={e: 1e-3}", {"a": {"b": 1, "c": [{"e": 1e-3}, {"d": 1}]}}),
        ("a.b=", {"a": {"b": None, "c": [1, {"d": 1}]}}),
        ("n.e.w=x=y", {"a": {"b": 1, "c": [1, {"d": 1}]}, "n": {"e": {"w": "x=y"}}}),
        ("a.0=z", {"a": {"b": 1, "c": [1, {"d": 1}], "0": "z"}}),
    ],
)
def test_a_value_is_put_in_its_place_and_the_data_stays_as_it_was(text, result):
    data = {"a": {"b": 1, "c": [1, {"d": 1}]}}
    assert apply(data, text) == result
    assert data == {"a": {"b": 1, "c": [1, {"d": 1}]}}


def test_a_later_option_wins():
    assert apply({}, "a.b=1", "a.b=2", "a.c=3", "a={c: 4}", "a.d=5") == {"a": {"c": 4, "d": 5}}


def test_a_new_kind_takes_the_keys_of_the_former_one_away():
    data = {"t": {"kind": "ring", "k": 4, "rate": 1}}
    assert apply(data, "t.kind=star") == {"t": {"kind": "star"}}
    assert apply(data, "t.kind=ring") == data
    assert apply(data, "t.kind=star", "t.arms=3") == {"t": {"kind": "star", "arms": 3}}
    assert apply(data, "t.k=3", "t.kind=star") == {"t": {"kind": "star", "k": 3}}
    assert apply(data, "t.file=a.xml") == {"t": {"file": "a.xml"}}
    assert apply({"t": {"file": "a.xml"}}, "t.kind=star") == {"t": {"kind": "star"}}
    assert apply({"t": {"kind": "trace", "file": "a", "x": 1}}, "t.file=b") == {
        "t": {"kind": "trace", "file": "b", "x": 1}
    }


def test_options_change_what_a_file_says(file):
    run, source = load(file, Run, ["jobs.0.iterations=5", "jobs.1.placement=packed", "table.x.verbose=on"])
    assert run.jobs[0].iterations == 5
    assert run.jobs[1].placement == "packed"
    assert run.table["x"].verbose is True
    assert source.say(("jobs", 0, "iterations"), "hm").startswith("--set jobs.0.iterations=5: jobs.0.iterations: hm")
    assert source.say(("jobs", 1), "hm") == f"{file}:4: jobs.1: hm"


def test_an_option_may_replace_an_aliased_value_in_one_place(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("topology: &t {kind: ring, k: 4, link_rate: 1GB/s}\njobs: [{}]\n")
    aliased = RUN.replace("topology: ", "topology: &t ") + "table: {a: &j {iterations: 3}, b: *j}\n"
    file.write_text(aliased)
    run, _ = load(file, Run, ["table.b.iterations=4"])
    assert (run.table["a"].iterations, run.table["b"].iterations) == (3, 4)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("jobs.0.iterations=0", "jobs.0.iterations: must be at least 1, got 0"),
        ("jobs.1.placement=[a, 5]", "jobs.1.placement.1: expected text, got 5; put it in quotes"),
        ("topology.link_rate=400", "topology.link_rate: '400' has no unit; write a rate such as '400Gbps' or '50GB/s'"),
        ("topology.kind=star", "topology.arms: missing key"),
        ("topology.kind=sta", "topology.kind: unknown 'sta'; allowed: ring, star; did you mean 'star'?"),
        ("table.x.iteration=1", "table.x.iteration: unknown key; allowed: iterations, pair, placement, size, verbose; "
         "did you mean 'iterations'?"),
        ("topology={kind: ring, k: 2}", "topology.link_rate: missing key"),
        ("jobs.2.iterations=1", "jobs.2: 'jobs' is a list; its items are 0 to 1"),
        ("jobs.x=1", "jobs.x: 'jobs' is a list; its items are 0 to 1"),
        ("topology.kind.a=1", "topology.kind.a: 'topology.kind' holds no keys, it is 'ring'"),
        ("name=[a", "name: not valid YAML: the '[' of line 1 is not closed, or a ',' is missing"),
        ("name={a: 1, a: 2}", "name.a: this key is there twice, first on line 1"),
        ("name=!!python/name:os.system x", "name: the tag '!!python/name:os.system' is not allowed; write plain "
         "values, text in quotes"),
        ("name", "write it as key=value, with '.' between keys, such as jobs.0.iterations=2"),
        ("=5", "write it as key=value, with '.' between keys, such as jobs.0.iterations=2"),
        ("a..b=5", "write it as key=value, with '.' between keys, such as jobs.0.iterations=2"),
    ],
)  # fmt: skip
def test_problems_of_an_option_name_the_option(file, option, sentence):
    with pytest.raises(InputError) as error:
        load(file, Run, [option])
    assert str(error.value) == f"--set {option}: {sentence}"


def test_an_option_that_cannot_be_printed_is_escaped(file):
    with pytest.raises(InputError) as error:
        load(file, Run, ["name=\udcff", "na\nme", "na\nme=["])
    first, second, third = str(error.value).splitlines()
    assert first.startswith(r"--set 'name=\udcff': name: holds the control character U+DCFF")
    assert second.startswith(r"--set 'na\nme': write it as key=value")
    assert third.startswith(r"--set 'na\nme=[': 'na\nme': not valid YAML")


def test_all_options_and_lines_are_reported_together(file):
    file.write_text(RUN.replace("k: 4", "k: 1"))
    with pytest.raises(InputError) as error:
        load(file, Run, ["name=5", "jobs.0.iterations=0"])
    assert str(error.value).splitlines() == [
        f"{file}:1: topology.k: must be at least 2, got 1",
        "--set name=5: name: expected text, got 5; put it in quotes",
        "--set jobs.0.iterations=0: jobs.0.iterations: must be at least 1, got 0",
    ]
    with pytest.raises(InputError) as error:
        load(file, Run, ["name", "jobs.9=0"])
    assert len(str(error.value).splitlines()) == 2
