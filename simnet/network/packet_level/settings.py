"""From what a user has set and what the control brings to the numbers of connections and kernels."""

from dataclasses import dataclass

import numpy as np

from simnet.errors import InputError
from simnet.network.packet_level import congestion_control as controls
from simnet.network.packet_level import load_balancing as balancers
from simnet.network.packet_level import queues
from simnet.network.packet_level.connection_state import GO_BACK_N, SELECTIVE, TRIM
from simnet.network.packet_level.load_balancing import conga
from simnet.network.packet_level.parameters import (
    LOSSLESS_TIMEOUT,
    ROW,
    Control,
    GoBackN,
    SelectiveRepeat,
    Transport,
    TrimNack,
    numbers_of,
)
from simnet.network.packet_level.port_settings import PortSettings, int_records
from simnet.params import Params

_CODES = {GoBackN: GO_BACK_N, SelectiveRepeat: SELECTIVE, TrimNack: TRIM}
_PER_CLASS = ("congestion_control", "load_balancing", "transport")

Problems = list[tuple[tuple[str, ...], str]]


@dataclass(frozen=True)
class Settings:
    """The policies of one class of traffic, resolved: what the user has not set comes from the control.

    ports: those of its priority. lane: of ports, in which its packets start. name: '' is the network's own class, to
    which all traffic without another belongs. own: the keys that are set for this class alone.
    """

    control: Control
    balancer: Params
    transport: Transport | None
    ports: PortSettings
    lane: int = 0
    name: str = ""
    own: tuple[str, ...] = _PER_CLASS

    # -- what holds ---------------------------------------------------------------------------------------

    @property
    def recovery(self) -> Transport:
        """The transport: the user's, else the control's."""
        return self.transport or self.control.transport

    @property
    def payload(self) -> float:
        """Payload of a full packet [bytes]."""
        return self.ports.packets.payload

    @property
    def header(self) -> float:
        """Headers of a data packet [bytes], INT records included."""
        return self.ports.packets.header + int_records(self.ports.packets, self.control)

    @property
    def full_packet(self) -> float:
        """A full packet on the wire [bytes]."""
        return self.payload + self.header

    @property
    def ack(self) -> float:
        """An acknowledgement [bytes], with the INT records that it brings back."""
        return self.ports.packets.ack + int_records(self.ports.packets, self.control)

    @property
    def ack_every(self) -> int:
        """Packets for one acknowledgement."""
        chosen = self.ports.packets.ack_every
        return chosen or getattr(self.balancer, "ack_every", self.control.ack_every)

    @property
    def words(self) -> int:
        """Words of 64 bits per ring of bits, a power of two."""
        kept = getattr(self.recovery, "window", 0) or getattr(self.recovery, "reorder_window", 0) or 1
        return 1 << max(-(-kept // 64) - 1, 0).bit_length()

    @property
    def paths(self) -> int:
        """Paths of a connection that its packets choose from."""
        return balancers.paths_of(self.balancer)

    def describe(self) -> dict[str, str]:
        """Control, load balancing and transport in words, for a result."""
        words = {"priority": str(self.ports.number)} if self.ports.number else {}
        return words | {
            "congestion_control": controls.name_of(self.control),
            "load_balancing": balancers.name_of(self.balancer),
            "transport": next(k for k, v in _NAMES.items() if isinstance(self.recovery, v)),
        }

    def problems(self) -> Problems:
        """What switches deny this class, or do for another class otherwise than it needs; see `problems` below."""
        ports = self.ports.ports
        kind, name, found = ("congestion_control", "kind"), controls.name_of(self.control), []
        if self.control.needs_int and not ports.int_stamps:
            found.append((kind, f"'{name}' needs INT, which ports.int_stamps denies"))
        if self.control.needs_trimming and not self.ports.trimming:
            found.append((kind, f"'{name}' needs trimming, which {'.'.join(self.ports.place_of('trimming'))} denies"))
        found += [(kind, sentence) for sentence in self.ports.contradictions(self.control)]
        if isinstance(self.transport, TrimNack) and not (self.ports.trimming or self.control.needs_trimming):
            found.append((("transport", "kind"), "'trim_nack' needs switches that trim: set ports.trimming"))
        if not self.name:
            return found
        if self.ports.number:  # what it inherits can be wrong here alone
            found = [(keys if keys[0] in self.own else ("priority",), sentence) for keys, sentence in found]
        return [(("classes", self.name, *keys), text) for keys, text in found if keys[0] in (*self.own, "priority")]

    # -- connections --------------------------------------------------------------------------------------

    def timeout(self, rtt: float) -> float:
        """Retransmission timeout [s]."""
        if self.recovery.timeout is not None:
            return self.recovery.timeout
        lossless = LOSSLESS_TIMEOUT if self.ports.lossless else 0.0
        return max(lossless, self.control.least_timeout, 3 * rtt + 100e-6)

    def fill_connections(self, rows: np.recarray) -> None:
        """Put the policies into rows of CONNECTION."""
        rows.control_kind = controls.code_of(self.control)
        rows.balancer = balancers.code_of(self.balancer)
        rows.transport = _CODES[_plain(self.recovery)]
        rows.reorder = getattr(self.recovery, "reorder_window", 64 * self.words - 1)
        rows.duplicates = getattr(self.recovery, "duplicates", 0)
        rows.lane = self.lane
        rows.mtu, rows.header, rows.ack_size = self.payload, self.header, self.ack
        rows.ack_every = self.ack_every
        rows.window, rows.rate, rows.credit = np.inf, np.inf, np.inf
        rows.message = rows.oldest = rows.newest = -1
        rows.nacked = -1


def settings_of(policies) -> tuple[Settings, ...]:
    """Settings of all classes of `policies.Policies`, the network's own first."""
    sources = [("", _PER_CLASS, policies)]
    for name, chosen in policies.classes.items():
        sources.append((name, tuple(key for key in _PER_CLASS if getattr(chosen, key) is not None), chosen))
    rows = [[getattr(chosen if key in own else policies, key) for key in _PER_CLASS] for _, own, chosen in sources]
    priorities = [0, *(chosen.priority for chosen in policies.classes.values())]
    ports = queues.queues_of(policies.ports, policies.packets, [(n, row[0]) for n, row in zip(priorities, rows)])
    found = []
    for number, row, (name, own, _) in zip(priorities, rows, sources):
        queue = next(queue for queue in ports if queue.number == number)
        found.append(Settings(*row, queue, queues.lane_of(queue, ports), name, own))
    return tuple(found)


def queues_in_turn(classes: tuple[Settings, ...]) -> tuple[PortSettings, ...]:
    """Settings of the queues that classes have, in the order of their lanes."""
    return tuple({chosen.lane: chosen.ports for chosen in sorted(classes, key=lambda c: c.lane)}.values())


def problems(classes: tuple[Settings, ...]) -> Problems:
    """Where settings contradict each other: the keys of one of them in `Policies`, and what is wrong."""
    found = queues.problems(queues_in_turn(classes)) + [problem for some in classes for problem in some.problems()]
    return found + _measured_twice(classes)


def _measured_twice(classes: tuple[Settings, ...]) -> Problems:
    """Parameters of CONGA's links in which a class differs from the first one that CONGA steers."""
    first, *others = [c for c in classes if isinstance(c.balancer, conga.Conga)] or [None]
    return [
        (
            ("classes", other.name, "load_balancing", key),
            f"must be as in network.{f'classes.{first.name}.' if first.name else ''}load_balancing: links measure what "
            "they carry once, for the traffic of all classes",
        )
        for other in others
        for key in conga.OF_LINKS
        if getattr(other.balancer, key) != getattr(first.balancer, key)
    ]


def check(classes: tuple[Settings, ...]) -> None:
    """Raise InputError where settings contradict each other."""
    if found := problems(classes):
        raise InputError("\n".join(f"network.{'.'.join(keys)}: {sentence}" for keys, sentence in found))


def describe(classes: tuple[Settings, ...]) -> dict[str, str]:
    """What holds in words, for a result: of the network, then what each class has of its own."""
    words = classes[0].describe() | queues.describe(queues_in_turn(classes))
    return words | {f"{c.name}.{key}": value for c in classes[1:] for key, value in c.describe().items()}


def control_rows(classes: tuple[Settings, ...]) -> np.ndarray:
    """Numbers of the congestion controls, one row per class."""
    return np.array([_row(settings.control.numbers()) for settings in classes])


def balancer_rows(classes: tuple[Settings, ...]) -> np.ndarray:
    """Numbers of the load balancers, one row per class."""
    return np.array([_row(numbers_of(settings.balancer)) for settings in classes])


_NAMES = {"go_back_n": GoBackN, "selective_repeat": SelectiveRepeat, "trim_nack": TrimNack}


def _plain(value: Params) -> type[Params]:
    """The class of a row, also where `kind` was added to it."""
    return next(base for base in type(value).__mro__ if base in _CODES)


def _row(numbers: list[float]) -> np.ndarray:
    row = np.zeros(ROW)
    row[: len(numbers)] = numbers
    return row
