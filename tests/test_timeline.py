import gzip
import json
import os
import subprocess
import sys
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from simnet.result import TASKS, table
from simnet.timeline import to_json
from tests.example_result import Run, example, pipeline, size_sweep, training


def load(trace):
    return json.loads(gzip.decompress(trace), parse_float=Decimal)


def by_phase(trace):
    events = defaultdict(list)
    for event in load(trace)["traceEvents"]:
        events[event["ph"]].append(event)
    return events


def track_of(event):
    return event["pid"], event["tid"]


def check(trace):
    """What Perfetto asks of a file, so that it drops nothing; returns the events by phase."""
    events = by_phase(trace)
    names = {}
    for event in events["M"]:
        if event["name"].endswith("_name"):
            key = (event["pid"], event.get("tid"))
            assert key not in names
            names[key] = event["args"]["name"]
    numbers = [pid for pid, tid in names if tid is None] + [tid for _, tid in names if tid is not None]
    assert len(set(numbers)) == len(numbers)

    slices = defaultdict(list)
    for event in events["X"]:
        assert (event["pid"], None) in names
        assert track_of(event) in names
        assert event["dur"] >= 0
        slices[track_of(event)].append((event["ts"], event["ts"] + event["dur"]))
    for spans in slices.values():  # tasks of a stream run one after the other
        spans.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))

    ends = {}
    for phase in "sf":
        for event in events[phase]:
            assert any(start <= event["ts"] < end for start, end in slices[track_of(event)])
            identity = (event["cat"], event["name"], event["id"], phase)
            assert identity not in ends
            ends[identity] = event
    assert all(event["bp"] == "e" for event in events["f"])
    for category, name, number, _ in ends:
        assert ends[category, name, number, "s"]["ts"] <= ends[category, name, number, "f"]["ts"]

    lanes = defaultdict(list)
    for event in events["b"] + events["e"]:
        lanes[event["pid"], event["cat"], event["name"], event["id2"]["local"]].append((event["ts"], event["ph"]))
    assert all([phase for _, phase in lane] == ["b", "e"] and lane[0][0] <= lane[1][0] for lane in lanes.values())

    values = defaultdict(list)
    for event in events["C"]:
        values[event["name"]].append((event["ts"], event["args"]["%"]))
    for steps in values.values():
        assert steps == sorted(steps)
        assert all(0 <= value <= 100 for _, value in steps)
        assert steps[-1][1] == 0 or events["i"]  # unless the end is cut off
    return events


def jittered(ranks=3, tasks=300, seed=1):
    """Tasks back to back at times that are no multiples of a nanosecond."""
    random, run = np.random.default_rng(seed), Run(ranks)
    for _ in range(tasks):
        ready = [run.compute("j", r, "work", random.uniform(1e-10, 1e-6)) for r in range(ranks)]
        run.collective("j", list(range(ranks)), "sync", "all_reduce", random.uniform(0, 1e3), ready, 1.0)
    return run.result()


RESULTS = {
    "training": lambda: example(4),
    "one rank": lambda: example(1),
    "transfers and messages": lambda: pipeline(messages=True),
    "micro-benchmark": lambda: size_sweep(2),
    "jittered": jittered,
}


@pytest.mark.parametrize("name", RESULTS)
def test_traces_are_clean(name):
    result = RESULTS[name]()
    events = check(to_json(result))
    assert len(events["X"]) == result.tasks.num_rows


def test_processes_and_tracks_are_named_in_order():
    names = [
        (event["pid"], event.get("tid"), event["args"]["name"])
        for event in by_phase(to_json(example(2)))["M"]
        if event["name"] in ("process_name", "thread_name")
    ]
    assert names == [
        (1, None, "rank 0 (node0.gpu0)"), (2, None, "rank 1 (node0.gpu1)"), (3, None, "links"),
        (1, 4, "compute"), (1, 5, "communication"), (2, 6, "compute"), (2, 7, "communication"),
    ]  # fmt: skip


def test_two_jobs_are_told_apart():
    run = training(2, job="a", layers=1)
    training(2, job="b", layers=1, run=run, begin=1.0)
    events = check(to_json(run.result()))
    names = [e["args"]["name"] for e in events["M"] if e["name"] == "process_name"]
    assert names == [
        "a: rank 0 (node0.gpu0)", "a: rank 1 (node0.gpu1)", "b: rank 0 (node0.gpu0)", "b: rank 1 (node0.gpu1)", "links"
    ]  # fmt: skip


def test_times_are_microseconds_to_the_nanosecond():
    run = Run(1)
    run.compute("j", 0, "first", 1.2345678e-6)
    run.compute("j", 0, "second", 2e-6)
    first, second = by_phase(to_json(run.result()))["X"]
    assert (first["ts"], first["dur"]) == (Decimal("0"), Decimal("1.235"))
    assert (second["ts"], second["dur"]) == (Decimal("1.235"), Decimal("2.000"))


def test_collectives_point_at_the_member_that_was_waited_for():
    run = Run(3)
    run.collective("j", [0, 1, 2], "g", "all_reduce", 1e6, [0.0, 5e-6, 2e-6], 1.0)
    events = check(to_json(run.result()))
    assert len(events["s"]) == len(events["f"]) == 2
    assert {e["pid"] for e in events["f"]} == {2}  # rank 1 arrived last
    assert {e["pid"] for e in events["s"]} == {1, 3}
    assert {e["ts"] for e in events["s"] + events["f"]} == {5}


def test_transfers_point_at_the_receiver_whoever_came_first():
    for arrived in ([0.0, 5e-6], [5e-6, 0.0]):
        run = Run(2)
        run.collective("j", [0, 1], "a", "send_recv", 1e6, arrived, 1.0)
        events = check(to_json(run.result()))
        [start], [end] = events["s"], events["f"]
        assert (start["pid"], end["pid"]) == (1, 2)


def test_slices_say_what_was_moved():
    run = Run(2)
    run.collective("j", [0, 1], "g", "all_reduce", 1e6, [0.0, 5e-6], 1.0)
    first = by_phase(to_json(run.result()))["X"][0]
    assert first["args"] == {
        "label": "g", "algorithm": "ring", "operation": 0, "size": 1_000_000, "sent": 1_000_000,
        "received": 1_000_000, "waited_us": 5,
    }  # fmt: skip


def test_unfinished_tasks_reach_the_end_of_the_run():
    result = example(2)
    ends = np.where(np.arange(result.tasks.num_rows) % 7 == 6, np.nan, result.tasks["end"].to_numpy())
    starts = np.where(np.isnan(ends), result.summary["makespan"] * 0.999, result.tasks["start"].to_numpy())
    last = np.flatnonzero(np.isnan(ends))[-1:]
    keep = np.append(np.flatnonzero(~np.isnan(ends)), last)
    columns = {name: result.tasks[name].to_pylist() for name in TASKS.names} | {"start": starts, "end": ends}
    tasks = table(TASKS, columns).take(keep)
    changed = type(result)(result.summary, {}, tasks, result.flows, result.links, result.samples)
    cut = [e for e in by_phase(to_json(changed))["X"] if e.get("args", {}).get("unfinished")]
    assert len(cut) == 1
    assert float(cut[0]["ts"] + cut[0]["dur"]) == pytest.approx(result.summary["makespan"] * 1e6, abs=1e-3)


def test_counters_step_with_the_samples():
    run = Run(2)
    run.compute("j", 0, "work", 100e-6)
    ready = run.compute("j", 1, "work", 100e-6)
    run.collective("j", [0, 1], "g", "all_reduce", 5e6, [ready, ready], 1.0)  # 100 us at 50 GB/s, and 2 us latency
    events = check(to_json(run.result(bins=202)))  # bins of 1 us
    steps = [(e["ts"], e["args"]["%"]) for e in events["C"] if e["name"] == "node0.gpu0 -> leaf0"]
    assert len({e["name"] for e in events["C"]}) == 4
    assert steps == [(Decimal(100), pytest.approx(Decimal("98.04"))), (Decimal(202), 0)]  # mean rate over 102 us


def test_messages_overlap_as_asynchronous_events():
    result = pipeline(messages=True)
    events = check(to_json(result))
    assert len(events["b"]) == result.messages.num_rows
    assert {e["name"] for e in events["b"] if e["pid"] == 1} == {"node0.gpu0 -> node0.gpu1"}


def test_names_may_hold_anything():
    run = Run(1)
    run.compute('job "x"\n', 0, 'a "quoted" \\ name\t\u2028é', 1e-3)
    [event] = check(to_json(run.result()))["X"]
    assert event["name"] == 'a "quoted" \\ name\t\u2028é'


def test_large_runs_are_cut_at_a_time_and_say_so():
    result = example(8)
    whole = by_phase(to_json(result))
    total = sum(len(events) for phase, events in whole.items() if phase != "M")
    trace = to_json(result, most=100)
    events = check(trace)
    kept = [e for phase, found in events.items() if phase not in "Mi" for e in found]
    assert 50 < len(kept) <= 100
    [note] = events["i"]
    assert note["name"] == load(trace)["otherData"]["notes"][0]
    assert f"{total} events" in note["name"]
    assert "the first" in note["name"]
    window = max(e["ts"] for e in kept)
    assert {e["name"] for e in events["X"]} == {e["name"] for e in whole["X"] if e["ts"] <= window}


def test_single_flows_are_left_out_first():
    result = pipeline(messages=True)
    whole = by_phase(to_json(result))
    without = sum(len(events) for phase, events in whole.items() if phase not in "Mbe")
    events = check(to_json(result, most=without))
    assert not events["b"]
    assert len(events["X"]) == len(whole["X"])
    assert events["i"][0]["name"].startswith("Single flows are left out")


SCRIPT = "import sys; from tests.example_result import pipeline; from simnet.timeline import to_json; " \
    "sys.stdout.buffer.write(to_json(pipeline(messages=True)))"  # fmt: skip


def test_equal_bytes_whatever_the_process_and_hash_seed():
    here = to_json(pipeline(messages=True))
    assert here == to_json(pipeline(messages=True))
    root = Path(__file__).resolve().parents[1]
    environment = os.environ | {"PYTHONHASHSEED": "4321"}
    there = subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, env=environment, check=True, capture_output=True)
    assert there.stdout == here
    assert here[4:8] == bytes(4)  # no date in the gzip header
