"""Results made by hand, as a run of simnet would leave them, for tests of what reads a result."""

import numpy as np

from simnet.metrics import makespan, summarize
from simnet.result import FLOWS, LINKS, MESSAGES, PROBES, SAMPLES, TASKS, RunResult, table

RATE, LATENCY = 50e9, 1e-6
FORWARD, BACKWARD, OPTIMIZER = 1.0e-3, 2.0e-3, 0.5e-3
TASK_KEYS = ("job", "device", "stream", "name", "kind", "rank", "operation", "start", "end")
FLOW_KEYS = (
    "job", "operation", "label", "kind", "algorithm", "communicator", "rank", "member", "device", "size", "sent",
    "received", "arrived", "start", "end", "outcome", "choice",
)  # fmt: skip


def rows_table(schema, rows, keys=None, **more):
    """A table from rows as tuples, in the order of the schema's columns."""
    keys = keys or schema.names
    rows = [(*row, *[0] * (len(keys) - len(row))) for row in rows]  # no queues
    columns = list(zip(*rows)) or [()] * len(keys)
    return table(schema, dict(zip(keys, columns)), **more)


class Run:
    """Collects the rows of a run on a crossbar: every rank has one link up and one down."""

    def __init__(self, ranks, servers_of=8):
        self.ranks = ranks
        self.devices = [f"node{r // servers_of}.gpu{r % servers_of}" for r in range(ranks)]
        self.tasks, self.flows = [], []
        self.free = {}  # (rank, stream) -> time [s]
        self.operations = 0

    def compute(self, job, rank, name, duration, after=0.0):
        start = max(after, self.free.get((job, rank, "compute"), 0.0))
        self.free[job, rank, "compute"] = start + duration
        self.tasks.append((job, self.devices[rank], "compute", name, "compute", rank, -1, start, start + duration))
        return start + duration

    def collective(self, job, members, label, kind, size, after, factor, algorithm="ring", skew=None):
        """All members move factor * size [bytes] (times their skew) each way at the rate of their links."""
        number, self.operations = self.operations, self.operations + 1
        arrived = [max(t, self.free.get((job, r, "communication"), 0.0)) for r, t in zip(members, after)]
        skew = skew or [1.0] * len(members)
        start = max(arrived)
        for member, rank in enumerate(members):
            bytes_ = factor * size * skew[member]
            end = start + 2 * LATENCY + bytes_ / RATE
            self.free[job, rank, "communication"] = end
            device = self.devices[rank]
            sends, receives = (member == 0, member == 1) if kind == "send_recv" else (1, 1)
            self.tasks.append((job, device, "communication", label, kind, rank, number, arrived[member], end))
            self.flows.append(
                (job, number, label, kind, algorithm, "world", rank, member, device, size, bytes_ * sends,
                 bytes_ * receives, arrived[member], start, end, "done", "")
            )  # fmt: skip
        return [self.free[job, r, "communication"] for r in members]

    def result(self, bins=200, messages=None, status="completed"):
        tasks, flows = rows_table(TASKS, self.tasks, TASK_KEYS), rows_table(FLOWS, self.flows, FLOW_KEYS)
        until = makespan(tasks) or 1.0
        width = until / bins
        links, samples = [], []
        edges = np.arange(bins + 1) * width
        for rank, device in enumerate(self.devices):
            carried, active = np.zeros(bins), 0.0
            for flow in self.flows:
                if flow[6] == rank and flow[14] > flow[13]:
                    inside = np.clip(np.minimum(edges[1:], flow[14]) - np.maximum(edges[:-1], flow[13]), 0, None)
                    carried += flow[10] * inside / (flow[14] - flow[13])
                    active += flow[14] - flow[13]
            used = carried / (RATE * width)
            for source, destination in ((device, "leaf0"), ("leaf0", device)):
                name = f"{source} -> {destination}"
                links.append(
                    (name, source, destination, "ib", RATE, LATENCY, carried.sum(), carried.sum() / (RATE * until),
                     used.max(initial=0.0), active)
                )  # fmt: skip
                samples += [(name, edges[b], used[b]) for b in np.flatnonzero(used)]
        links = rows_table(LINKS, links)
        counts = {"tasks": len(self.tasks), "flows": len(self.flows)}
        return RunResult(
            summary=summarize(tasks, flows, links, messages, status=status, counts=counts),
            experiment={"name": "example", "seed": 1, "network": {"kind": "flow"}, "jobs": [{"iterations": 1}]},
            tasks=tasks,
            flows=flows,
            links=links,
            samples=rows_table(SAMPLES, samples, bin_width=width),
            messages=messages,
        )


def training(ranks=4, layers=6, iterations=1, job="train", run=None, begin=0.0) -> Run:
    """A sparse and dense training iteration: lookup, all-to-all, forward, backward with overlapped all-reduce, step."""
    run = run or Run(ranks)
    everyone = list(range(ranks))
    ready = [begin] * ranks
    for _ in range(iterations):
        slow = [1.0 + 0.08 * (r % 3) for r in everyone]
        looked = [run.compute(job, r, "lookup", 0.3e-3 * slow[r], ready[r]) for r in everyone]
        skew = [1.0 + 1.5 * (r == 1) for r in everyone]
        pooled = run.collective(
            job, everyone, "pooled", "all_to_all", 32e6, looked, (ranks - 1) / ranks, "direct", skew
        )
        for layer in range(layers):
            ready = [run.compute(job, r, f"forward {layer}", FORWARD * slow[r], pooled[r]) for r in everyone]
        for layer in reversed(range(layers)):
            ready = [run.compute(job, r, f"backward {layer}", BACKWARD * slow[r]) for r in everyone]
            if layer % 2 == 0:
                label = f"gradients {layer // 2}"
                reduced = run.collective(job, everyone, label, "all_reduce", 64e6, ready, 2 * (ranks - 1) / ranks)
        ready = [run.compute(job, r, "optimizer", OPTIMIZER, reduced[r]) for r in everyone]
    return run


def example(ranks=4, **options) -> RunResult:
    """One training iteration on `ranks` GPUs."""
    return training(ranks, **options).result()


def size_sweep(ranks=8, kinds=("all_reduce", "all_gather")) -> RunResult:
    """A micro-benchmark of collectives over message sizes, as nccl-tests does."""
    run, ready = Run(ranks), [0.0] * ranks
    for kind in kinds:
        factor = (2 if kind == "all_reduce" else 1) * (ranks - 1) / ranks
        for power in range(10, 31, 2):
            for _ in range(2):
                ready = run.collective("sweep", list(range(ranks)), kind, kind, 2.0**power, ready, factor)
    return run.result()


def pipeline(stages=4, microbatches=8, messages=False) -> RunResult:
    """Forward passes through a pipeline, with a transfer between neighbours; `messages`: every transfer recorded."""
    run, arrived = Run(stages), {}
    for m in range(microbatches):
        for s in range(stages):
            done = run.compute("pipeline", s, f"forward {m}", 1e-3, arrived.get((s, m), 0.0))
            if s + 1 < stages:
                _, arrived[s + 1, m] = run.collective(
                    "pipeline", [s, s + 1], "activations", "send_recv", 1e6, [done, done], 1.0, "direct"
                )
    if not messages:
        return run.result()
    rows = [(f[0], f[1], f[8], run.devices[f[6] + 1], f[9], f[13], f[14]) for f in run.flows if f[7] == 0]
    return run.result(messages=rows_table(MESSAGES, rows))


def packets(ports=3, flows=2, until=1e-3, steps=40, output=None) -> RunResult:
    """A run with queues that rise to 100, 200, ... kB and fall again, and windows and rates of `flows` connections.

    Marking from 150 to 300 kB; the last port may fill up to an XOFF of 80 kB. Connection 0 is not paced.
    """
    run = Run(1)
    run.compute("job", 0, "work", until)
    plain, width = run.result(), until / steps
    shape = 1.0 - np.abs(np.linspace(-1, 1, steps))
    links, samples, probes = [], [], []
    for i in range(ports):
        name, peak = f"switch -> h{i}", 100e3 * (i + 1)
        counts = (500, 20 * i, 0, 0.0, 0, 0, 0.0)
        thresholds = (150e3, 300e3, 80e3 * (i == ports - 1))
        links.append(
            (name, "switch", f"h{i}", "ib", RATE, LATENCY, 1e6, 0.5, 1.0, until, *counts, peak, peak / 2, *thresholds)
        )
        samples += [(name, step * width, 0.9, peak * shape[step]) for step in np.flatnonzero(shape)]
    for flow in range(flows):
        for step in range(steps):
            rate = np.inf if flow == 0 else RATE / (flow + 1)
            used = 0.9 * RATE / (flow + 1) * (step < steps // 2 or flow > 0)
            row = (flow, "job", f"h{flow}", "h9", (step + 1) * width, 50e3 + 1e3 * step, rate, used, used * 1e-6)
            probes.append((*row, 2e-6 * (step > 0)))
    links = rows_table(LINKS, links)
    transport = dict.fromkeys(("retransmitted_packets", "retransmitted_bytes", "timeouts", "duplicates"), 0)
    return RunResult(
        summary=summarize(plain.tasks, plain.flows, links, status="completed", transport=transport),
        experiment={"name": "packets", "seed": 1, "network": {"model": "packet"}, "output": output or {}},
        tasks=plain.tasks,
        flows=plain.flows,
        links=links,
        samples=rows_table(SAMPLES, samples, bin_width=width),
        probes=rows_table(PROBES, probes) if flows else None,
    )
