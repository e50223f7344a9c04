"""From replayed jobs and the network's report to the tables of a result."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from simnet.engine.replay import JobReplay, Lowered, Replay
from simnet.network.model import Delivered, NetworkReport
from simnet.result import FLOWS, LINKS, MESSAGES, PROBES, SAMPLES, TASKS, Coded, table
from simnet.topology.topology import Topology
from simnet.workload.task_graph import STREAMS


def tasks_table(jobs: list[JobReplay], device_names: list[list[str]]) -> pa.Table:
    """The tasks that began, job by job in program order. device_names: by job, then rank."""
    words = _Words("name", "kind", "device")
    words.codes("kind", ["compute"])
    parts, operations = [], 0
    for number, job in enumerate(jobs):
        graph = job.plan.graph
        begun = np.array(job.begun, np.float64)
        rows = np.flatnonzero(~np.isnan(begun))
        # the last code is that of operation -1: a compute task
        kind = words.codes("kind", [*(o.kind for o in graph.operations), "compute"])
        operation = graph.operation[rows]
        parts.append({
            "job": np.full(len(rows), number),
            "device": words.codes("device", device_names[number])[graph.rank[rows]],
            "stream": graph.stream[rows],
            "name": words.codes("name", graph.names)[graph.name[rows]],
            "kind": kind[operation],
            "rank": graph.rank[rows],
            "operation": np.where(operation < 0, -1, operation + operations),
            "start": begun[rows],
            "end": np.array(job.ended, np.float64)[rows],
        })  # fmt: skip
        operations += len(graph.operations)
    names = {"job": [job.plan.name for job in jobs], "stream": list(STREAMS)} | words.names
    return table(TASKS, _joined(parts, names))


def flows_table(replay: Replay, report: NetworkReport, device_names: list[list[str]]) -> pa.Table:
    """One row per member that reached a transfer or collective, operation by operation.

    What is not through has sent and received the bytes that the network had delivered by then.
    """
    under_way = _delivered(replay, report)
    words = _Words("label", "kind", "algorithm", "choice", "communicator", "device")
    parts, operations = [], 0
    for number, job in enumerate(replay.jobs):
        graph = job.plan.graph
        rows = np.flatnonzero((graph.operation >= 0) & ~np.isnan(np.array(job.begun, np.float64)))
        rows = rows[np.lexsort((graph.member[rows], graph.operation[rows]))]
        operation, member = graph.operation[rows], graph.member[rows]
        wanted = graph.operations
        ended = np.array(job.ended, np.float64)[rows]
        sent, received = _carried(job, under_way[number], operation, member)
        parts.append({
            "job": np.full(len(rows), number),
            "operation": operation + operations,
            "label": words.codes("label", [graph.names[n] for n in graph.name[rows]]),
            "kind": words.codes("kind", [o.kind for o in wanted])[operation],
            "algorithm": words.codes("algorithm", [o.algorithm for o in wanted])[operation],
            "choice": words.codes("choice", [_chosen(job, number) for number in range(len(wanted))])[operation],
            "communicator": words.codes("communicator", [o.communicator for o in wanted])[operation],
            "rank": graph.rank[rows],
            "member": member,
            "device": words.codes("device", device_names[number])[graph.rank[rows]],
            "size": np.array([o.size for o in wanted], np.float64)[operation],
            "sent": sent,
            "received": received,
            "arrived": np.array(job.begun, np.float64)[rows],
            "start": np.array(job.launched, np.float64)[operation],
            "end": ended,
            "outcome": np.isnan(ended).astype(np.int32),
        })  # fmt: skip
        operations += len(wanted)
    names = {"job": [job.plan.name for job in replay.jobs], "outcome": ["done", "unfinished"]} | words.names
    return table(FLOWS, _joined(parts, names))


def links_table(report: NetworkReport, topology: Topology, until: float) -> pa.Table:
    """What every link carried until `until` [s]."""
    sources, destinations = topology.ends
    peak = (report.bins / report.bin_width).max(axis=1, initial=0.0) / topology.rates
    return table(LINKS, {
        "link": [topology.link_name(i) for i in range(len(topology.links))],
        "source": topology.names(sources),
        "destination": topology.names(destinations),
        "kind": [k.kind for k in topology.links],
        "rate": topology.rates,
        "latency": topology.latencies,
        "bytes": report.bytes,
        "utilization": report.bytes / (topology.rates * until) if until > 0 else np.zeros(len(peak)),
        "peak": peak,
        "busy": report.busy,
        **_ports(report, until),
    })  # fmt: skip


def _ports(report: NetworkReport, until: float) -> dict[str, np.ndarray]:
    """The columns of LINKS that tell of queues, 0 in a model without."""
    none = np.zeros(len(report.bytes))
    names = (
        "packets",
        "marked",
        "dropped",
        "dropped_bytes",
        "trimmed",
        "pauses",
        "paused",
        "peak_queue",
        "kmin",
        "kmax",
        "xoff",
    )
    columns = {name: report.ports.get(name, none) for name in names}
    return columns | {"mean_queue": report.ports.get("queue_area", none) / until if until > 0 else none}


def samples_table(report: NetworkReport, topology: Topology) -> pa.Table:
    """Utilization and mean queue of every link in every bin in which it carried or held anything."""
    queues = np.zeros_like(report.bins) if report.queue_bins is None else report.queue_bins
    link, column = np.nonzero((report.bins != 0) | (queues != 0))
    used, code = np.unique(link, return_inverse=True)
    return table(
        SAMPLES,
        {
            "link": Coded(code, [topology.link_name(i) for i in used]),
            "time": column * report.bin_width,
            "utilization": report.bins[link, column] / (report.bin_width * topology.rates[link]),
            "queue": queues[link, column],
        },
        bin_width=report.bin_width,
    )


def probes_table(report: NetworkReport, replay: Replay, device_names: list[list[str]], topology: Topology) -> pa.Table:
    """What was sampled of connections, connection by connection, from their first packet on."""
    found = report.probes
    jobs = [job.plan.name for job in replay.jobs]
    owners = {name: number for number, names in enumerate(device_names) for name in names}
    names = [device.name for device in topology.devices]
    sent = found["sent"]
    flow, row = np.nonzero(sent.T)
    throughput = np.diff(sent, axis=0, prepend=0.0) / report.bin_width
    source = found["source"][flow]
    return table(PROBES, {
        "flow": flow,
        "job": Coded(np.array([owners.get(name, 0) for name in names], np.int32)[source], jobs),
        "source": Coded(source, names),
        "destination": Coded(found["destination"][flow], names),
        "time": (row + 1) * report.bin_width,
        "throughput": throughput[row, flow],
        **{name: found[name][row, flow] for name in ("window", "rate", "inflight", "rtt")},
    })  # fmt: skip


def messages_table(report: NetworkReport, replay: Replay, topology: Topology) -> pa.Table:
    """Every single flow that the network recorded."""
    flows = report.flows or dict.fromkeys(("graph", "source", "destination", "size", "start", "end"), np.zeros(0, int))
    jobs = replay.jobs
    offsets = np.concatenate([[0], np.cumsum([len(job.plan.graph.operations) for job in jobs])])
    numbers = {id(job): number for number, job in enumerate(jobs)}
    graphs, row = np.unique(flows["graph"], return_inverse=True)
    origin = np.array([(numbers[id(job)], op) for job, op in (replay.launched[g] for g in graphs.tolist())], np.int64)
    job, operation = origin.reshape(-1, 2)[row].T
    names = [device.name for device in topology.devices]
    return table(MESSAGES, {
        "job": Coded(job, [j.plan.name for j in jobs]),
        "operation": operation + offsets[job],
        "source": Coded(flows["source"], names),
        "destination": Coded(flows["destination"], names),
        "size": flows["size"],
        "start": flows["start"],
        "end": flows["end"],
    })  # fmt: skip


def finished_operations(jobs: list[JobReplay]) -> Iterator[tuple[JobReplay, int, float, float, Lowered]]:
    """(job, operation, first arrival [s], last end [s], its flows) of every operation that is through."""
    for job in jobs:
        graph = job.plan.graph
        rows = np.flatnonzero(graph.operation >= 0)
        operation = graph.operation[rows]
        first, last = (np.full(len(graph.operations), bound) for bound in (np.inf, -np.inf))
        # infinite where a member is not through
        begun, ended = (np.nan_to_num(times, nan=np.inf)[rows] for times in (job.begun, job.ended))
        np.minimum.at(first, operation, begun)
        np.maximum.at(last, operation, ended)
        for number in np.flatnonzero(np.isfinite(last) & np.isfinite(first)).tolist():
            yield job, number, float(first[number]), float(last[number]), job.plan.lower(graph.operations[number])


class _Words:
    """Text columns as codes into growing lists of names."""

    def __init__(self, *columns: str):
        self._numbers: dict[str, dict[str, int]] = {column: {} for column in columns}

    def codes(self, column: str, words: list[str]) -> np.ndarray:
        """The code of every word."""
        numbers = self._numbers[column]
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32)

    @property
    def names(self) -> dict[str, list[str]]:
        """The names by column, each at its code."""
        return {column: list(numbers) for column, numbers in self._numbers.items()}


def _joined(parts: list[dict[str, np.ndarray]], names: dict[str, list[str]]) -> dict:
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return {key: Coded(column, names[key]) if key in names else column for key, column in joined.items()}


def _chosen(job: JobReplay, number: int) -> str:
    """What a library chose for an operation and why, '' where none did or it never started."""
    if np.isnan(job.launched[number]):
        return ""
    choice = job.plan.lower(job.plan.graph.operations[number]).choice
    return "" if choice is None else choice.why


def _delivered(replay: Replay, report: NetworkReport) -> list[dict[int, Delivered]]:
    """By job, what its operations under way have delivered."""
    found = {id(job): {} for job in replay.jobs}
    for number, delivered in report.under_way.items():
        if number in replay.launched:  # else the network failed while it took the graph in
            job, operation = replay.launched[number]
            found[id(job)][operation] = delivered
    return [found[id(job)] for job in replay.jobs]


def _carried(
    job: JobReplay, under_way: dict[int, Delivered], operation: np.ndarray, member: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bytes sent and received by each row's member in its operation; 0 where the flows never started."""
    sent, received = np.zeros(len(operation)), np.zeros(len(operation))
    bounds = np.flatnonzero(np.diff(operation, prepend=-1, append=-1))
    for first, last in pairwise(bounds.tolist()):
        number = int(operation[first])
        if job.launched[number] == job.launched[number]:
            carried = under_way.get(number) or job.plan.lower(job.plan.graph.operations[number])
            sent[first:last] = carried.sent[member[first:last]]
            received[first:last] = carried.received[member[first:last]]
    return sent, received
