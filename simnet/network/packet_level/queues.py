"""The queues of a port: one for all traffic, or one for each priority that classes of traffic name."""

from collections.abc import Sequence

from simnet.network.packet_level.parameters import Control, Packets, Ports, Priority
from simnet.network.packet_level.port_settings import PortSettings


def queues_of(ports: Ports, packets: Packets, classes: Sequence[tuple[int, Control]]) -> tuple[PortSettings, ...]:
    """Settings of each queue in the order in which ports serve them: strict ones first, the higher number first.

    classes: priority and control of each class of traffic, the network's own first.
    """
    everyone = tuple(control for _, control in classes)
    rows = []
    for number in dict.fromkeys(number for number, _ in classes):
        own = ports.priorities.get(number, Priority())
        controls = tuple(control for other, control in classes if other == number)
        rows.append(PortSettings(_with(own, ports), packets, controls, everyone, number, own))
    return tuple(sorted(rows, key=lambda queue: (0, -queue.number) if queue.own.strict else (1, queue.number)))


def lane_of(queue: PortSettings, queues: Sequence[PortSettings]) -> int:
    """Lane of ports in which packets of a queue start."""
    if len(queues) > 1:
        return 1 + queues.index(queue)
    return int(queue.ports.virtual_lanes > 1)


def lane_names(queues: Sequence[PortSettings]) -> list[str]:
    """What the lanes of ports are called, in their order; none where a port has but one queue."""
    if len(queues) > 1:
        return [f"priority {queue.number}" for queue in queues]
    lanes = queues[0].ports.virtual_lanes
    return [f"lane {lane}" for lane in range(lanes)] if lanes > 1 else []


def quantum_of(queue: PortSettings, queues: Sequence[PortSettings]) -> int:
    """Bytes that a turn at a port brings a queue: a full packet for the least weight; 0: it has no weight."""
    if queue.own.strict or len(queues) == 1:
        return 0
    least = min(other.own.weight for other in queues if not other.own.strict)
    return round(queue.full_packet * queue.own.weight / least)


def problems(queues: Sequence[PortSettings]) -> list[tuple[tuple[str, ...], str]]:
    """Where the settings of queues contradict each other: the keys of one of them in `Policies`, and what is wrong."""
    found = [problem for queue in queues for problem in queue.problems()]
    if len(queues) > 1 and queues[0].ports.virtual_lanes > 1:
        sentence = "a port has virtual lanes or priorities, not both; leave them out, or `priority` of the classes"
        found.append((("ports", "virtual_lanes"), sentence))
    if len({queue.flow_control == "credits" for queue in queues}) > 1:
        names = [f"priority {queue.number} {queue.flow_control}" for queue in sorted(queues, key=lambda q: q.number)]
        sentence = f"a link has credits for all priorities or for none, here {', '.join(names)}"
        found.append((("ports", "credits"), f"{sentence}; set ports.credits or ports.pfc"))
    return list(dict.fromkeys(found))


def describe(queues: Sequence[PortSettings]) -> dict[str, str]:
    """In words, for a result: what holds for priority 0, and where there are several what each has otherwise."""
    base = next(queue for queue in queues if queue.number == 0).describe()
    words = dict(base)
    for queue in sorted(queues, key=lambda queue: queue.number) if len(queues) > 1 else ():
        place = f"priority {queue.number}"
        words[f"{place}.share"] = queue.share
        words |= {f"{place}.{key}": value for key, value in queue.describe().items() if value != base[key]}
    return words


def _with(own: Priority, ports: Ports) -> Ports:
    """The ports as a priority has them."""
    keys = ("ecn", "pfc", "lossless", "queue", "trimming")
    chosen = {key: getattr(own, key) for key in keys if getattr(own, key) is not None}
    if own.pfc is not None:
        chosen.setdefault("lossless", None)
    if own.lossless is False:
        chosen.setdefault("pfc", None)
    return ports.model_copy(update=chosen)
