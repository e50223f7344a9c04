import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError, SimnetError
from simnet.result import (
    FLOWS,
    SCHEMAS,
    TASKS,
    Coded,
    check_writable,
    holds,
    next_directory,
    numbers,
    read,
    table,
    text,
    write,
)
from tests.example_result import example, pipeline


def assert_equal(one, other):
    """Equal values, units and bin width, NaN equal to NaN."""
    assert one.summary == other.summary
    assert one.experiment == other.experiment
    for name, schema in SCHEMAS.items():
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        if a is None:
            continue
        assert a.schema.equals(b.schema, check_metadata=True)
        for field in schema:
            assert a[field.name].type == field.type
            if field.type == schema.field("job" if "job" in schema.names else "link").type:
                assert a[field.name].to_pylist() == b[field.name].to_pylist()
            else:
                np.testing.assert_array_equal(numbers(a, field.name), numbers(b, field.name))


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "1e-6",
        "1e3",
        "1.5E+3",
        "0x10",
        "010",
        "1_000",
        "12:30",
        "on",
        "no",
        "~",
        "null",
        "2024-01-01",
        "<<",
        ".inf",
        "=",
        "",
    ]
)
values = st.recursive(
    words | st.booleans() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
)


@given(st.dictionaries(words, values, max_size=4))
def test_any_experiment_is_read_back_equal(data):
    with tempfile.TemporaryDirectory() as folder:
        stored = replace(example(2), experiment=data)
        write(stored, Path(folder) / "run")
        again = read(Path(folder) / "run").experiment
        assert again == data
        assert repr(sorted(again.items(), key=str)) == repr(sorted(data.items(), key=str)) or "kind" in repr(data)
        assert holds(Path(folder) / "run", data)


def digests(directory):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(Path(directory).iterdir())}


@pytest.mark.parametrize("result", [example(4), pipeline(messages=True)], ids=["without messages", "with messages"])
def test_what_is_written_is_read_back_equal(result, tmp_path):
    write(result, tmp_path / "run")
    assert_equal(read(tmp_path / "run"), result)
    assert read(tmp_path / "run").bin_width == result.bin_width > 0


def test_a_result_read_and_written_again_has_the_same_bytes(tmp_path):
    write(example(4), tmp_path / "a")
    write(read(tmp_path / "a"), tmp_path / "b")
    assert digests(tmp_path / "a") == digests(tmp_path / "b")


def test_unfinished_tasks_keep_their_nan(tmp_path):
    result = example(2)
    ends = numbers(result.tasks, "end").copy()
    ends[-1] = np.nan
    columns = {name: result.tasks[name].to_pylist() for name in TASKS.names}
    tasks = table(TASKS, columns | {"end": ends})
    write(type(result)({}, {}, tasks, result.flows, result.links, result.samples), tmp_path / "run")
    assert np.isnan(numbers(read(tmp_path / "run").tasks, "end")[-1])


def test_tables_without_rows(tmp_path):
    result = example(2)
    empty = {name: table(schema, dict.fromkeys(schema.names, ())) for name, schema in SCHEMAS.items()}
    empty["samples"] = empty["samples"].replace_schema_metadata(result.samples.schema.metadata)
    write(type(result)({}, {}, **empty), tmp_path / "run")
    back = read(tmp_path / "run")
    assert back.tasks.num_rows == back.messages.num_rows == 0
    assert text(back.flows, "label") == (pytest.approx([]), [])


def test_every_quantity_has_a_unit():
    assert TASKS.field("start").metadata == {b"unit": b"s"}
    assert FLOWS.field("size").metadata == {b"unit": b"B"}
    assert SCHEMAS["links"].field("rate").metadata == {b"unit": b"B/s"}
    for schema in SCHEMAS.values():
        assert all(b"unit" in field.metadata for field in schema if str(field.type) == "double")


def test_text_by_code_or_by_string_is_the_same():
    columns = {name: np.zeros(3) for name in SCHEMAS["samples"].names}
    by_string = table(SCHEMAS["samples"], columns | {"link": ["a", "b", "a"]}, bin_width=1.0)
    by_code = table(SCHEMAS["samples"], columns | {"link": Coded([0, 1, 0], ["a", "b"])}, bin_width=1.0)
    assert by_string.equals(by_code)
    codes, names = text(by_code, "link")
    assert [names[c] for c in codes] == ["a", "b", "a"]


SCRIPT = "import sys; from tests.example_result import example; from simnet.result import write; " \
    "write(example(4), sys.argv[1], {'x.bin': b'x'})"  # fmt: skip


@pytest.mark.parametrize("seed", ["0", "12345"])
def test_equal_bytes_in_another_process_with_another_hash_seed(seed, tmp_path):
    write(example(4), tmp_path / "here", {"x.bin": b"x"})
    root = Path(__file__).resolve().parents[1]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "there")], cwd=root, env=environment, check=True)
    assert digests(tmp_path / "here") == digests(tmp_path / "there")


def test_no_path_and_no_time_in_the_files(tmp_path):
    (tmp_path / "secretplace").mkdir()
    write(example(2), tmp_path / "secretplace" / "run")
    for path in (tmp_path / "secretplace" / "run").iterdir():
        assert b"secretplace" not in path.read_bytes()


def test_further_files_go_beside_the_tables(tmp_path):
    directory = write(example(2), tmp_path / "deep" / "er" / "run", {"timeline.png": b"picture"})
    assert (directory / "timeline.png").read_bytes() == b"picture"
    assert sorted(p.name for p in directory.iterdir()) == [
        "experiment.yaml", "flows.parquet", "links.parquet", "samples.parquet", "summary.json", "tasks.parquet",
        "timeline.png",
    ]  # fmt: skip


def test_nothing_existing_is_overwritten(tmp_path):
    (tmp_path / "run").mkdir()
    for attempt in (check_writable, lambda d: write(example(2), d)):
        with pytest.raises(InputError, match="exists already"):
            attempt(tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []


def test_a_failure_halfway_leaves_nothing(tmp_path):
    with pytest.raises(SimnetError, match="could not write the result"):
        write(example(2), tmp_path / "run", {"no/such/folder.png": b""})
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_halfway_leaves_nothing(tmp_path):
    class Interrupting(dict):
        def items(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(example(2), tmp_path / "run", Interrupting(a=b""))
    assert list(tmp_path.iterdir()) == []


def test_what_appeared_meanwhile_is_kept(tmp_path):
    class Sneaking(dict):
        def items(self):
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "theirs").touch()
            return super().items()

    with pytest.raises(SimnetError, match="could not write"):
        write(example(2), tmp_path / "run", Sneaking(a=b""))
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["theirs"]


def test_an_unwritable_place_is_found_before_the_simulation(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write a result"):
        check_writable(tmp_path / "file" / "run")
    with pytest.raises(InputError, match="cannot write a result"):
        check_writable(tmp_path / ("x" * 300))
    check_writable(tmp_path / "not" / "yet" / "there")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    folder = Path("/proc/self") if os.geteuid() == 0 else tmp_path
    if os.geteuid() != 0:
        folder.chmod(0o500)
    with pytest.raises(InputError, match="cannot write a result"):
        check_writable(folder / "run")


def test_directories_count_up(tmp_path):
    assert next_directory(tmp_path / "results", "ring") == tmp_path / "results" / "ring-1"
    for name in ("ring-1", "ring-2", "ring-4", "tree-1"):
        (tmp_path / name).mkdir()
    assert next_directory(tmp_path, "ring") == tmp_path / "ring-3"


# -- reading what is no result --------------------------------------------------------------------------------


def test_no_result(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        read(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no summary\.json"):
        read(tmp_path)


DAMAGES = {
    "summary.json": [b"", b"{", b"[1]", b"\xff\xfe\x00", b"[" * 100_000],
    "experiment.yaml": [b"", b"a: [", b"- 1", b"\x00\x01", b"!!python/object:os.system {}"],
    "tasks.parquet": [b"", b"PAR1", b"not a table"],
    "samples.parquet": [b"PAR1 and no more"],
    "messages.parquet": [b""],
}


@pytest.mark.parametrize(("name", "content"), [(n, c) for n, contents in DAMAGES.items() for c in contents])
def test_damaged_files_are_named(name, content, tmp_path):
    write(example(2), tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(InputError, match=f"damaged: {name}") as caught:
        read(tmp_path / "run")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["experiment.yaml", "tasks.parquet", "links.parquet"])
def test_missing_and_truncated_files_are_named(name, tmp_path):
    path = write(example(2), tmp_path / "run") / name
    if path.suffix == ".parquet":
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match=f"damaged: {name}"):
            read(tmp_path / "run")
    path.unlink()
    with pytest.raises(InputError, match=f"damaged: {name}: No such file"):
        read(tmp_path / "run")


def test_tables_of_another_shape_are_refused(tmp_path):
    directory = write(example(2), tmp_path / "run")
    (directory / "tasks.parquet").write_bytes((directory / "links.parquet").read_bytes())
    with pytest.raises(InputError, match=r"tasks\.parquet has other columns"):
        read(directory)
