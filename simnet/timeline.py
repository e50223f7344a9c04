"""A run as a Chrome trace that ui.perfetto.dev opens: a process per rank, a track per stream, arrows, link counters.

What Perfetto asks of such a file: slices of a track must nest, arrows must begin and end inside a slice, and numbers
of processes and tracks decide their order; times are microseconds, here with three decimals, which it keeps exactly.
"""

import gzip
import json
from typing import NamedTuple

import numpy as np

from simnet.metrics.columns import joint, task_of_flow
from simnet.result import RunResult, numbers, text
from simnet.units import TIME

MOST_EVENTS = 1_000_000  # beyond that the viewer runs out of memory
COUNTERS = 20  # links shown
_LATEST = 2.0**62  # [ns] 146 years; what is later ends there
_NS = 1e9


class _Events(NamedTuple):
    """Lines of JSON, each with the time [ns] that decides whether it is inside the window."""

    time: np.ndarray
    lines: list[str]


class _Tracks(NamedTuple):
    """Which process and track every task row belongs to, and the lines that name them. Numbers never repeat."""

    process: np.ndarray
    track: np.ndarray
    links: int  # the process of the link counters
    names: list[str]


def to_json(result: RunResult, most: int = MOST_EVENTS) -> bytes:
    """The trace of a run, gzipped JSON, the same bytes for the same result.

    Arrows lead from every member of a collective to the one that it waited for, the last to arrive, at the instant of
    its arrival; those of a transfer from sender to receiver. (Perfetto turns an arrow round if its end started
    earlier.) Counters show the busiest links. Single flows, where recorded, are lanes below the rank that sent them.
    A run of more than `most` events loses its single flows, then its end; the trace says so.
    """
    until = _nanoseconds(result.summary["makespan"])
    tracks, member = _tracks(result), task_of_flow(result.tasks, result.flows)
    start = _nanoseconds(numbers(result.tasks, "start"))
    end = np.where(np.isnan(numbers(result.tasks, "end")), until, _nanoseconds(numbers(result.tasks, "end")))
    parts = [
        _slices(result, tracks, member, start, end),
        _arrows(result, tracks, member, start, end),
        _counters(result, tracks.links),
        _messages(result, tracks, until),
    ]
    parts, notes = _within(parts, most, until)
    if notes:
        note = json.dumps(" ".join(notes))
        parts.append([f'{{"ph":"i","s":"g","name":{note},"pid":{tracks.links},"tid":{tracks.links},"ts":0}}'])
    body = ",\n".join(line for lines in (tracks.names, *parts) for line in lines)
    head = json.dumps({"displayTimeUnit": "ns", "otherData": {"notes": notes}})[:-1]
    return gzip.compress(f'{head},"traceEvents":[\n{body}\n]}}\n'.encode(), 6, mtime=0)


def _nanoseconds(seconds):
    return np.rint(np.clip(np.nan_to_num(np.asarray(seconds) * _NS), -_LATEST, _LATEST)).astype(np.int64)


def _microseconds(nanoseconds: np.ndarray) -> list[str]:
    whole, rest = np.divmod(nanoseconds, 1000)
    return [f"{w}.{r:03d}" for w, r in zip(whole.tolist(), rest.tolist())]


def _quoted(names: list[str]) -> np.ndarray:
    return np.array([json.dumps(name) for name in names], object)


def _tracks(result: RunResult) -> _Tracks:
    jobs, job_names = text(result.tasks, "job")
    devices, device_names = text(result.tasks, "device")
    streams, stream_names = text(result.tasks, "stream")
    rank = numbers(result.tasks, "rank")
    _, first, process = np.unique(joint(jobs, rank), return_index=True, return_inverse=True)
    _, first_of_track, track = np.unique(joint(process, streams), return_index=True, return_inverse=True)
    links = len(first) + 1
    several = len(np.unique(jobs)) > 1
    names = []

    def name(what, identity, number, label):
        names.append(f'{{"ph":"M","name":"{what}_name",{identity},"args":{{"name":{json.dumps(label)}}}}}')
        names.append(f'{{"ph":"M","name":"{what}_sort_index",{identity},"args":{{"sort_index":{number}}}}}')

    for number, row in enumerate(first, 1):
        job = f"{job_names[jobs[row]]}: " if several else ""
        name("process", f'"pid":{number}', number, f"{job}rank {rank[row]} ({device_names[devices[row]]})")
    name("process", f'"pid":{links}', links, "links")
    for number, row in enumerate(first_of_track, links + 1):
        name("thread", f'"pid":{process[row] + 1},"tid":{number}', number, stream_names[streams[row]])
    return _Tracks(process + 1, track + links + 1, links, names)


def _slices(result: RunResult, tracks: _Tracks, member: np.ndarray, start: np.ndarray, end: np.ndarray) -> _Events:
    names, kinds = text(result.tasks, "name"), text(result.tasks, "kind")
    unfinished = np.isnan(numbers(result.tasks, "end"))
    columns = (
        _quoted(names.names)[names.codes], _quoted(kinds.names)[kinds.codes], tracks.process.tolist(),
        tracks.track.tolist(), _microseconds(start), _microseconds(end - start),
        _arguments(result, member, unfinished),
    )  # fmt: skip
    lines = [
        f'{{"ph":"X","name":{name},"cat":{kind},"pid":{process},"tid":{track},"ts":{ts},"dur":{dur}{more}}}'
        for name, kind, process, track, ts, dur, more in zip(*columns)
    ]
    return _Events(start, lines)


def _arguments(result: RunResult, member: np.ndarray, unfinished: np.ndarray) -> np.ndarray:
    """What the viewer shows of a selected slice, as the tail of its line."""
    flows = result.flows
    algorithms, labels = text(flows, "algorithm"), text(flows, "label")
    columns = [numbers(flows, c).tolist() for c in ("operation", "size", "sent", "received")]
    waited = _microseconds(_nanoseconds(numbers(flows, "start")) - _nanoseconds(numbers(flows, "arrived")))
    tails = [
        f',"args":{{"label":{label},"algorithm":{algorithm},"operation":{operation},"size":{size:.15g},'
        f'"sent":{sent:.15g},"received":{received:.15g},"waited_us":{wait}'
        for label, algorithm, operation, size, sent, received, wait in zip(
            _quoted(labels.names)[labels.codes], _quoted(algorithms.names)[algorithms.codes], *columns, waited
        )
    ]
    arguments = np.full(result.tasks.num_rows, "", object)
    found = member >= 0
    arguments[member[found]] = np.array(tails, object)[found]
    open_ended = np.where(arguments == "", ',"args":{"unfinished":true}', arguments + ',"unfinished":true}')
    closed = np.where(arguments == "", "", arguments + "}")
    return np.where(unfinished, open_ended, closed)


def _arrows(result: RunResult, tracks: _Tracks, task: np.ndarray, start: np.ndarray, end: np.ndarray) -> _Events:
    flows = result.flows
    time = np.where(np.isnan(numbers(flows, "start")), -1, _nanoseconds(numbers(flows, "start")))
    inside = (task >= 0) & (time >= start[task]) & (time < end[task]) if len(task) else np.zeros(0, bool)
    kinds, names = text(flows, "kind")
    sender = np.array([name == "send_recv" for name in names], bool)[kinds] & (numbers(flows, "member") == 0)
    # by operation, the hub of its arrows comes first: the sender of a transfer, the last member of a collective
    operation = joint(text(flows, "job").codes, numbers(flows, "operation"))
    order = np.lexsort((-numbers(flows, "arrived"), ~sender, operation))
    first = np.flatnonzero(np.diff(operation[order], prepend=-1))
    hub = np.repeat(order[first], np.diff(first, append=len(order)))
    pairs = (hub != order) & inside[order] & inside[hub]
    hub, other = hub[pairs], order[pairs]
    origin, target = np.where(sender[hub], hub, other), np.where(sender[hub], other, hub)
    columns = (
        _quoted(names)[kinds[target]], _microseconds(time[target]),
        tracks.process[task[origin]].tolist(), tracks.track[task[origin]].tolist(),
        tracks.process[task[target]].tolist(), tracks.track[task[target]].tolist(),
    )  # fmt: skip
    lines = []
    for i, (name, ts, process, track, to_process, to_track) in enumerate(zip(*columns), 1):
        same = f'"name":{name},"cat":"operation","id":{i},"ts":{ts}'
        lines.append(f'{{"ph":"s",{same},"pid":{process},"tid":{track}}}')
        lines.append(f'{{"ph":"f","bp":"e",{same},"pid":{to_process},"tid":{to_track}}}')
    return _Events(np.repeat(time[target], 2), lines)


def _counters(result: RunResult, process: int) -> _Events:
    """Steps of the utilization of the busiest links [%]: a value holds until the next; gaps between bins are 0."""
    codes, names = text(result.samples, "link")
    utilization, width = numbers(result.samples, "utilization"), result.bin_width
    bins = np.rint(numbers(result.samples, "time") / width).astype(np.int64)
    totals = np.bincount(codes, utilization, len(names))
    times, lines = [], []
    for link in np.argsort(-totals, kind="stable")[:COUNTERS]:
        rows = np.flatnonzero(codes == link)
        rows = rows[np.argsort(bins[rows], kind="stable")]
        steps = np.zeros(bins[rows].max(initial=-1) + 2)
        steps[bins[rows]] = np.round(100 * utilization[rows], 2)
        changes = np.flatnonzero(np.diff(steps, prepend=0.0))
        when = _nanoseconds(changes * width)
        for ts, value in zip(_microseconds(when), steps[changes].tolist()):
            name = json.dumps(names[link])
            lines.append(f'{{"ph":"C","name":{name},"pid":{process},"ts":{ts},"args":{{"%":{value:g}}}}}')
        times.append(when)
    return _Events(np.concatenate([np.zeros(0, np.int64), *times]), lines)


def _messages(result: RunResult, tracks: _Tracks, until: int) -> _Events:
    """Single flows overlap one another, so each is an asynchronous event with an identity of its own."""
    messages = result.messages
    if messages is None:
        return _Events(np.zeros(0, np.int64), [])
    devices, device_names = text(result.tasks, "device")
    process_of = dict(zip((device_names[d] for d in devices), tracks.process.tolist()))
    start = _nanoseconds(numbers(messages, "start"))
    end = np.where(np.isnan(numbers(messages, "end")), until, _nanoseconds(numbers(messages, "end")))
    columns = (
        messages["source"].to_pylist(), messages["destination"].to_pylist(), numbers(messages, "operation").tolist(),
        numbers(messages, "size").tolist(), _microseconds(start), _microseconds(end),
    )  # fmt: skip
    lines = []
    for i, (source, destination, operation, size, begin, finish) in enumerate(zip(*columns), 1):
        name = json.dumps(f"{source} -> {destination}")
        process = process_of.get(source, tracks.links)
        same = f'"name":{name},"cat":"message","id2":{{"local":"{i:#x}"}},"pid":{process},"tid":{process}'
        lines.append(f'{{"ph":"b",{same},"ts":{begin},"args":{{"operation":{operation},"size":{size:.15g}}}}}')
        lines.append(f'{{"ph":"e",{same},"ts":{finish}}}')
    return _Events(np.repeat(start, 2), lines)


def _within(parts: list[_Events], most: int, until: int) -> tuple[list[list[str]], list[str]]:
    """The lines of at most about `most` events, and what was left out: first the single flows, then the end."""
    notes = []
    if sum(len(p.lines) for p in parts) > most and parts[-1].lines:
        parts = parts[:-1]
        notes.append("Single flows are left out: there are too many for one trace.")
    total = sum(len(p.lines) for p in parts)
    if total <= most:
        return [p.lines for p in parts], notes
    window = np.sort(np.concatenate([p.time for p in parts]), kind="stable")[most]
    notes.append(
        f"This trace shows the first {TIME.format(window / _NS)} of {TIME.format(until / _NS)}: "
        f"the whole run has {total} events, more than a viewer can hold."
    )
    return [[line for line, t in zip(p.lines, p.time.tolist()) if t < window] for p in parts], notes
