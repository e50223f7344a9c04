"""Connection matrices of htsim (.cm, .tm): 'src->dst ... start S | trigger K ... size BYTES' per flow, with triggers.

    Nodes 16                                    Nodes N, Connections C, Triggers T and Failures F come first
    Connections 2
    Triggers 1
    0->1 id 1 start 0 size 2000000 send_done_trigger 1
    0->2 id 2 trigger 1 size 2000000            starts when flow 1 is done
    trigger id 1 oneshot                        or multishot: one flow each time; or barrier count n: after n flows
    failure switch_type AGG switch_id 3 link_id 0   an uplink of an aggregation switch that is not there

The unit of `start` is not in the file: uet-htsim takes microseconds (whole ones), csg-htsim takes picoseconds. In htsim
send_done_trigger fires when the sender has all acknowledgements, recv_done_trigger when the receiver has all data; here
both fire when all data has arrived. Flows with `msg` that share an id are messages of one connection.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from simnet.errors import InputError
from simnet.params import nearest
from simnet.reader import lines
from simnet.reader.lines import Line
from simnet.workload.importers.imported import FailedUplink, Imported
from simnet.workload.traffic import traffic

StartUnit = Literal["us", "ps"]

_HEADER = {"Nodes": "nodes", "Connections": "connections", "Triggers": "triggers", "Failures": "failures"}
_TYPES = ("oneshot", "multishot", "barrier")
_FAILURE_WORDS = ("switch_type", "switch_id", "link_id")
_FLOW_WORDS = ("id", "msg", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio")


@dataclass
class _Flow:
    line: Line
    source: int
    destination: int
    size: int = -1
    start: float | None = None
    trigger: int = 0
    id: int = 0
    message: bool = False
    fires: list[int] = field(default_factory=list)


@dataclass
class _Trigger:
    line: Line
    type: str
    count: int
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


def read(path: str | Path, start_unit: StartUnit = "us") -> Imported:
    """The flows of a connection matrix. Raises InputError with file and line."""
    rows = lines.read(path)
    header: dict[str, tuple[int, Line]] = {}
    while rows and rows[0].words[0] in _HEADER:
        line = rows.pop(0)
        name = line.words[0]
        if name in header:
            raise line.error(f"{name} is there twice, first in line {header[name][1].number}")
        header[name] = (line.integer(1, f"the number of {_HEADER[name]}", int(name == "Nodes")), line)
    if "Nodes" not in header:
        first = rows[0]
        raise first.error(f"expected 'Nodes', with which a connection matrix begins, got '{first.words[0]}'")
    nodes = header["Nodes"][0]
    flows: list[_Flow] = []
    triggers: dict[int, _Trigger] = {}
    failed: list[FailedUplink] = []
    for line in rows:
        word = line.words[0]
        if "->" in word:
            flows.append(_flow(line, nodes, start_unit))
        elif word == "trigger":
            _add_trigger(line, triggers)
        elif word == "failure":
            failed.append(_failed(line))
        else:
            known = ("src->dst", "trigger", "failure", *_HEADER)
            raise line.error(f"unknown word '{word}'; allowed: {', '.join(known)}{nearest(word, known)}")
    last = rows[-1] if rows else header["Nodes"][1]
    counts = {"Connections": len(flows), "Triggers": len(triggers), "Failures": len(failed)}
    problems = [*_miscounted(header, counts, last), *_undefined(flows, triggers)]
    if problems:
        raise InputError("\n".join(problems))
    if not flows:
        raise last.error("the file has no flows")
    _join(flows, triggers)
    return Imported(_table(flows, triggers), nodes, Path(path).stem, tuple(failed))


def _miscounted(header: dict[str, tuple[int, Line]], counts: dict[str, int], last: Line) -> list[str]:
    rows = [(name, *header.get(name, (0, last)), found) for name, found in counts.items()]
    return [
        str(line.error(f"says {said} {_HEADER[name]}, but the file has {found}"))
        for name, said, line, found in rows
        if said != found
    ]


def _undefined(flows: list[_Flow], triggers: dict[int, _Trigger]) -> list[str]:
    """Triggers that flows fire or wait for and the file does not have."""
    return [
        str(flow.line.error(f"there is no trigger {number} in the file"))
        for flow in flows
        for number in [*flow.fires, flow.trigger]
        if number and number not in triggers
    ]


def _flow(line: Line, nodes: int, start_unit: StartUnit) -> _Flow:
    ends = Line(line.file, line.number, tuple(line.words[0].split("->")))
    if len(ends.words) != 2:
        raise line.error(f"expected 'src->dst', got '{line.words[0]}'")
    flow = _Flow(line, ends.integer(0, "the source"), ends.integer(1, "the destination"))
    for node in (flow.source, flow.destination):
        if node >= nodes:
            raise line.error(f"there is no node {node}; nodes are 0 to {nodes - 1}")
    if flow.source == flow.destination:
        raise line.error(f"node {flow.source} sends to itself")
    at, seen = 1, set()
    while at < len(line.words):
        word = line.words[at]
        if word not in _FLOW_WORDS:
            raise line.error(f"unknown word '{word}'; allowed: {', '.join(_FLOW_WORDS)}{nearest(word, _FLOW_WORDS)}")
        if word in seen:
            raise line.error(f"'{word}' is there twice")
        seen.add(word)
        if word == "msg":
            flow.message = True
            numbered = at + 1 < len(line.words) and line.words[at + 1] not in _FLOW_WORDS
            at += 2 if numbered else 1  # its number is the place in the order of the file
            continue
        _set(flow, word, line, at + 1, start_unit)
        at += 2
    if flow.size < 0:
        raise line.error("the flow has no size")
    if (flow.start is None) == (flow.trigger == 0):
        has = "neither" if flow.start is None else "both"
        raise line.error(f"the flow needs either a start or a trigger, it has {has}")
    if flow.trigger and not flow.id:
        raise line.error("a flow with a trigger needs an id")
    return flow


def _set(flow: _Flow, word: str, line: Line, at: int, start_unit: StartUnit) -> None:
    if word == "start":
        start = line.decimal(at, "start")
        flow.start = int(start) * 1e-6 if start_unit == "us" else start * 1e-12
    elif word == "size":
        flow.size = line.integer(at, "size")
        if flow.size == 0:
            raise line.error("size 0 is a flow without end in htsim, which simnet does not run; give it a size")
    elif word == "id":
        flow.id = line.integer(at, "id", 1)
    elif word == "trigger":
        flow.trigger = line.integer(at, "trigger", 1)
    elif word == "prio":
        line.integer(at, "prio")  # of the receiver's pulls in some transports
    else:
        flow.fires.append(line.integer(at, word, 1))


def _failed(line: Line) -> FailedUplink:
    values: dict[str, int] = {}  # where in the line the value of a word stands
    for at in range(1, len(line.words), 2):
        word = line.words[at]
        if word not in _FAILURE_WORDS or word in values:
            raise line.error(f"unexpected word '{word}'; needed once: {', '.join(_FAILURE_WORDS)}")
        values[word] = at + 1
    kind = " ".join(line.words[values["switch_type"] :][:1]) if "switch_type" in values else "AGG"
    if kind != "AGG":
        raise line.error(f"switch_type must be AGG, got {kind or 'nothing'}: htsim takes away no other links")
    if missing := [word for word in _FAILURE_WORDS if word not in values]:
        raise line.error(f"the failure has no {' and no '.join(missing)}")
    switch, link = (line.integer(values[word], word) for word in ("switch_id", "link_id"))
    return FailedUplink(switch, link, line)


def _add_trigger(line: Line, triggers: dict[int, _Trigger]) -> None:
    number, kind, count, at = 0, "", 0, 1
    while at < len(line.words):
        word = line.words[at]
        if word in _TYPES and not kind:
            kind, at = word, at + 1
        elif word == "id":
            number, at = line.integer(at + 1, "id", 1), at + 2
        elif word == "count":
            count, at = line.integer(at + 1, "count", 1), at + 2
        else:
            known = ("id", *_TYPES, "count")
            raise line.error(f"unexpected word '{word}'; allowed once: {', '.join(known)}{nearest(word, known)}")
    if not number:
        raise line.error("the trigger has no id")
    if not kind:
        raise line.error(f"the trigger has no type; allowed: {', '.join(_TYPES)}")
    if number in triggers:
        raise line.error(f"trigger {number} is there twice, first in line {triggers[number].line.number}")
    if (kind == "barrier") != (count > 0):
        raise line.error("a barrier needs a count" if kind == "barrier" else f"{kind} takes no count")
    triggers[number] = _Trigger(line, kind, count)


def _join(flows: list[_Flow], triggers: dict[int, _Trigger]) -> None:
    """Find who fires every trigger and who waits for it, and whether that can work."""
    for i, flow in enumerate(flows):
        for number in flow.fires:
            triggers[number].sources.append(i)
        if flow.trigger:
            triggers[flow.trigger].targets.append(i)
    for number, trigger in triggers.items():
        fired, waiting = len(trigger.sources), len(trigger.targets)
        if trigger.type == "oneshot" and fired > 1:
            raise trigger.line.error(f"trigger {number} is fired by {fired} flows, but a oneshot fires once")
        if trigger.type == "barrier" and fired != trigger.count:
            raise trigger.line.error(f"barrier {number} counts to {trigger.count}, but {fired} flows fire it")
        if waiting and not fired:
            raise trigger.line.error(f"{waiting} flows wait for trigger {number}, which no flow fires")
        if trigger.type == "multishot" and waiting > fired:
            raise trigger.line.error(f"{waiting} flows wait for trigger {number}, which fires {fired} times")


def _table(flows: list[_Flow], triggers: dict[int, _Trigger]):
    before, after, needed = [], [], [0] * len(flows)
    for trigger in triggers.values():
        for turn, target in enumerate(trigger.targets):
            before += trigger.sources
            after += [target] * len(trigger.sources)
            # a multishot starts one flow each time
            needed[target] = turn + 1 if trigger.type == "multishot" else len(trigger.sources)
    table = traffic(
        [f.source for f in flows], [f.destination for f in flows], [f.size for f in flows],
        [f.start or 0.0 for f in flows], channel=_channels(flows), before=before, after=after, needed=needed,
    )  # fmt: skip
    if len(stuck := table.never_started()):
        raise flows[stuck[0]].line.error(
            f"trigger {flows[stuck[0]].trigger} never fires: it waits for itself, by way of the flows that fire it"
        )
    return table


def _channels(flows: list[_Flow]) -> list[int]:
    """A number of its own, within a pair of nodes, for every flow or, for messages, for every id."""
    by_id: dict[int, tuple[_Flow, int]] = {}
    used: dict[tuple[int, int], int] = {}
    channels = []
    for flow in flows:
        pair = (flow.source, flow.destination)
        first, channel = by_id.get(flow.id, (None, 0)) if flow.id else (None, 0)
        if first is not None:
            _check_message(flow, first)
        else:
            channel = used.get(pair, 0)
            used[pair] = channel + 1
            by_id[flow.id] = (flow, channel)
        channels.append(channel)
    return channels


def _check_message(flow: _Flow, first: _Flow) -> None:
    if not (flow.message and first.message):
        raise flow.line.error(f"id {flow.id} is there twice, first in line {first.line.number}")
    if (flow.source, flow.destination) != (first.source, first.destination):
        raise flow.line.error(f"messages of id {flow.id} must have the ends of line {first.line.number}")
    if (flow.start or 0.0) != (first.start or 0.0):
        raise flow.line.error(f"messages of id {flow.id} must start like the first, in line {first.line.number}")
