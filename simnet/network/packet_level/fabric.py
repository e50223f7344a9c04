"""Ports and devices of the packet-level model, from a topology and its settings."""

from collections.abc import Sequence

import numpy as np

from simnet.errors import InputError
from simnet.network.packet_level.port_settings import PortSettings
from simnet.network.packet_level.queues import quantum_of
from simnet.network.packet_level.state import (
    CREDITS,
    DEVICE,
    HAS_LANES,
    NEVER,
    NONE,
    PFC,
    PORT,
    SECOND,
    number_bits,
    time_bits,
)
from simnet.network.records import table
from simnet.topology.topology import FABRIC_KINDS, Topology
from simnet.units import TIME

PATIENCE = 256  # of the time that can be counted, one part may be a single wait: timeouts are several, and double


def port_table(topology: Topology, queues: Sequence[PortSettings]) -> np.recarray:
    """One row per link, idle; with virtual lanes or several queues then lane 1 of all links, lane 2, and so on.

    queues: in the order in which ports serve them.
    """
    links = len(topology.links)
    base = next(queue for queue in queues if queue.number == 0)
    lanes = queues if len(queues) > 1 else (base,) * base.ports.virtual_lanes
    rows = table(links * (1 + len(lanes) if len(lanes) > 1 else 1), PORT)
    _check_times(topology, base.full_packet, len(rows))
    ports = rows[:links]
    ports.ps_per_byte = SECOND / topology.rates
    ports.delay = np.rint(topology.latencies * SECOND)
    for name in ("data_head", "data_tail", "control_head", "control_tail", "wire_head", "wire_tail", "ring"):
        ports[name] = -1
    ports.credit_head = ports.credit_tail = ports.pull_head = -1
    ports.credit_time = NEVER
    ports.node, ports.far = topology.ends
    if base.ports.virtual_lanes > 1:
        ports.raises = _raises(topology)
    _set_queues(ports, topology, base)
    ports.prompt = _prompt(ports, len(topology.devices))
    _set_losses(ports, topology, base)
    if len(lanes) > 1:
        for number, queue in enumerate(lanes, 1):
            of_lane = rows[number * links : (number + 1) * links]
            of_lane[:] = ports
            _set_queues(of_lane, topology, queue)
            of_lane.quantum = quantum_of(queue, queues)
        ports.ring = HAS_LANES
    return rows


def _check_times(topology: Topology, packet: float, ports: int) -> None:
    """Raise InputError where a packet [bytes] is so long on a link that its timeouts could not be counted."""
    longest = (1 << time_bits(number_bits(ports, 0))) / SECOND / PATIENCE
    crossing = topology.latencies + packet / topology.rates
    for link in np.flatnonzero(crossing > longest)[:1].tolist():
        raise InputError(
            f"{topology.link_name(link)}: a packet takes {TIME.format(crossing[link])}; the packet-level model counts "
            f"picoseconds, which allows {TIME.format(longest)} here"
        )


def _set_queues(ports: np.recarray, topology: Topology, settings: PortSettings) -> None:
    """Put the settings of a queue into a row for each link."""
    hops = 2 * max(topology.tiers, default=1)  # up and down again
    wires = 2 * hops * float(topology.latencies.max(initial=0.0))
    for port, link in zip(ports, topology.links):
        if link.kind not in FABRIC_KINDS:
            # links inside a server are lossless with credits for twice what is under way on them
            port.lossless = CREDITS
            port.credits = settings.inner_buffer(link.rate, link.latency)
            continue
        rtt = wires + hops * (settings.full_packet + settings.ack) / link.rate
        port.kmin, port.kmax, port.pmax = settings.marking(link.rate, rtt)
        port.marks_arrivals = settings.marks_arrivals
        port.trims = settings.trimming
        port.limit = settings.queue_limit(link.rate, rtt)
        port.credits = settings.link_credits(link.rate, link.latency)
        # a NIC takes all that comes, unless a fixed threshold says when it pauses: it has no buffer to take a part of
        pauses = settings.pfc and (settings.pfc.xoff or topology.devices[link.destination].kind == "switch")
        port.lossless = CREDITS if port.credits else PFC if pauses else NONE
        port.xoff, port.xon, port.headroom = settings.pause_thresholds(link.rate, link.latency)
        port.pause_alpha = settings.pfc.alpha if settings.pfc else 0.0


def _prompt(ports: np.recarray, devices: int) -> np.ndarray:
    """Ports whose packets take longer to the far end than credit for them takes back: see `credits`."""
    by_credit = ports[ports.lossless == CREDITS]
    back = np.full(devices, np.iinfo(np.int64).max)
    np.minimum.at(back, by_credit.far, by_credit.delay)
    return ports.delay > back[ports.node]


def _raises(topology: Topology) -> list[bool]:
    """Links behind which a packet goes on in the next virtual lane: those between groups, or between any two switches.

    Channels are then taken in an order (lane 0 within a group, lane 0 between groups, lane 1 within a group, ...), so
    none waits for itself while there are lanes enough (Kim et al. 2008, section 4.1; for any network Guenther 1981).
    """
    groups = [d.name.rpartition("/")[0] if d.kind == "switch" else None for d in topology.devices]
    grouped = "" not in groups
    ends = ((groups[link.source], groups[link.destination]) for link in topology.links)
    return [None not in (a, b) and not (grouped and a == b) for a, b in ends]


def _set_losses(ports: np.recarray, topology: Topology, settings: PortSettings) -> None:
    """Have wires lose packets. Raises InputError where there is no such link."""
    if not settings.ports.losses:
        return
    names: dict[tuple[str, str], list[int]] = {}
    for i, link in enumerate(topology.links):
        ends = (topology.devices[link.source].name, topology.devices[link.destination].name)
        names.setdefault(ends, []).append(i)
    for number, loss in enumerate(settings.ports.losses):
        if loss.link not in names:
            a, b = loss.link
            raise InputError(f"network.ports.losses.{number}.link: no link from '{a}' to '{b}' in the topology")
        for i in names[loss.link]:
            ports[i].loss = loss.probability or 0.0
            ports[i].lose = loss.packet or 0


def device_table(topology: Topology, settings: PortSettings) -> tuple[np.recarray, np.ndarray]:
    """One row per device, and the egress ports of all devices, device by device."""
    devices = table(len(topology.devices), DEVICE)
    source, _ = topology.ends
    order = np.argsort(source, kind="stable").astype(np.int32)
    counts = np.bincount(source, minlength=len(topology.devices))
    devices.first_port = np.concatenate([[0], np.cumsum(counts)[:-1]])
    devices.ports = counts
    devices.alpha = settings.ports.alpha
    fastest = np.zeros(len(topology.devices))
    np.maximum.at(fastest, source, topology.rates)
    for i, device in enumerate(topology.devices):
        devices[i].buffer = settings.buffer(fastest[i]) if device.kind == "switch" else 0
    return devices, order
