"""Times that a network model cannot count to are told where they stand."""

import re

import pytest

from simnet.errors import InputError
from simnet.experiment import load
from simnet.run import build, replayed
from tests.test_experiment import write

LATE = """\
topology: {kind: single_switch, nodes: 2}
network:
  model: packet
  changes:
  - {time: 1ms, link: [gpu0, switch0], fail: true}
jobs:
- start: 1ms
  workload: {kind: traffic, pattern: incast, size: 1kB, start: 1ms}
"""


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("- start: 1ms", "- start: 1e6s", "run.yaml:7: jobs.0.start: has flows that begin at"),
        ("start: 1ms}", "start: 1e9s}", "run.yaml:8: jobs.0.workload: has flows that begin at"),
        ("{time: 1ms", "{time: 1e9s", "run.yaml:5: network.changes.0.time: is at"),
        ("nodes: 2", "nodes: 2, link_latency: 1e7s", "run.yaml:1: topology: gpu0 -> switch0: a packet takes"),
        ("nodes: 2", "nodes: 2, link_rate: 1e-9bps", "run.yaml:1: topology: gpu0 -> switch0: a packet takes"),
    ],
)
def test_times_beyond_what_picoseconds_count_are_placed(tmp_path, old, new, place):
    assert old in LATE
    with pytest.raises(InputError) as caught:
        build(*load(write(tmp_path, LATE.replace(old, new))))
    (line,) = str(caught.value).splitlines()
    assert line.removeprefix(f"{tmp_path}/my ").startswith(place)
    other = LATE.replace(old, new).replace("model: packet", "model: flow")
    build(*load(write(tmp_path, other)))


def test_the_latest_start_that_is_taken_can_be_counted(tmp_path):
    def at(start):
        text = LATE.replace("- start: 1ms", f"- start: {start}s").replace("fail: true", "rate: 1Gbps")
        return build(*load(write(tmp_path, text)))

    with pytest.raises(InputError, match="counts no further than") as caught:
        at(1e7)
    latest = float(re.search(r"no further than ([\d.e+]+) s", str(caught.value))[1])
    assert replayed(at(latest * 0.999)).summary["status"] == "completed"
    with pytest.raises(InputError):
        at(latest * 1.001)
