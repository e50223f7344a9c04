"""Sweeps: order, resume, failures, interruption; and the product of what is varied."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.result import read
from simnet.sweep import Case, matrix, parse_vary, pool, sweep, workers
from simnet.sweep.matrix import dropped_keys
from tests import sweep_cases

ROOT = Path(__file__).parents[1]

PAIR = """
topology: {kind: hgx_h100, gpus: 2, nics: 0}
network: {model: analytic}
jobs:
  - workload: {kind: collective, sizes: [1MiB]}
"""


@pytest.fixture
def pair(tmp_path):
    path = tmp_path / "pair.yaml"
    path.write_text(PAIR)
    return path


def cases_of(path, **overrides):
    return [Case(name, path, (override,)) for name, override in overrides.items()]


SIZES = {"first": "jobs.0.workload.sizes=[4MiB]", "second": "jobs.0.workload.sizes=[1MiB]", "third": "seed=5"}


def test_outcomes_come_in_the_order_of_the_cases_whatever_finishes_first(pair, monkeypatch):
    monkeypatch.setattr(workers, "compiled_before", lambda: True)  # else the first one runs alone
    finished = []
    cases = cases_of(pair, **SIZES)
    outcomes = sweep(cases, sweep_cases.slow_first, jobs=2, progress=lambda n, o: finished.append((n, o.case.name)))
    assert [o.case for o in outcomes] == cases
    assert [number for number, _ in finished] == [1, 2, 3]
    assert finished[-1][1] == "first"
    assert outcomes[0].value > outcomes[1].value == outcomes[2].value > 0
    here = sweep(cases, sweep_cases.makespan, jobs=1)
    assert [o.value for o in here] == [o.value for o in outcomes]


def test_what_is_there_is_not_run_again(pair, tmp_path, monkeypatch):
    cases = cases_of(pair, **SIZES)
    first = sweep(cases[:2], sweep_cases.makespan, tmp_path / "runs", jobs=1)
    assert [o.resumed for o in first] == [False, False]
    assert read(tmp_path / "runs" / "second").summary["status"] == "completed"
    ran = []
    monkeypatch.setattr(pool, "build", lambda *a, build=pool.build: ran.append(1) or build(*a))
    again = sweep(cases, sweep_cases.makespan, tmp_path / "runs", jobs=1)
    assert [o.resumed for o in again] == [True, True, False]
    assert len(ran) == 1
    assert [o.value for o in again[:2]] == [o.value for o in first]


def test_another_experiment_in_the_way_is_not_overwritten_nor_taken(pair, tmp_path):
    sweep([Case("a", pair)], sweep_cases.makespan, tmp_path / "runs", jobs=1)
    with pytest.raises(InputError, match="runs/a exists and is no result of this run"):
        sweep([Case("a", pair, ("seed=9",))], sweep_cases.makespan, tmp_path / "runs", jobs=1)


def test_names_must_differ(pair):
    with pytest.raises(InputError, match="'a'"):
        sweep([Case("a", pair), Case("a", pair)], sweep_cases.makespan)


def test_a_run_that_fails_is_an_outcome_with_its_error(pair):
    cases = cases_of(pair, good="seed=1", bad="jobs.0.ranks=7", worse="seed=-1", broken="seed=3")

    def measure(case, result):
        return 1 / (case.name != "broken")

    good, bad, worse, broken = sweep(cases, measure, jobs=1)
    assert (good.value, good.error) == (1, "")
    assert bad.value is None
    assert "7" in bad.error
    assert "seed" in worse.error
    assert broken.error == "internal error: ZeroDivisionError: division by zero"


def test_a_worker_that_dies_takes_nothing_along(pair):
    outcomes = sweep(cases_of(pair, dies="seed=1", lives="seed=2", too="seed=3"), sweep_cases.deadly, jobs=2)
    assert outcomes[0].error == "its process ended with exit code 3"
    assert outcomes[1].value == outcomes[2].value > 0


def test_ctrl_c_ends_the_workers_and_keeps_what_is_finished(pair, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "tests.sweep_cases", str(pair), str(tmp_path / "runs")],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "quick\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted, 0 left\n"
        assert process.wait(20) == 0
    left = {path.name for path in (tmp_path / "runs").iterdir()}
    assert "quick" in left
    assert left <= {"quick", "endless"}  # and nothing half-written


# -- the matrix -----------------------------------------------------------------------------------------------


def test_varied_values():
    assert parse_vary(["a.b=1,2", "c=[1,2],{x: 1,y: 2}", "d=x"]) == {
        "a.b": ["1", "2"], "c": ["[1,2]", "{x: 1,y: 2}"], "d": ["x"],
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a", "a=", "=b", "a..b=c", "a=b,,c", "a=b,b"])
def test_what_is_no_variation(text):
    with pytest.raises(InputError, match="--vary"):
        parse_vary([text])


def test_a_key_is_varied_once():
    with pytest.raises(InputError, match="varied already"):
        parse_vary(["a=1", "a=2"])


def test_all_combinations_with_all_seeds(pair):
    cells = matrix(pair, {"jobs.0.iterations": ["1", "2"], "network.model": ["flow", "analytic"]}, ["seed=7"], 2)
    assert len(cells) == 8
    assert [cell.labels["network.model"] for cell in cells[:4]] == ["flow", "flow", "analytic", "analytic"]
    assert [cell.seed for cell in cells] == [7, 8] * 4
    assert [cell.case.name for cell in cells[:3]] == ["1-flow-seed7", "1-flow-seed8", "1-analytic-seed7"]
    assert "seed=8" in cells[1].case.overrides
    assert cells[0].case.overrides[-1] == "output.messages=true"


def test_values_that_look_alike_get_directories_of_their_own(pair):
    names = [cell.case.name for cell in matrix(pair, {"description": ["a b", "a/b", "a_b"]})]
    assert names == ["a_b", "a_b-2", "a_b-3"]


def test_wrong_values_and_keys_are_named_with_what_is_allowed(pair):
    with pytest.raises(InputError) as caught:
        matrix(pair, {"network.model": ["flow", "flw"], "jobs.0.iterations": ["1", "0"]})
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("--vary network.model=flw: network.model: ")
    assert "analytic, flow, packet" in lines[0].replace("'", "")
    assert lines[1].startswith("--vary jobs.0.iterations=0: ")
    assert len(lines) == 2
    with pytest.raises(InputError, match=r"--vary network\.modl=flow: .*did you mean 'model'"):
        matrix(pair, {"network.modl": ["flow", "packet"]})


def test_a_combination_that_is_impossible_stays_in_as_a_row(pair):
    varied = {"network.model": ["flow", "packet"], "network.congestion_control.kind": ["none", "hpcc"]}
    assert len(matrix(pair, varied)) == 4
    varied = {"jobs.0.start": ["0", "2s"], "jobs.0.stop": ["1s", "3s"]}  # a stop before the start
    assert len(matrix(pair, varied)) == 4


def test_a_broken_file_is_told_once(pair):
    pair.write_text(PAIR.replace("1MiB", "1"))
    with pytest.raises(InputError) as caught:
        matrix(pair, {"seed": ["1", "2", "3"]})
    assert str(caught.value).count("\n") == 0


def test_too_many_runs_are_refused(pair):
    with pytest.raises(InputError, match="20,000 runs"):
        matrix(pair, {"seed": [str(n) for n in range(20)]}, seeds=1000)


def test_keys_that_a_kind_leaves_behind_are_told(pair):
    pair.write_text(PAIR.replace("analytic", "packet, congestion_control: {kind: hpcc, eta: 0.9}"))
    varied = {"network.congestion_control.kind": ["hpcc", "dctcp", "none"]}
    told = "eta of network.congestion_control in the file holds for hpcc only: dctcp, none ran without, on their own"
    assert dropped_keys(pair, varied) == [f"{told} defaults"]
    assert dropped_keys(pair, varied, ["network.congestion_control.eta=0.8"]) == []  # of the user, kept
    assert dropped_keys(pair, {"network.congestion_control.kind": ["hpcc"]}) == []
    assert dropped_keys(pair, {"network.load_balancing.kind": ["ecmp", "spray"], "nothing.kind": ["a"]}) == []


def _halved(number: int) -> float:
    return number / 2


def test_a_function_over_items_answers_each_of_them_once():
    for jobs in (1, 2):
        answers = dict(workers.each(_halved, [4, 6, 8], died=lambda item, reason: reason, jobs=jobs))
        assert answers == {0: 2, 1: 3, 2: 4}
    assert list(workers.each(_halved, [], died=lambda item, reason: reason)) == []
