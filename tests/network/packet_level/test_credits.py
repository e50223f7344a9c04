"""Credits of links: looked for when they are needed, with the results of looking for them all the time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.flow_graph import flow_graph
from simnet.network.model import LinkChange
from simnet.network.packet_level.model import PacketModel
from simnet.network.policies import Policies
from simnet.network.scenario import Scenario
from simnet.topology.topology import Topology
from tests.network.systems import fat_tree, finish_times

B = 12.5e9  # 100 Gb/s


def chain(latencies: list[float], rates: list[float]) -> Topology:
    """Switches one behind the other with two hosts each: every wire between them is as long and fast as it says."""
    topology = Topology("chain")
    switches = [topology.add_device(f"s{i}", "switch") for i in range(len(latencies) + 1)]
    for i, switch in enumerate(switches):
        for j in range(2):
            topology.connect(topology.add_device(f"h{i}{j}", "gpu"), switch, B, 5e-7 * (j + 1), "ethernet")
    for a, b, latency, rate in zip(switches, switches[1:], latencies, rates):
        topology.connect(a, b, rate, latency, "ethernet")
    return topology


def run(
    topology: Topology, credits: str, targets, lanes: int = 1, prompt: bool = False, control: str = "ib_cca", changes=()
):
    """Every host sends 200 kB to its target; the model and when each rank is through [s].

    prompt: have every port looked at as soon as it is free, which none needs.
    """
    chosen = Policies(
        congestion_control={"kind": control},
        transport={"kind": "selective_repeat"},
        ports={"credits": credits, "virtual_lanes": lanes},
    )
    model = PacketModel(Scenario(topology, 1, chosen, changes))
    if prompt:
        model.tables.ports.prompt = 1
    hosts = np.arange(len(topology.gpus))
    graph = flow_graph(len(hosts), hosts, targets, hosts, 2e5)
    return model, finish_times(model, graph, topology.gpus)


LATENCY = st.sampled_from([1e-7, 3e-7, 5e-7, 1e-6, 4e-6])
RATE = st.sampled_from([B / 4, B / 2, B, 2 * B])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(LATENCY, RATE), min_size=1, max_size=3), st.integers(5, 60), st.integers(1, 3), st.data())
def test_looking_only_when_credit_is_needed_changes_nothing(wires, credits, lanes, data):
    """The same times and counters, to the picosecond, on wires of any length and rate."""
    topology = chain([w[0] for w in wires], [w[1] for w in wires])
    targets = np.array(data.draw(st.permutations(range(len(topology.gpus)))))
    lazy, timely = (run(topology, f"{credits}kB", targets, lanes, prompt) for prompt in (False, True))
    assert np.array_equal(lazy[1], timely[1])
    for name in ("packets_out", "marked", "peak", "busy", "area"):
        assert np.array_equal(lazy[0].tables.ports[name], timely[0].tables.ports[name]), name


@settings(max_examples=10, deadline=None)
@given(st.data(), st.floats(1e-6, 40e-6), st.sampled_from([0.0, B / 4]))
def test_nor_does_it_where_links_fail_or_slow_down(data, when, rate):
    topology = fat_tree(4, B)
    ends = [(topology.devices[k.source], topology.devices[k.destination]) for k in topology.links]
    inner = [i for i, (a, b) in enumerate(ends) if a.kind == b.kind == "switch"]
    link = data.draw(st.sampled_from(inner))
    both = [i for i, pair in enumerate(ends) if set(pair) == set(ends[link])]
    changes = [LinkChange(t, i, new) for t, new in ((when, rate), (60e-6, B)) for i in both]
    targets = np.array(data.draw(st.permutations(range(len(topology.gpus)))))
    lazy, timely = (run(topology, "20kB", targets, 1, prompt, changes=changes) for prompt in (False, True))
    assert np.array_equal(lazy[1], timely[1])
    for name in ("packets_out", "dropped"):
        assert np.array_equal(lazy[0].tables.ports[name], timely[0].tables.ports[name]), name


@pytest.mark.parametrize("credits", ["20kB", "1MB"])
def test_a_packet_costs_an_event_per_link(credits):
    """On wires of one length no port is looked at in vain: what is more than arrivals are waits for credit."""
    topology = fat_tree(4, B)
    hosts = len(topology.gpus)
    model, _ = run(topology, credits, np.roll(np.arange(hosts), 5), control="none")
    arrivals = int(model.tables.ports.packets_in.sum())
    assert arrivals <= int(model.tables.world[0].events) < 1.25 * arrivals
    assert not model.tables.ports.prompt.any()


def test_ports_with_a_long_wire_behind_a_short_one_are_looked_at_in_time():
    topology = chain([1e-7, 4e-6], [B, B])
    ports = run(topology, "20kB", np.roll(np.arange(6), 3))[0].tables.ports
    names = {topology.link_name(i) for i in np.flatnonzero(ports.prompt[: len(topology.links)])}
    assert {"s1 -> s2", "s1 -> h10"} <= names
    assert not names & {"s1 -> s0", "h00 -> s0"}
