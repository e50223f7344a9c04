"""Pauses and losses: who gets what of a link with PFC, what headroom saves, what one lost packet costs."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from simnet.validation.cases import Case
from simnet.validation.network.figures import Figure, of_run
from simnet.validation.network.measuring import ends
from simnet.validation.network.systems import UEC, US, B, Started, fat_tree, flows, incast, policies, star

# -- pauses -----------------------------------------------------------------------------------------------


def shares_by_port(seeds: int) -> dict[str, float]:
    """15:1 of 2 MB at line rate on a k = 4 tree: the receiver's neighbour, and the rest, over seeds.

    Pauses above 15 packets and resumes below 12, as in htsim.
    """
    chosen = policies(
        "none", ports={"pfc": {"xoff": "64kB", "xon": "44kB"}}, packets={"payload": "4000B", "header": "0B"}
    )
    seeds = range(1, seeds + 1)
    runs = np.array([ends(incast(fat_tree(4), range(1, 16), 2e6, chosen, seed)[0].model) for seed in seeds])
    neighbour = (runs[:, 0] + 2 * (US + 64 / B)) * 1e6  # with an acknowledgement below one switch
    last = runs.max(axis=1) * 1e6
    return {
        "end of the neighbour, median": np.median(neighbour),
        "end of the neighbour, earliest": neighbour.min(),
        "end of the neighbour, latest": neighbour.max(),
        "end of the last, earliest": last.min(),
        "end of the last, latest": last.max(),
        "first of the others by the neighbour": (runs[:, 1:].min(axis=1) / runs[:, 0]).min(),
    }


def _pauses() -> Iterator[Case]:
    yield from of_run(
        "pauses share by input port, 15:1", partial(shares_by_port, 9),
        "uet-htsim 40ccb05, incast.cm with RoCE and PFC; a third of the link: 3 x 500 x 0.32 us + 12 us",
        # the three inputs pause and resume in a rhythm that follows the hash
        Figure("end of the neighbour, median", "us", 492, 0.02),
        Figure("end of the neighbour, earliest", "us", 492, 0.04),
        Figure("end of the neighbour, latest", "us", 492, 0.04),
        Figure("end of the last, earliest", "us", 2435, 35 / 2435),
        Figure("end of the last, latest", "us", 2435, 35 / 2435),
        Figure("first of the others by the neighbour", "x", 1.5, 0.0, "at least"),
    )  # fmt: skip


# -- losses -----------------------------------------------------------------------------------------------


def lost(packet: int, transport: dict) -> dict[str, float]:
    """Packets that a flow of 490 packets over two links sends again when the first link loses one of them."""
    topology = star(2, B, 10 * US)
    ends_of_link = tuple(topology.devices[topology.links[i].source].name for i in (0, 1))
    ports = {"lossless": False, "losses": [{"link": ends_of_link, "packet": packet}]}
    chosen = policies("fixed_window", ports=ports, packets=UEC, transport=transport)
    model = Started(topology, flows([0], [1], 2e6), chosen).model
    ends(model)
    return {"packets sent again": model.report().transport["retransmitted_packets"]}


def _losses() -> Iterator[Case]:
    window = np.ceil((2 * 4150 / B + 2 * 64 / B + 40 * US) * B / 4150)
    for kind, again, rest in (("go_back_n", window, {}), ("selective_repeat", 1, {"duplicates": 3})):
        yield from of_run(
            f"one lost packet, {kind}", partial(lost, 100, {"kind": kind, **rest}),
            "go-back-N: everything in flight, a window of one BDP; selective repeat: itself",
            Figure("packets sent again", "packets", again, 0.0),
        )  # fmt: skip


def cases() -> list[Case]:
    """All figures of this module."""
    return [*_pauses(), *_losses()]
