"""YAML text to plain data and lines."""

import pytest
import yaml

from simnet.reader import yaml_tree
from simnet.reader.source import Source
from simnet.reader.yaml_tree import NotYaml, parse


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def parser(request, monkeypatch):
    """PyYAML comes with libyaml or without; simnet reads the same either way."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML without libyaml")
    monkeypatch.setattr(yaml_tree, "_PARSER", getattr(yaml, request.param))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-6", 1e-6),
        ("1E3", 1e3),
        (".5", 0.5),
        ("-3.", -3.0),
        ("+7", 7),
        ("007", 7),
        ("-.inf", float("-inf")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12:30", "12:30"),
        ("on", "on"),
        ("No", "No"),
        ("yes", "yes"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("2024-01-31", "2024-01-31"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("400Gbps", "400Gbps"),
        ("nan", "nan"),
        ("9" * 5000, float("inf")),
    ],
)
def test_plain_values_follow_the_core_rules_of_yaml_1_2(text, value):
    found = parse(f"a: {text}").data["a"]
    assert (found, type(found)) == (value, type(value))


def test_every_value_knows_its_line():
    text = "# comment\na: 1\nb:\n  c: [x,\n    y]\n  d:\n  - e: 1\n    f: 2\n  -\n    - g\n"
    tree = parse(text)
    assert tree.data == {"a": 1, "b": {"c": ["x", "y"], "d": [{"e": 1, "f": 2}, ["g"]]}}
    assert tree.lines == {
        (): 2, ("a",): 2, ("b",): 3, ("b", "c"): 4, ("b", "c", 0): 4, ("b", "c", 1): 5, ("b", "d"): 6,
        ("b", "d", 0): 7, ("b", "d", 0, "e"): 7, ("b", "d", 0, "f"): 8, ("b", "d", 1): 10, ("b", "d", 1, 0): 10,
    }  # fmt: skip


def test_keys_are_text_whatever_they_look_like():
    assert parse("{1: a, true: b, on: c, 1.0: d, ~: e}").data == {
        "1": "a",
        "true": "b",
        "on": "c",
        "1.0": "d",
        "~": "e",
    }


def test_a_repeated_key_is_a_problem_that_names_both_lines():
    tree = parse("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n")
    assert tree.problems == [
        (("b", "c"), "this key is there twice, first on line 3"),
        (("a",), "this key is there twice, first on line 1"),
    ]
    assert (tree.lines["b", "c"], tree.lines["a",]) == (5, 6)


@pytest.mark.parametrize("key", ["[1, 2]", "{x: 1}", "? [1]\n"])
def test_a_key_that_is_no_text_is_a_problem(key):
    tree = parse(f"a: 1\n{key}: 2\n")
    assert [sentence for _, sentence in tree.problems] == ["a key must be plain text"]
    assert tree.lines[tree.problems[0][0]] == 2


def test_an_alias_repeats_a_value_and_leads_to_its_lines():
    tree = parse("base: &b\n  x: 1\n  y: [1,\n    2]\nother: *b\n")
    source = Source("f.yaml", tree.lines, tree.aliases)
    assert tree.data["other"] == {"x": 1, "y": [1, 2]}
    assert source.line(("other",)) == 5
    assert source.line(("other", "x")) == 2
    assert source.line(("other", "y", 1)) == 4
    assert source.line(("other", "unknown")) == 1  # where the mapping is that lacks it


def test_merge_keys_add_what_a_mapping_lacks():
    tree = parse("a: &a {x: 1, y: 1}\nb: &b\n  y: 2\n  z: 2\nc:\n  <<: [*a, *b]\n  x: 3\nd:\n  <<: *b\n")
    source = Source("f.yaml", tree.lines, tree.aliases)
    assert tree.data["c"] == {"x": 3, "y": 1, "z": 2}
    assert tree.data["d"] == {"y": 2, "z": 2}
    assert [source.line(("c", key)) for key in "xyz"] == [7, 1, 4]
    assert source.line(("d", "z")) == 4
    assert tree.problems == []
    assert parse("'<<': 1").data == {"<<": 1}


@pytest.mark.parametrize("text", ["a:\n  <<: 5", "a:\n  <<: [5]", "a:\n  <<: []"])
def test_a_merge_key_takes_mappings(text):
    ((location, sentence),) = parse(text).problems
    assert (location, sentence) == (("a", "<<"), "'<<' takes a mapping or a list of mappings")


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("a: !!python/object/apply:os.system [ls]", "!!python/object/apply:os.system"),
        ("a: !!str 5", "!!str"),
        ("a: !mine {x: 1}", "!mine"),
    ],
)
def test_tags_are_refused(text, tag):
    ((location, sentence),) = parse(text).problems
    assert location == ("a",)
    assert f"the tag '{tag}' is not allowed" in sentence


def test_anchors_that_expand_without_bound_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    with pytest.raises(NotYaml) as error:
        parse("\n".join(lines))
    assert error.value.args == (6, "expands to more than 1,000,000 values")  # 11 x 10^5 and what is above it


def test_anchors_may_not_nest_deeper_than_lists_may():
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200)]
    with pytest.raises(NotYaml, match="nested deeper than 100 levels"):
        parse("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("a: 1\nb: &b\n  c: *b", 3, "'*b' stands inside the value that it repeats"),
        ("a: &a [*a]", 1, "'*a' stands inside the value that it repeats"),
        ("a: 1\nb: *c", 2, "'*c' refers to an anchor that is not above it"),
        ("a: 1\n---\nb: 2", 2, "a second document starts here; one file holds one"),
        ("a: 1\nb: \0", 2, "holds the control character U+0000; is this a binary file?"),
        ("[" * 500 + "]" * 500, 1, "nested deeper than 100 levels"),
        ("a: 1\n\tb: 2", 2, "indent with spaces, not tabs"),
        ("a: 1\nb: @x", 2, "text that starts with '@' needs quotes"),
        ("a: 1\nb: x: y", 2, "a ':' where no key can stand"),
        ("a: 1\n  b: 2", 2, "a ':' where no key can stand; check the indentation"),
        ("a: 1\nb: 'x\nc: 2\n", 3, "the quote that opens on line 2 is never closed"),
        ("a: [1, 2\nb: 3\n", 2, "the '[' of line 1 is not closed, or a ',' is missing"),
        ("a: {b: 1\n", 1, "the '{' of line 1 is not closed"),
        ("- a\nb: 1\n", 2, "does not line up with what starts on line 1"),
        ("%YAML 9.0\n---\na: 1", 1, "not valid YAML"),
        ("a: &", 1, "not valid YAML"),
        ('a: 1\nb: "\\q"', 2, "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text, line, sentence):
    with pytest.raises(NotYaml) as error:
        parse(text)
    assert error.value.args[0] == line
    assert sentence in error.value.args[1]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n", "---\n...\n"])
def test_an_empty_document_holds_nothing(text):
    assert parse(text).data is None
