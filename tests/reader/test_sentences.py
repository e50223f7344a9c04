"""What the reader says about values that do not fit the model, line by line."""

from typing import get_args

import pytest
from pydantic_core.core_schema import ErrorType

from simnet.errors import InputError
from simnet.reader import read, validate
from simnet.reader.sentences import EXPECTED
from tests.reader.descriptions import Run


def problems(tmp_path, text):
    """The lines of the InputError for a file, without its folder."""
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read(file, Run)
    return str(error.value).replace(f"{tmp_path}/", "").splitlines()


RING = "topology: {kind: ring, k: 4, link_rate: 1GB/s}\n"
JOB = RING + "jobs:\n  - iterations: 2\n    "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        # units
        (
            "topology:\n  kind: ring\n  k: 4\n  link_rate: 400\njobs: [{}]",
            "run.yaml:4: topology.link_rate: '400' has no unit; write a rate such as '400Gbps' or '50GB/s'",
        ),
        (
            "topology:\n  kind: ring\n  k: 4\n  link_rate: 400GB\njobs: [{}]",
            "run.yaml:4: topology.link_rate: '400GB': 'GB' is no unit of a rate; did you mean 'GBps' or 'GB/s'? "
            "(b is bit, B is byte)",
        ),
        *(
            (
                f"topology:\n  kind: ring\n  k: 4\n  link_rate: {rate}\njobs: [{{}}]",
                f"run.yaml:4: topology.link_rate: a rate must be finite and above 0, got '{rate}'",
            )
            for rate in ("-5Gbps", "nanGbps", "infGbps", "0Gbps")
        ),
        # keys
        (
            "topology:\n  kind: ring\n  k: 4\n  link_rate: 1GB/s\n  link_latencey: 5us\njobs: [{}]",
            "run.yaml:5: topology.link_latencey: unknown key; allowed: gain, k, link_latency, link_rate; "
            "did you mean 'link_latency'?",
        ),
        (RING + "jobs: [{}]\nslo: {}", "run.yaml:3: slo: unknown key; allowed: jobs, name, slow, table, topology; "
         "did you mean 'slow'?"),
        (RING + "\ntable:\n  a:\n    verbos: true\njobs: [{}]", "run.yaml:5: table.a.verbos: unknown key; allowed: "
         "iterations, pair, placement, size, verbose; did you mean 'verbose'?"),
        (JOB + "iterations: 3", "run.yaml:4: jobs.0.iterations: this key is there twice, first on line 3"),
        ("\ntopology:\n  kind: ring\n  link_rate: 1GB/s\njobs: [{}]", "run.yaml:2: topology.k: missing key "
         "(number of devices)"),
        (RING, "run.yaml:1: jobs: missing key"),
        ("jobs: [{}]\ntopology:\n  k: 1", "run.yaml:2: topology.kind: missing key (or a 'file'); allowed: ring, star"),
        # kinds
        (
            "topology:\n  kind: rnig\njobs: [{}]",
            "run.yaml:2: topology.kind: unknown 'rnig'; allowed: ring, star; did you mean 'ring'?",
        ),
        (
            "topology:\n  kind: star\n  arms: 3\n  hub:\n    kind: fast\n    k: 3\n    rate: 5\n    link_rate: 1GB/s\n"
            "jobs: [{}]",
            "run.yaml:7: topology.hub.rate: unknown key; allowed: gain, k, link_latency, link_rate; "
            "did you mean 'link_rate'?",
        ),
        (
            "topology: ring\njobs: [{}]",
            "run.yaml:1: topology: expected a mapping with a 'kind' (or a 'file'); allowed kinds: ring, star",
        ),
        ("topology:\n  file: a.xml\njobs: [{}]", "run.yaml:2: topology.file: no such file: 'a.xml' (looked in FOLDER)"),
        ("topology:\n  file: 5\njobs: [{}]", "run.yaml:2: topology.file: expected the path of a file, got 5"),
        # types
        (JOB + "size: 5MiB\n    pair: x", "run.yaml:5: jobs.0.pair: expected a list, got 'x'"),
        (JOB + "pair: [1, 2.5]", "run.yaml:4: jobs.0.pair.1: expected a whole number, got 2.5"),
        (JOB + "pair:\n    - 1", "run.yaml:4: jobs.0.pair: needs 2 items, got 1"),
        (JOB + "pair: [1, 2, 3]", "run.yaml:4: jobs.0.pair: needs at most 2 items, got 3"),
        (JOB + "verbose: 7", "run.yaml:4: jobs.0.verbose: expected true or false, got 7"),
        (RING + "jobs:\n - iterations: true", "run.yaml:3: jobs.0.iterations: expected a whole number, got true"),
        (RING + "jobs:\n - iterations: 1.5", "run.yaml:3: jobs.0.iterations: expected a whole number, got 1.5"),
        (RING + "jobs:\n - iterations:", "run.yaml:3: jobs.0.iterations: expected a whole number, got nothing"),
        (RING + "jobs: x", "run.yaml:2: jobs: expected a list, got 'x'"),
        (RING + "jobs:\n- {}\n- 5", "run.yaml:4: jobs.1: expected a mapping with keys such as placement, size, "
         "iterations, verbose, got 5"),
        (RING + "jobs: [{}]\nname: 12", "run.yaml:3: name: expected text, got 12; put it in quotes"),
        (RING + "jobs: [{}]\nname: [a]", "run.yaml:3: name: expected text, got a list"),
        (RING + "jobs: [{}]\nslow: {a: x}", "run.yaml:3: slow.a: expected a number, got 'x'"),
        (RING + "jobs: [{}]\nslow: {a: .nan}", "run.yaml:3: slow.a: expected a finite number, got nan"),
        ("- a\n- b", "run.yaml:1: expected a mapping with keys such as name, topology, jobs, slow, got a list"),
        # bounds
        (
            "topology:\n  kind: ring\n  k: 4\n  link_rate: 1GB/s\n  gain: 2.0\njobs: [{}]",
            "run.yaml:5: topology.gain: must be in (0, 1], got 2.0",
        ),
        (RING + "jobs:\n - iterations: 0", "run.yaml:3: jobs.0.iterations: must be at least 1, got 0"),
        (RING + "jobs: [{}]\nslow:\n  a: 0.5", "run.yaml:4: slow.a: must be at least 1, got 0.5"),
        (RING + "jobs: []", "run.yaml:2: jobs: needs at least 1 item, got 0"),
        # one sentence for a choice of types
        (
            JOB + "placement: pakced",
            "run.yaml:4: jobs.0.placement: expected 'packed', 'round_robin' or a list, got 'pakced'; "
            "did you mean 'packed'?",
        ),
        (
            JOB + "placement: {a: 1}",
            "run.yaml:4: jobs.0.placement: expected 'packed', 'round_robin' or a list, got a mapping",
        ),
        (
            JOB + "placement:\n    - gpu0\n    - 5",
            "run.yaml:6: jobs.0.placement.1: expected text, got 5; put it in quotes",
        ),
        (
            JOB + "size: atuo",
            "run.yaml:4: jobs.0.size: 'atuo' is no size; write one such as '64MiB' or '256kB'; or write 'auto'; "
            "did you mean 'auto'?",
        ),
    ],
)  # fmt: skip
def test_a_problem_is_told_with_its_line_and_what_is_allowed(tmp_path, text, line):
    assert problems(tmp_path, text) in ([line], [line.replace("FOLDER", str(tmp_path))])


def test_all_problems_come_at_once_in_the_order_of_their_lines(tmp_path):
    text = (
        "topology: &t\n  kind: ring\n  k: 1\n  link_rate: 400\n  gain: 2.0\nname: 5\nname: 6\n"
        "jobs:\n  - {placement: x, size: 1}\n  - 5\nmore: *t\n"
    )
    found = problems(tmp_path, text)
    assert [line.split(": ")[:2] for line in found] == [
        ["run.yaml:3", "topology.k"],
        ["run.yaml:4", "topology.link_rate"],
        ["run.yaml:5", "topology.gain"],
        ["run.yaml:7", "name"],
        ["run.yaml:7", "name"],
        ["run.yaml:9", "jobs.0.placement"],
        ["run.yaml:9", "jobs.0.size"],
        ["run.yaml:10", "jobs.1"],
        ["run.yaml:11", "more"],
    ]


def test_a_flood_of_problems_is_cut_short(tmp_path):
    found = problems(tmp_path, RING + "jobs:\n" + "- 5\n" * 100_000)
    assert len(found) == 101
    assert found[-1] == "... and more"
    assert len("\n".join(problems(tmp_path, RING + f"jobs: [{{}}]\n{'x' * 100_000}: !{'y' * 100_000} 5\n"))) < 1000


def test_plain_data_gets_the_same_sentences_without_file_and_line():
    data = {"topology": {"kind": "ring", "k": True, "link_rate": 5e9}, "jobs": ({"placement": ["a", None]},)}
    with pytest.raises(InputError) as error:
        validate(data, Run)
    assert str(error.value).splitlines() == [
        "topology.k: expected a whole number, got true",
        "topology.link_rate: '5000000000.0' has no unit; write a rate such as '400Gbps' or '50GB/s'",
        "jobs.0.placement.1: expected text, got nothing",
    ]


def test_plain_data_and_descriptions_in_it_become_a_model():
    run = validate({"topology": {"kind": "star", "arms": 2}, "jobs": [{"verbose": True}]}, Run)
    assert run.jobs[0].verbose is True
    assert validate({"topology": run.topology, "jobs": run.jobs}, Run) == run
    assert validate(run, Run) is run


def test_each_phrase_belongs_to_an_error_that_pydantic_knows():
    assert set(EXPECTED) <= {*get_args(ErrorType), "path_type"}
