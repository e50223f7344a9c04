"""Files: what cannot be read, what is written and read back, and garbage."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.reader import MAX_SIZE, dump, load, read, validate, yaml_tree
from tests.reader.descriptions import Run

RUN = "topology: {kind: ring, k: 4, link_rate: 1GB/s}\njobs: [{}]\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("reader") / "run.yaml"


def problem(file):
    with pytest.raises(InputError) as error:
        read(file, Run)
    return str(error.value).replace(str(file), "run.yaml")


def test_a_file_becomes_a_model(file):
    file.write_text(RUN)
    run = read(file, Run)
    assert run.topology.k == 4
    assert read(str(file), Run) == run


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_byte_order_marks_and_windows_lines_are_fine(file, encoding, newline):
    file.write_bytes((RUN + "name: Zürich\n").replace("\n", newline).encode(encoding))
    run, source = load(file, Run)
    assert run.name == "Zürich"
    assert source.line(("name",)) == 3


def test_defaults_stand_in_for_missing_top_level_keys(file):
    file.write_text(RUN)
    assert load(file, Run, defaults={"name": "x"})[0].name == "x"
    assert load(file, Run, ["name=y"], defaults={"name": "x"})[0].name == "y"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "run.yaml:1: the file is empty\nrun.yaml:1: topology: missing key\nrun.yaml:1: jobs: missing key"),
        (b"# only a comment\n", "run.yaml:1: the file is empty\n"),
        (b"null", "run.yaml:1: the file is empty\n"),
        (b"\x89PNG\r\n\x1a\n", "run.yaml:1: byte 0x89 is not UTF-8; is this a binary file?"),
        (b"a: 1\nb: \xff", "run.yaml:2: byte 0xff is not UTF-8"),
        ("a: 1".encode("utf-16"), "run.yaml:1: byte 0xff is not UTF-8"),
        (b"\x7fELF\x02\x01\x01\0\0", "run.yaml:1: holds the control character U+007F"),
        (b"a: 1\nb: \0\n", "run.yaml:2: holds the control character U+0000; is this a binary file?"),
        (b"5", "run.yaml:1: expected a mapping with keys such as name, topology, jobs, slow, got 5"),
        (b"a: 1\n---\nb: 1", "run.yaml:2: a second document starts here; one file holds one"),
        (b"#" * (MAX_SIZE + 1), "run.yaml: is larger than 16 MiB, the most that is read as YAML"),
    ],
)  # fmt: skip
def test_content_that_is_no_description(file, content, message):
    file.write_bytes(content)
    assert problem(file).startswith(message)


def test_files_that_cannot_be_opened(tmp_path):
    assert problem(tmp_path / "none.yaml").endswith(": cannot be read: no such file or directory")
    assert problem(tmp_path).endswith(": cannot be read: is a directory")
    assert "cannot be read" in problem("a\0b")
    assert "cannot be read" in problem("a" * 5000)
    locked = tmp_path / "locked.yaml"
    locked.write_text(RUN)
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("root may read everything")
    assert problem(locked).endswith(": cannot be read: permission denied")


def test_the_problem_is_all_there_is_to_see(file):
    file.write_text(RUN + "x: 1\n")
    with pytest.raises(InputError) as error:
        read(file, Run)
    assert error.value.__suppress_context__ or error.value.__context__ is None
    assert error.value.exit_code == 2
    assert error.value.args == (str(error.value),)


# -- written and read back ------------------------------------------------------------------------------------

SURPRISES = [
    "", "1e-6", "12:30", "on", "yes", "true", "null", "~", "<<", "=", "5", "0x10", ".inf", "#", "'", '"', "- a", "a: b",
    " a\n b\n", "a\r\nb", "\n", "\x85", "\u2028", "a\u2029b",
]  # fmt: skip
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(SURPRISES)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words
plain = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4))


@given(data=plain)
def test_plain_data_reads_back_equal(data):
    assert yaml_tree.parse(dump(data)).data == data


jobs = st.fixed_dictionaries(
    {},
    optional={
        "placement": st.sampled_from(["packed", "round_robin"]) | st.lists(words, max_size=3),
        "size": st.just("auto") | st.floats(0, 1e15).map(lambda size: f"{size!r}B"),
        "iterations": st.integers(1, 10**9),
        "verbose": st.booleans(),
        "pair": st.none() | st.lists(st.integers(), min_size=2, max_size=2),
    },
)
runs = st.fixed_dictionaries(
    {
        "topology": st.builds(lambda arms: {"arms": arms, "kind": "star"}, st.integers()),
        "jobs": st.lists(jobs, min_size=1, max_size=3),
    },
    optional={"name": words, "slow": st.dictionaries(words, st.floats(1, 1e300), max_size=3)},
)


@given(data=runs)
def test_a_description_reads_back_equal(data):
    run = validate(data, Run)
    text = dump(run)
    assert validate(yaml_tree.parse(text).data, Run) == run
    assert dump(validate(yaml_tree.parse(text).data, Run)) == text


def test_what_is_written_is_what_people_would_write(file):
    file.write_text(RUN)
    assert dump(read(file, Run)) == (
        "name: run\ntopology:\n  kind: ring\n  k: 4\n  link_rate: 1GB/s\n  link_latency: 1us\n  gain: 0.5\n"
        "jobs:\n- placement: packed\n  size: auto\n  iterations: 1\n  verbose: false\nslow: {}\ntable: {}\n"
    )


# -- never a traceback ----------------------------------------------------------------------------------------

FRAGMENTS = [
    "topology", "jobs", "name", "kind", "ring", "file", ":", ": ", "- ", "\n", "\n  ", "{", "}", "[", "]", ",", "&a ",
    "*a", "<<", "|", ">", "'", '"', "#", "---", "...", "%", "@", "?", "!!str ", "\t", "\0", "\u2028", "5", "1GB/s",
    ".nan", "null", "true", "1e999", "9" * 400,
]  # fmt: skip
fragments = st.lists(st.sampled_from(FRAGMENTS)).map("".join)
lists = plain.map(lambda data: dump({"topology": data, "jobs": [data], "slow": {"a": data}, "table": data}))
texts = st.text() | fragments | lists
garbage = st.binary() | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
assignments = st.builds("{}={}".format, st.sampled_from(["jobs.0", "topology", "a.b", "x"]), texts)
anything = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def outcome(file, *options):
    """The problems of a file, or none."""
    try:
        assert isinstance(load(file, Run, options)[0], Run)
    except InputError as error:
        return str(error).replace(str(file), "run.yaml").splitlines()
    return []


def foreign(text):
    """Words that are no business of who writes YAML."""
    return {word for word in ("pydantic", "input should", "valid list", "instance of") if word in text.lower()}


@anything
@given(content=garbage)
def test_any_bytes_give_a_model_or_an_input_error(file, content):
    file.write_bytes(content)
    for line in outcome(file):
        assert line.startswith(("run.yaml:", "... and"))
        assert foreign(line) <= foreign(content.decode(errors="replace"))


@anything
@given(option=texts | assignments)
def test_any_option_gives_a_model_or_an_input_error(file, option):
    file.write_text(RUN)
    for line in outcome(file, option):
        assert line.startswith("--set ")
        assert foreign(line) <= foreign(option)
