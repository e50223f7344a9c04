"""A topology from afar: servers as one box each, and boxes that are alike as one where there are too many to see."""

from collections import Counter
from dataclasses import dataclass

from simnet.topology.topology import Topology

MOST_BOXES = 64  # of one tier
MOST_IN_RING = 400  # where the switches of the only tier are joined among themselves


@dataclass(frozen=True)
class Box:
    """Switches, servers or bare devices that are alike.

    names: of all that it stands for; kind: 'server' or that of the device; tier: 0 for hosts, 1 for leaf switches and
    so on, -1 for NVSwitches among servers; gpus: in each of them.
    """

    names: tuple[str, ...]
    kind: str
    tier: int
    gpus: int

    @property
    def count(self) -> int:
        """How many it stands for."""
        return len(self.names)


@dataclass(frozen=True)
class Bundle:
    """Cables that are alike between two boxes. a, b: places in the list of boxes; rate [bytes/s]: of each; cables: how
    many, in all."""

    a: int
    b: int
    kind: str
    rate: float
    cables: int


@dataclass(frozen=True)
class Overview:
    """Boxes and what joins them."""

    boxes: list[Box]
    bundles: list[Bundle]

    @property
    def ring(self) -> bool:
        """There is one tier of switches, and they are joined among themselves."""
        tiers = [box.tier for box in self.boxes]
        peers = sum(tiers[k.a] == tiers[k.b] > 0 and k.a != k.b for k in self.bundles)
        return tiers.count(1) > 2 and max(tiers) == 1 and peers > 1

    @property
    def crowded(self) -> bool:
        """Some tier has more boxes than can be seen."""
        most = MOST_IN_RING if self.ring else MOST_BOXES
        return max(Counter(box.tier for box in self.boxes).values(), default=0) > most


def overview(topology: Topology) -> Overview:
    """The topology with every server as a box, and as few mergers as make all boxes visible.

    Merged are hosts with the same neighbours; if that is not enough, all that play the same part (the coarsest
    partition in which boxes of a class have alike cables to every other class); if that is not, whole tiers.
    """
    seen = _contracted(topology)
    for classes in (_twins, _parts, _tiers):
        if not seen.crowded:
            break
        seen = _merged(seen, classes(seen))
    return seen


def _contracted(topology: Topology) -> Overview:
    place: dict[str, int] = {}  # of servers, and of devices outside of them
    members: list[list[int]] = []
    where = []
    for i, device in enumerate(topology.devices):
        key = f"server {device.server}" if device.server else f"device {device.name}"
        if key not in place:
            place[key] = len(members)
            members.append([])
        members[place[key]].append(i)
        where.append(place[key])
    boxes = [_box(topology, ids) for ids in members]
    ends: Counter = Counter()
    for link in topology.links:
        a, b = sorted((where[link.source], where[link.destination]))
        if a != b:
            ends[a, b, link.kind, link.rate] += 1
    return Overview(boxes, [Bundle(*key, -(-count // 2)) for key, count in ends.items()])


def _box(topology: Topology, ids: list[int]) -> Box:
    device = topology.devices[ids[0]]
    gpus = sum(topology.devices[i].kind == "gpu" for i in ids)
    if device.server:
        return Box((device.server,), "server", 0, gpus)
    tier = max(1, topology.tiers[ids[0]]) if device.kind == "switch" else -1 if device.kind == "nvswitch" else 0
    return Box((device.name,), device.kind, tier, gpus)


def _neighbours(seen: Overview, classes: list[int]) -> list[tuple]:
    """What every box is joined to, as classes, in a form that can be compared."""
    found: list[Counter] = [Counter() for _ in seen.boxes]
    for k in seen.bundles:
        found[k.a][classes[k.b], k.kind, k.rate] += k.cables
        found[k.b][classes[k.a], k.kind, k.rate] += k.cables
    return [tuple(sorted(counts.items())) for counts in found]


def _numbered(keys: list) -> list[int]:
    numbers: dict = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _twins(seen: Overview) -> list[int]:
    """Hosts with the same neighbours are of one class."""
    neighbours = _neighbours(seen, list(range(len(seen.boxes))))
    return _numbered(
        [
            (box.kind, box.gpus, neighbours[i]) if box.tier < 1 else i
            for i, box in enumerate(seen.boxes)
        ]
    )  # fmt: skip


def _parts(seen: Overview) -> list[int]:
    """Boxes of one tier that cannot be told apart by their cables, however far one looks, are of one class."""
    classes = _numbered([(box.tier, box.kind, box.gpus, box.count) for box in seen.boxes])
    while True:
        finer = _numbered(list(zip(classes, _neighbours(seen, classes))))
        if max(finer) == max(classes):
            return finer
        classes = finer


def _tiers(seen: Overview) -> list[int]:
    return _numbered([(box.tier, box.kind) for box in seen.boxes])


def _merged(seen: Overview, classes: list[int]) -> Overview:
    members: dict[int, list[Box]] = {}
    for number, box in zip(classes, seen.boxes):
        members.setdefault(number, []).append(box)
    boxes = [
        Box(tuple(name for box in same for name in box.names), same[0].kind, same[0].tier, same[0].gpus)
        for same in members.values()
    ]
    cables: Counter = Counter()
    for k in seen.bundles:
        a, b = sorted((classes[k.a], classes[k.b]))
        cables[a, b, k.kind, k.rate] += k.cables
    return Overview(boxes, [Bundle(*key, count) for key, count in cables.items()])
