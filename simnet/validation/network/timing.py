"""Exact times of packets on idle paths, flows that share links by count, and waiting in a queue."""

from functools import partial

import numpy as np

from simnet.topology.topology import Topology
from simnet.validation.cases import Case
from simnet.validation.network.figures import Figure, of_run
from simnet.validation.network.measuring import acknowledged, ends
from simnet.validation.network.systems import UEC, US, B, Started, fat_tree, flows, line, policies

PACKET, PAYLOAD = 4150, 4086  # [bytes] on the wire, of it payload
SENT = PACKET / B
EXACT = 1e-3
_STORE_AND_FORWARD = "t = (n + H - 1) s + s_last + H d, and H (d + a) for the acknowledgement"
_UET = "uet-htsim 40ccb05, validate_uec_sender.out"


def alone(size: float) -> dict[str, float]:
    """One flow over six links: ends at the receiver and at the sender [us]."""
    started = Started(line(), flows([0], [1], size), policies("none", packets=UEC))
    return {
        "end at the receiver": ends(started.model)[0] * 1e6,
        "end at the sender": acknowledged(started.model)[0] * 1e6,
    }


def opposite() -> dict[str, float]:
    """Two flows of 2 MB against each other over six links, four packets to an acknowledgement."""
    started = Started(line(), flows([0, 1], [1, 0], 2e6), policies("none", packets=UEC | {"ack_every": 4}))
    return {"end at the sender": acknowledged(started.model).max() * 1e6}


def outcast() -> dict[str, float]:
    """Two senders of ten flows each, one of each to the receiver of a third."""
    source = [1] + [2] * 10 + [3] * 10
    destination = [0, 0, *range(4, 13), 0, *range(13, 22)]
    started = Started(fat_tree(8), flows(source, destination, 2e6), policies("fixed_window", packets=UEC))
    arrived = ends(started.model)
    back = 2 * (US + 64 / B)  # of an acknowledgement below one switch
    return {
        "end of the last": arrived.max() * 1e6,
        "end of the one that shares its receiver only": (arrived[0] + back) * 1e6,
    }


def waiting(load: float, packets: int, runs: int) -> dict[str, float]:
    """Mean time that single packets wait for a link to which they come at random, in packet times.

    The sender's own link is a thousand times as fast, so that packets reach the switch as they are drawn. Every packet
    is a flow of its own with a delay; gaps are scaled to their mean, as a sum that is off by chance hides much.
    """
    topology = Topology("queue")
    switch = topology.add_device("switch", "switch")
    a, b = (topology.add_device(name, "gpu") for name in ("a", "b"))
    topology.connect(a, switch, 1000 * B, US, "ethernet")
    topology.connect(switch, b, B, US, "ethernet")
    chosen = policies("none", packets=UEC, ports={"lossless": False, "buffer": "1GB"})
    waited = []
    for seed in range(runs):
        gaps = np.random.default_rng(seed).exponential(1.0, packets)
        at = np.cumsum(gaps / gaps.mean()) * SENT / load
        graph = flows(np.zeros(packets, int), np.ones(packets, int), PAYLOAD, delay=at)
        arrived = ends(Started(topology, graph, chosen).model)
        waited.append(np.mean(arrived - at - 2 * US - SENT / 1000 - SENT) / SENT)
    return {"mean wait": float(np.mean(waited))}


def cases() -> list[Case]:
    """All figures of this module."""
    found = []
    for name, size, receiver, sender in (
        ("2 MB over 6 links", 2_000_000, 489 * 0.332 + 5 * 0.332 + 2010 * 80e-6 + 6, 176.1995),
        ("10 packets over 6 links", 10 * PAYLOAD, 15 * 0.332 + 6, 17.0107),
        ("100 packets over 6 links", 100 * PAYLOAD, 105 * 0.332 + 6, 46.8907),
    ):
        found += of_run(
            name, partial(alone, size), _STORE_AND_FORWARD,
            Figure("end at the receiver", "us", receiver, EXACT),
            Figure("end at the sender", "us", sender, EXACT, source=_UET),
        )  # fmt: skip
    found += of_run("two opposite flows of 2 MB", opposite, _UET, Figure("end at the sender", "us", 176.804, 0.005))
    found += of_run(
        "outcast of 2 x 10 flows", outcast, "uet-htsim 40ccb05, outcast_incast.cm",
        Figure("end of the last", "us", 1638.08, 0.005),
        Figure("end of the one that shares its receiver only", "us", 208.0, 0.005),
    )  # fmt: skip
    for load, runs in ((0.5, 10), (0.8, 20), (0.9, 100)):
        found += of_run(
            f"random arrivals at load {load:g}", partial(waiting, load, 20_000, runs), "M/D/1: rho / (2 (1 - rho))",
            Figure("mean wait", "packet times", load / (2 * (1 - load)), 0.03),
        )  # fmt: skip
    return found
