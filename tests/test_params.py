"""Descriptions and the tables of them that YAML names by kind."""

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from simnet.params import FileParams, Params, nearest, row_name, tagged
from simnet.units import Rate


class Ring(Params):
    """A ring of devices. More about rings."""

    k: int = Field(ge=2)
    link_rate: Rate


class Star(Params):
    """One hub."""

    arms: int = 3


class File(FileParams):
    """From a file."""


TABLE = {"ring": Ring, "star": Star}


@pytest.fixture(scope="module")
def cluster():
    return TypeAdapter(tagged(TABLE, File))


def test_a_description_is_frozen_and_knows_its_keys():
    ring = Ring(k=4, link_rate="1GB/s")
    with pytest.raises(ValidationError):
        ring.k = 5
    with pytest.raises(ValidationError):
        Ring(k=4, link_rate="1GB/s", colour="red")
    with pytest.raises(ValidationError):
        Star(arms=float("inf"))


def test_a_kind_picks_its_row_and_is_written_back(cluster):
    ring = cluster.validate_python({"kind": "ring", "k": 4, "link_rate": "400Gbps"})
    assert isinstance(ring, Ring)
    assert (ring.k, ring.link_rate, ring.kind) == (4, 50e9, "ring")
    assert cluster.dump_python(ring) == {"k": 4, "link_rate": "50GB/s", "kind": "ring"}
    assert cluster.validate_python(cluster.dump_python(ring)) == ring
    assert type(ring).__doc__ == Ring.__doc__


def test_an_instance_of_a_rows_class_becomes_the_row(cluster):
    ring = cluster.validate_python(Ring(k=4, link_rate="400Gbps"))
    assert ring == cluster.validate_python({"kind": "ring", "k": 4, "link_rate": "400Gbps"})
    assert cluster.validate_python(ring) is ring


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"kind": "rnig"}, "unknown 'rnig'; allowed: ring, star; did you mean 'ring'?"),
        ({"kind": ["ring"]}, "unknown ['ring']; allowed: ring, star"),
        ({"k": 4}, "missing key (or a 'file'); allowed: ring, star"),
        ("ring", "expected a mapping with a 'kind' (or a 'file'); allowed kinds: ring, star"),
    ],
)
def test_what_is_no_row_is_refused_with_the_rows_there_are(cluster, value, sentence):
    with pytest.raises(ValidationError) as error:
        cluster.validate_python(value)
    (problem,) = error.value.errors()
    assert sentence in problem["msg"]


def test_a_file_is_looked_up_beside_the_yaml(cluster, tmp_path):
    (tmp_path / "a.xml").write_text("")
    found = cluster.validate_python({"file": "a.xml"}, context={"folder": tmp_path})
    assert isinstance(found, File)
    assert found.file == tmp_path / "a.xml"
    assert cluster.validate_python({"file": str(tmp_path / "a.xml")}).file == tmp_path / "a.xml"


@pytest.mark.parametrize("name", ["b.xml", "", ".", "a" * 5000, "nul\0", "a.xml/b"])
def test_a_file_that_cannot_be_read_is_refused(cluster, tmp_path, name):
    (tmp_path / "a.xml").write_text("")
    with pytest.raises(ValidationError, match=r"no (such )?file"):
        cluster.validate_python({"file": name}, context={"folder": tmp_path})


def test_without_a_file_model_only_kinds_are_allowed():
    adapter = TypeAdapter(tagged(TABLE))
    with pytest.raises(ValidationError, match="missing key; allowed: ring, star"):
        adapter.validate_python({"file": "a.xml"})


def test_json_schema_has_every_row_with_its_kind(cluster):
    definitions = cluster.json_schema()["$defs"]
    assert definitions["Ring"]["properties"]["kind"]["const"] == "ring"
    assert "kind" in definitions["Ring"]["required"]
    assert definitions["Star"]["description"] == "One hub."
    assert definitions["Ring"]["additionalProperties"] is False


def test_row_name_admits_the_names_of_a_table():
    adapter = TypeAdapter(row_name(TABLE))
    assert adapter.validate_python("star") == "star"
    with pytest.raises(ValidationError):
        adapter.validate_python("moon")
    assert adapter.json_schema()["enum"] == ["ring", "star"]


@pytest.mark.parametrize(
    ("word", "hint"),
    [("dctpc", "; did you mean 'dctcp'?"), ("DCTCP", "; did you mean 'dctcp'?"), ("zebra", ""), ("", "")],
)
def test_nearest(word, hint):
    assert nearest(word, ["dctcp", "swift"]) == hint
