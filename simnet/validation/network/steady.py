"""Long flows over one link: queues, rates and fairness in the steady state, against closed forms."""

import math
from collections.abc import Iterator
from functools import partial

from simnet.validation.cases import Case
from simnet.validation.network.figures import Figure, of_run
from simnet.validation.network.measuring import ends, jain, mean_queue, queue_trace, run_to, sent
from simnet.validation.network.systems import (
    ENDLESS,
    GBPS,
    NS3,
    THOUSAND,
    US,
    B,
    Started,
    flows,
    link_to,
    policies,
    star,
)


def long_flows(senders: int, rate: float, latency: float, control: str, **others) -> tuple[Started, int, list[int]]:
    """GPUs 1, 2, ... of a star send to GPU 0 without end; the model, the link to GPU 0 and those from the senders.

    rate [bytes/s] and latency [s] of every link; the base RTT is 4 latencies and the time of packets on the links.
    """
    topology = star(senders + 1, rate, latency)
    graph = flows(range(1, senders + 1), [0] * senders, ENDLESS)
    up = [next(i for i, k in enumerate(topology.links) if k.source == gpu) for gpu in topology.gpus[1:]]
    return Started(topology, graph, policies(control, **others)), link_to(topology, topology.gpus[0]), up


def star_latency(rtt: float, packet: float, answer: float, rate: float) -> float:
    """Latency of the links of a star [s] for a base RTT [s] with packets and answers of these sizes [bytes]."""
    return (rtt - 2 * (packet + answer) / rate) / 4


# -- DCTCP ------------------------------------------------------------------------------------------------


def dctcp(gbps: float, rtt: float, n: int, k: int, wire: int, when: str) -> dict[str, float]:
    """Queue of DCTCP [packets] with a marking threshold of k packets on arrival or departure, and the use of the link.

    rtt [s]: without the queue.
    """
    rate = gbps * GBPS
    marking = {"kmin": f"{k * wire}B", "kmax": f"{k * wire}B", "when": when}
    started, link, _ = long_flows(
        n, rate, star_latency(rtt, wire, 64, rate), "dctcp", ports={"ecn": marking},
        packets={"payload": f"{wire - 64}B", "header": "64B"},
    )  # fmt: skip
    begin, end = 500 * rtt, 650 * rtt
    before = started.model
    run_to(before, begin)
    carried = before.report().bytes[link]
    queue = queue_trace(before, link, begin, end, rtt / 20) / wire
    last = before.report()
    used = (last.bytes[link] - carried) / (rate * (last.time - begin))
    swing = queue.max() - queue.min()
    return {"largest queue": queue.max(), "swing of the queue": swing, "swing as derived": swing, "utilization": used}


_NOT_AS_PUBLISHED = (
    "the published model marks on arrival; senders who hear of a queue when it is left behind cut less, and are held "
    "to the formula all the same. The figure beside it, without a promise, is the formula times sqrt(b / (b + K)): "
    "senders told after the base RTT, marks on b of b + K packets"
)


def _dctcp() -> Iterator[Case]:
    for when in ("arrival", "departure"):
        for gbps, rtt, n, k, wire, swing in (
            (10, 100, 2, 40, 1500, 11.1), (10, 300, 2, 65, 1500, 17.7), (100, 12, 8, 200, 1000, 37.4),
            (400, 12, 8, 800, 1000, 74.8),
        ):  # fmt: skip
            under_way = gbps * GBPS * rtt * US / wire
            figures = [
                Figure("largest queue", "packets", k + n, n / (k + n)),
                Figure("swing of the queue", "packets", swing, 0.25),
                Figure("utilization", "x", 1.0, 0.01, "at least"),
            ]
            if when == "departure":
                figures.append(Figure("swing as derived", "packets", swing * math.sqrt(under_way / (under_way + k))))
            yield from of_run(
                f"dctcp, {n} flows at {gbps} Gb/s, K = {k}, marked on {when}",
                partial(dctcp, gbps, rtt * US, n, k, wire, when),
                "Alizadeh et al. 2011: Qmax = K + N, A = sqrt(2 N (b + K)) / 2, b = C RTT", *figures,
                note=_NOT_AS_PUBLISHED if when == "departure" else "",
            )  # fmt: skip


# -- DCQCN ------------------------------------------------------------------------------------------------


def dcqcn(gbps: float, n: int, marking: dict, additive: str | None) -> dict[str, float]:
    """Mean queue of DCQCN in the paper's form from 0.1 to 0.15 s [kB], and how equal its flows are."""
    params = {"form": "paper"} | ({"additive": additive} if additive else {})
    started, link, up = long_flows(
        n, gbps * GBPS, US, "dcqcn", params=params, ports={"ecn": marking}, packets=THOUSAND
    )  # fmt: skip
    run_to(started.model, 0.1)
    before = started.model.report().bytes[up]
    queue = mean_queue(started.model, link, 0.1, 0.15)
    return {"mean queue": queue * 1e-3, "fairness": jain(started.model.report().bytes[up] - before)}


def _dcqcn() -> Iterator[Case]:
    paper = {"kmin": "5kB", "kmax": "200kB", "pmax": 0.01}
    deployed = {"kmin": "400kB", "kmax": "1600kB", "pmax": 0.2}
    for gbps, n, marking, additive, queue in (
        (40, 2, paper, None, 20), (40, 8, paper, None, 94), (40, 10, paper, None, 123),
        (100, 2, deployed, "20Mbps", 401), (100, 8, deployed, "20Mbps", 407), (100, 32, deployed, "20Mbps", 441),
    ):  # fmt: skip
        yield from of_run(
            f"dcqcn of the paper, {n} flows at {gbps} Gb/s", partial(dcqcn, gbps, n, marking, additive),
            "fixed point of the fluid model of Zhu et al. 2016, solved",
            Figure("mean queue", "kB", queue, 0.3),
            Figure("fairness", "Jain", 1.0, 0.05),
        )  # fmt: skip


# -- TIMELY -----------------------------------------------------------------------------------------------


def patched_timely(gbps: float, n: int, t_low: float, latency: float) -> dict[str, float]:
    """Mean queue of patched TIMELY [kB] from 0.2 to 0.25 s, as a part of q* of its own base RTT."""
    rate = gbps * GBPS
    params = {"t_low": f"{t_low * 1e6:g}us", "t_high": "1s"}
    started, link, _ = long_flows(n, rate, latency, "patched_timely", params=params, packets=THOUSAND)
    rtt = 4 * latency + 2 * (1000 + 64) / rate
    fixed_point = rate * (t_low * (1 + n * 0.001 / 0.008) - rtt)
    return {"mean queue by q*": mean_queue(started.model, link, 0.2, 0.25) / fixed_point}


def unequal(control: str) -> dict[str, float]:
    """Two flows at 10 Gb/s that begin with 9 and 1 Gb/s and a queue of 150 us: their shares from 50 to 100 ms.

    The rate is set per segment of 16 kB, so that steps come in proportion to it; with one step per window TIMELY
    evens rates out, too.
    """
    rate = 10 * GBPS
    params = {"t_low": "50us", "t_high": "500us", "min_rtt": "20us", "segment": "16kB"}
    started, _, up = long_flows(2, rate, US, control, params=params, packets=THOUSAND)
    run_to(started.model, 150e-6)  # both at line rate fill the queue
    started.model.tables.connections.rate[:2] = 0.9 * rate, 0.1 * rate
    started.model.tables.connections.cc[:2] = 0.0
    fast, slow = sent(started.model, up, 0.05, 0.1)
    return {"fast by slow": fast / slow}


def _timely() -> Iterator[Case]:
    source = "Zhu et al. 2016: any split of the link is stationary, and one with the patch"
    yield from of_run(
        "timely, 2 flows at 9 and 1 Gb/s", partial(unequal, "timely"), source,
        Figure("fast by slow", "x", 3.0, 0.0, "at least"),
    )  # fmt: skip
    yield from of_run(
        "patched timely, 2 flows at 9 and 1 Gb/s", partial(unequal, "patched_timely"), source,
        Figure("fast by slow", "x", 1.0, 0.1),
    )  # fmt: skip
    for gbps, n, t_low, latency in ((10, 2, 50, 1.0), (10, 16, 50, 1.0), (100, 16, 15, 2.9)):
        yield from of_run(
            f"patched timely, {n} flows at {gbps} Gb/s", partial(patched_timely, gbps, n, t_low * US, latency * US),
            "Zhu et al. 2016: q* = C (T_low (1 + N delta / (beta C)) - T0)",
            Figure("mean queue by q*", "x", 1.0, 0.1),
        )  # fmt: skip


# -- controls that keep queues short ------------------------------------------------------------------------


def hpcc(n: int) -> dict[str, float]:
    """Part of the link that HPCC uses, and its mean queue by flow [packets], from 10 to 15 ms."""
    started, link, _ = long_flows(n, B, 3 * US, "hpcc", packets=NS3)
    queue = mean_queue(started.model, link, 0.01, 0.015)
    used = sent(started.model, link, 0.015, 0.02) / B
    return {"utilization": used, "mean queue by flow": queue / n / started.model.port_settings.full_packet}


def powertcp(n: int, **params) -> dict[str, float]:
    """Mean queue of PowerTCP from 10 to 15 ms [kB]."""
    started, link, _ = long_flows(n, B, 3 * US, "powertcp", params=params, packets=NS3)
    return {"mean queue": mean_queue(started.model, link, 0.01, 0.015) * 1e-3}


def swift(n: int, wire: int, flow_range: str) -> dict[str, float]:
    """Mean queue of Swift from 10 to 15 ms [kB], at a base RTT of 12 us and a base target of 20 us."""
    started, link, _ = long_flows(
        n, B, star_latency(12 * US, wire, 64, B), "swift",
        params={"base_target": "20us", "flow_range": flow_range},
        packets={"payload": f"{wire - 64}B", "header": "64B"},
    )  # fmt: skip
    return {"mean queue": mean_queue(started.model, link, 0.01, 0.015) * 1e-3}


def _short_queues() -> Iterator[Case]:
    for n in (2, 8, 32):
        yield from of_run(
            f"hpcc, {n} flows", partial(hpcc, n), "Li et al. 2019: eta = 0.95 of the link, and next to no queue",
            Figure("utilization", "x", 0.95, 0.01),
            Figure("mean queue by flow", "packets", 0.25, 0.0, "at most"),
        )  # fmt: skip
    rtt = (12 * US) + 2 * (1090 + 102) / B  # of 1000 B, headers, INT, and the acknowledgement
    for n, gbps in ((2, 4), (8, 1), (8, 2)):
        yield from of_run(
            f"powertcp, {n} flows, beta = {gbps} Gb/s", partial(powertcp, n, eta=1.0, additive=f"{gbps}Gbps"),
            "Addanki et al. 2022: queue = sum of beta T",
            Figure("mean queue", "kB", n * gbps * GBPS * rtt * 1e-3, 0.1),
        )  # fmt: skip
    rtt = (12 * US) + 2 * (1048 + 60) / B
    for n in (8, 32):
        yield from of_run(
            f"powertcp theta, {n} flows", partial(powertcp, n, form="theta"),
            "R (1 - 1 / U) = beta: RTT = 1.05 T / (1 - N beta / B), beta 150 Mb/s",
            Figure("mean queue", "kB", B * rtt * (1.05 / (1 - n * 150e6 / 8 / B) - 1) * 1e-3, 0.1),
        )  # fmt: skip
    for flow_range, wire, n, queue in (
        ("0s", 1000, 8, 100), ("0s", 1000, 32, 100), ("100us", 4160, 8, 187), ("100us", 4160, 32, 284),
        ("100us", 4160, 128, 443),
    ):  # fmt: skip
        scaling = "" if flow_range == "0s" else ", flow scaling"
        yield from of_run(
            f"swift, {n} flows{scaling}", partial(swift, n, wire, flow_range),
            "delay = target: q = C (target(w) - T0), N w packets = C target(w)",
            Figure("mean queue", "kB", queue, 0.15 if n <= 32 else None),
            note="" if n <= 32 else "the closed form leaves out the step up, a packet per flow and RTT: 532 kB of 128",
        )  # fmt: skip


# -- InfiniBand ---------------------------------------------------------------------------------------------


def one_flow(control: str, **others) -> dict[str, float]:
    """Rate on the wire of one flow of 4 MB between two GPUs on a switch [Gb/s]."""
    arrived = ends(Started(star(2), flows([0], [1], 4e6), policies(control, **others)).model)[0]
    return {"throughput": 4e6 * (4160 / 4096) / (arrived - 2 * US - 4160 / B) / GBPS}


def _infiniband() -> Iterator[Case]:
    loop = 4160 / B + 2 * US  # a packet's credit is back after its transmission and two wires
    for packets in (1, 2, 3, 5, 8, 16):
        buffer = packets * 4160
        yield from of_run(
            f"credits of {packets} packets", partial(one_flow, "none", ports={"credits": f"{buffer}B"}),
            "throughput = min(B, buffer / loop)",
            Figure("throughput", "Gb/s", min(B, buffer / loop) / GBPS, 0.01),
        )  # fmt: skip
    for index in (1, 4, 9):
        yield from of_run(
            f"ib_cca at CCTI {index}", partial(one_flow, "ib_cca", params={"minimum": index}),
            "IBA annex A10, linear table: B / (1 + CCTI)",
            Figure("throughput", "Gb/s", 100 / (1 + index), 0.01),
        )  # fmt: skip


def cases() -> list[Case]:
    """All figures of this module."""
    return [*_dctcp(), *_dcqcn(), *_timely(), *_short_queues(), *_infiniband()]
