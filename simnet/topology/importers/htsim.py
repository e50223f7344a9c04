"""Topology files of htsim (.topo): fat trees of two or three tiers by the radixes, rates and latencies of their tiers.

    Nodes 128                       Tier 0
    Tiers 3                         Downlink_speed_Gbps 100
    Podsize 16                      Radix_Down 4 ...

Tier 0 are leaf (ToR) switches, 1 aggregation switches, or spines where there are two tiers, 2 cores. A tier's downlink
values hold for its links to the tier below, both ways. Every switch of a pod's first tier joins each of its second by
Bundle links; aggregation switch p of a pod joins cores p, p + a, p + 2a ..., with a such switches in a pod. Hosts are
gpus. Switch_Latency_ns is added to every link that leads to a switch of the tier.
"""

from dataclasses import dataclass, field
from pathlib import Path

from simnet.errors import InputError
from simnet.params import nearest
from simnet.reader import lines
from simnet.reader.lines import Line
from simnet.topology.topology import Topology
from simnet.units import RATE

_HEADER = ("nodes", "tiers", "podsize")
_KEYS = (
    "downlink_speed_gbps", "radix_up", "radix_down", "queue_up", "queue_down", "oversubscribed", "bundle",
    "switch_latency_ns", "downlink_latency_ns",
)  # fmt: skip
_MAY_BE_ZERO = ("queue_up", "queue_down", "switch_latency_ns")
_NAMES = ("leaf", "aggregation", "core")
_MOST_NODES = 100_000


@dataclass
class _Tier:
    """What a file says of one tier. line: of its heading; lines: of its keys."""

    line: Line
    values: dict[str, int] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)

    def get(self, key: str) -> int:
        if key in self.values:
            return self.values[key]
        if key in ("oversubscribed", "bundle"):
            return 1
        if key in _MAY_BE_ZERO:
            return 0
        raise self.line.error(f"the tier has no {_shown(key)}")

    def error(self, key: str, sentence: str) -> InputError:
        return self.lines.get(key, self.line).error(sentence)


@dataclass(frozen=True)
class _Shape:
    """Numbers of switches, worked out and found consistent."""

    nodes: int
    pods: int
    leaves: int  # per pod
    aggregations: int  # per pod
    cores: int


def read(path: str | Path) -> Topology:
    """Fat tree of htsim: a .topo file. Raises InputError with file and line."""
    header, tiers = _parse(lines.read(path))
    shape = _shape(header, tiers)
    topology = Topology(Path(path).stem)
    hosts = [topology.add_device(f"host{i}", "gpu") for i in range(shape.nodes)]
    names = ("leaf", "spine", "") if len(tiers) == 2 else _NAMES
    counts = (shape.leaves * shape.pods, shape.aggregations * shape.pods, shape.cores)
    switches = [
        [topology.add_device(f"{name}{i}", "switch") for i in range(count)]
        for name, count in zip(names[: len(tiers)], counts)
    ]
    for i, host in enumerate(hosts):
        _wire(topology, host, switches[0][i // tiers[0].get("radix_down")], tiers, 0)
    for i, leaf in enumerate(switches[0]):
        first = i // shape.leaves * shape.aggregations
        for above in switches[1][first : first + shape.aggregations]:
            _wire(topology, leaf, above, tiers, 1)
    if len(tiers) == 3:
        for i, aggregation in enumerate(switches[1]):
            for core in switches[2][i % shape.aggregations :: shape.aggregations]:
                _wire(topology, aggregation, core, tiers, 2)
    return topology


def _wire(topology: Topology, below: int, above: int, tiers: list[_Tier], tier: int) -> None:
    """Join two devices as `tier`, that of the upper one, says."""
    upper = tiers[tier]
    rate = RATE.parse(f"{upper.get('downlink_speed_gbps')}Gbps")
    wire, into = upper.get("downlink_latency_ns"), [t.get("switch_latency_ns") for t in tiers]
    queue_up = tiers[tier - 1].get("queue_up") if tier else 0
    for _ in range(upper.get("bundle")):
        topology.add_link(below, above, rate, (wire + into[tier]) * 1e-9, "ethernet", queue_up)
        latency = (wire + (into[tier - 1] if tier else 0)) * 1e-9
        topology.add_link(above, below, rate, latency, "ethernet", upper.get("queue_down"))


def _parse(rows: list[Line]) -> tuple[dict[str, int], list[_Tier]]:
    header: dict[str, tuple[int, Line]] = {}
    tiers: dict[int, _Tier] = {}
    current: _Tier | None = None
    for line in rows:
        key = line.words[0].lower()
        if len(line.words) != 2:
            raise line.error(f"expected a word and a number, got {len(line.words)} words")
        if key == "tier":
            number = line.integer(1, "the tier")
            if "tiers" not in header or number >= header["tiers"][0]:
                raise line.error(f"there is no tier {number}; 'Tiers' says how many there are, from 0 on")
            if number in tiers:
                raise line.error(f"tier {number} is there twice, first in line {tiers[number].line.number}")
            current = tiers[number] = _Tier(line)
        elif key in _HEADER and current is None:
            if key in header:
                raise line.error(f"{_shown(key)} is there twice, first in line {header[key][1].number}")
            header[key] = (line.integer(1, _shown(key), 1), line)
            if key == "tiers" and header[key][0] not in (2, 3):
                raise line.error(f"Tiers must be 2 or 3, got {header[key][0]}")
        elif key in _KEYS and current is not None:
            if key in current.values:
                raise line.error(f"{_shown(key)} is there twice, first in line {current.lines[key].number}")
            current.values[key] = line.integer(1, _shown(key), 0 if key in _MAY_BE_ZERO else 1)
            current.lines[key] = line
        else:
            allowed = [_shown(k) for k in (*_HEADER, "tier")] if current is None else [_shown(k) for k in _KEYS]
            raise line.error(
                f"unknown word '{line.words[0]}' here; allowed: {', '.join(allowed)}{nearest(key, allowed)}"
            )
    for key in _HEADER:
        if key not in header:
            raise rows[-1].error(f"the file has no {_shown(key)}")
    count, line = header["tiers"]
    for number in range(count):
        if number not in tiers:
            raise line.error(f"says {count} tiers, but there is no tier {number}")
    top = tiers[count - 1]
    if count == 3 and "radix_up" in top.values:
        raise top.error("radix_up", "the top tier has no links upwards")
    if header["nodes"][0] > _MOST_NODES:
        raise header["nodes"][1].error(f"more than {_MOST_NODES} nodes")
    return {key: value for key, (value, _) in header.items()}, [tiers[i] for i in range(count)]


def _shape(header: dict[str, int], tiers: list[_Tier]) -> _Shape:
    """Counts of switches; refuses radixes, rates and oversubscription that contradict one another."""
    nodes, podsize = header["nodes"], header["podsize"]
    leaf, above = tiers[0], tiers[1]
    pods = _quotient(nodes, podsize, leaf, "", f"Podsize {podsize} does not divide the {nodes} nodes")
    if len(tiers) == 2 and pods != 1:
        raise leaf.line.error(f"with two tiers there is one pod, so Podsize must be {nodes}, got {podsize}")
    if leaf.get("bundle") != 1:
        raise leaf.error("bundle", "hosts have one link each, so Bundle of tier 0 must be 1")
    down = leaf.get("radix_down")
    leaves = _quotient(podsize, down, leaf, "radix_down", f"Radix_Down {down} does not divide Podsize {podsize}")
    _check_oversubscription(leaf, above)
    per_pod = leaves * leaf.get("radix_up")
    down = above.get("radix_down")
    aggregations = _quotient(
        per_pod, down, above, "radix_down", f"the {per_pod} uplinks of a pod's leaves do not fill switches of {down}"
    )
    if leaf.get("radix_up") != aggregations * above.get("bundle"):
        raise leaf.error(
            "radix_up",
            f"Radix_Up {leaf.get('radix_up')} is not {aggregations} switches above x Bundle {above.get('bundle')}",
        )
    if len(tiers) == 2:
        return _Shape(nodes, pods, leaves, aggregations, 0)
    core = tiers[2]
    _check_oversubscription(above, core)
    uplinks, down = aggregations * pods * above.get("radix_up"), core.get("radix_down")
    cores = _quotient(
        uplinks, down, core, "radix_down", f"the {uplinks} uplinks of aggregation switches do not fill cores of {down}"
    )
    joined = _quotient(cores, aggregations, core, "", f"{cores} cores do not spread over {aggregations} per pod")
    if joined * core.get("bundle") != above.get("radix_up"):
        raise above.error(
            "radix_up", f"Radix_Up {above.get('radix_up')} is not {joined} cores x Bundle {core.get('bundle')}"
        )
    return _Shape(nodes, pods, leaves, aggregations, cores)


def _check_oversubscription(lower: _Tier, upper: _Tier) -> None:
    down = lower.get("radix_down") * lower.get("downlink_speed_gbps")
    up = lower.get("radix_up") * upper.get("downlink_speed_gbps")
    if down != up * lower.get("oversubscribed"):
        raise lower.error(
            "oversubscribed",
            f"a switch has {down} Gb/s down and {up} Gb/s up, which is not oversubscribed by "
            f"{lower.get('oversubscribed')}",
        )


def _quotient(total: int, part: int, tier: _Tier, key: str, sentence: str) -> int:
    if total % part:
        raise tier.error(key, sentence)
    return total // part


def _shown(key: str) -> str:
    """A key as htsim's files write it."""
    words = {"gbps": "Gbps", "ns": "ns", "speed": "speed"}
    return "_".join(words.get(word, word.capitalize()) for word in key.split("_"))
