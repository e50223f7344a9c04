"""How a benchmark runs one case: build, replay, assert the counts, print the cost."""

import resource
import time
import warnings

from simnet.experiment import Experiment
from simnet.params import Params
from simnet.result import RunResult
from simnet.run import build, replayed

HEADER = f"{'case':44s} {'CPU':>9s} {'events':>11s} {'solves':>8s} {'makespan':>12s} {'memory':>8s}"


def fabric(kind: str, **params) -> dict:
    """A fabric of bare hosts with 100 Gb/s links of 1 us."""
    return {"kind": kind, "link_rate": "100Gbps", "link_latency": "1us", **params}


def experiment(topology: dict, workload: dict | Params, **network) -> Experiment:
    """One job on a topology; a workload that is no row of the table is put in as it is."""
    known = workload if isinstance(workload, dict) else {"kind": "collective", "sizes": ["1MB"]}
    described = Experiment(name="benchmark", topology=topology, network=network, jobs=[{"workload": known}])
    if isinstance(workload, dict):
        return described
    job = described.jobs[0].model_copy(update={"workload": workload})
    return described.model_copy(update={"jobs": (job,)})


def measured(label: str, described: Experiment, **expected: int) -> RunResult:
    """Run one case, assert the counts in `expected`, and print what it took.

    CPU seconds run from building the task graph to the RunResult: no imports, no compilation, no pictures. Memory is
    the peak of the whole process so far.
    """
    start = time.process_time()
    simulation = build(described)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic does not know a workload of our own
        result = replayed(simulation)
    seconds = time.process_time() - start
    summary = result.summary
    assert summary["status"] == "completed", summary.get("error")
    counts = summary["simulated"]
    for name, count in expected.items():
        assert counts[name] == count, f"{label}: {counts[name]} {name}, expected {count}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"{label:44s} {seconds:7.2f} s {counts.get('events', counts['steps']):>11,} {counts.get('solves', 0):>8,} "
        f"{summary['makespan'] * 1e6:9.1f} us {memory:5.0f} MB",
        flush=True,
    )
    return result
