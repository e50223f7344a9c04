"""Virtual lanes: lossless links with queues, pauses and credits of their own, and the circles that they break."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.flow_graph import flow_graph
from simnet.network.model import STUCK, LinkChange
from simnet.network.packet_level.connection_state import CONNECTION
from simnet.network.packet_level.lanes import next_lane
from simnet.network.packet_level.model import PacketModel
from simnet.network.packet_level.state import CREDITS, NEVER, PACKET, PORT, WORLD
from simnet.network.policies import Policies
from simnet.network.records import table
from simnet.network.scenario import Scenario
from simnet.topology.builders.dragonfly import Dragonfly
from simnet.topology.topology import Topology
from tests.network.packet_level.measuring import check_that_nothing_is_left, settle
from tests.network.packet_level.test_failures import ring_of_switches
from tests.network.systems import drain, finish_times, star

B = 12.5e9  # 100 Gb/s
PAUSES, CREDIT = {"pfc": {"xoff": "20kB", "xon": "10kB"}}, {"credits": "20kB"}
LANES = {"minimal": 2, "valiant": 3, "ugal": 3}  # Kim et al. 2008


def dragonfly(routers: int = 2) -> Topology:
    """routers + 1 groups of so many routers, with a host and a global link each."""
    shape = {"routers_per_group": routers, "ports_per_router": 1, "global_links": 1}
    return Dragonfly(link_rate="100Gbps", **shape).build()


def policies(balancer: str, ports: dict, lanes: int) -> Policies:
    schemes = {"minimal": {}, "ecmp": {}, "valiant": {"paths": 8}, "ugal": {"paths": 16}}
    return Policies(
        congestion_control={"kind": "none"},
        load_balancing={"kind": balancer, **schemes[balancer]},
        transport={"kind": "selective_repeat"},
        ports={**ports, "virtual_lanes": lanes},
    )


def started(topology: Topology, chosen: Policies, target, size: float, seed: int = 1, changes=()) -> PacketModel:
    """Every host sends `size` bytes to its target."""
    hosts = np.arange(len(topology.gpus))
    model = PacketModel(Scenario(topology, seed, chosen, changes))
    model.start(flow_graph(len(hosts), hosts, target, hosts, size), np.array(topology.gpus), 0, 0.0)
    return model


def to_the_next_group(topology: Topology, routers: int) -> np.ndarray:
    return np.roll(np.arange(len(topology.gpus)), -routers)


def check_that_lanes_are_as_before(model: PacketModel) -> None:
    """Nothing was lost, all lanes are empty, and have back the credits that they began with."""
    check_that_nothing_is_left(model)
    fresh = PacketModel(Scenario(model._topology, 1, policies("ecmp", *model.chosen)))
    assert np.array_equal(model.tables.ports.credits, fresh.tables.ports.credits)
    assert not model.tables.ports.dropped.any()


# -- circles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ports", [PAUSES, CREDIT], ids=["pauses", "credits"])
@pytest.mark.parametrize("balancer", ["minimal", "valiant"])
def test_a_dragonfly_with_one_lane_waits_for_itself(balancer, ports):
    topology = dragonfly()
    done = drain(started(topology, policies(balancer, ports, 1), to_the_next_group(topology, 2), 1e5))
    assert done[-1].outcome == STUCK
    begin = "deadlock: these links wait for one another in a circle: group"
    assert done[-1].detail.startswith(begin)
    hops = done[-1].detail[len(begin) - 5 :].split(", ")
    ends = [hop.split(" -> ") for hop in hops]
    assert all(a[1] == b[0] for a, b in zip(ends, ends[1:] + ends[:1])), "each link leads to the next"


@pytest.mark.parametrize("ports", [PAUSES, CREDIT], ids=["pauses", "credits"])
@pytest.mark.parametrize("balancer", LANES)
def test_enough_lanes_break_every_circle(balancer, ports):
    topology = dragonfly()
    model = started(topology, policies(balancer, ports, LANES[balancer]), to_the_next_group(topology, 2), 1e5)
    model.chosen = ports, LANES[balancer]
    assert [c.outcome for c in drain(model)] == ["done"] * 6
    assert model.report().counts["progress"] == 6 * 25
    check_that_lanes_are_as_before(model)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(list(LANES)), st.sampled_from([PAUSES, CREDIT]), st.integers(0, 99), st.integers(1, 60_000))
def test_no_traffic_stops_a_dragonfly_with_lanes(balancer, ports, seed, size):
    topology = dragonfly(3)
    target = np.random.default_rng(seed).integers(0, 11, 12)
    target += target >= np.arange(12)
    model = started(topology, policies(balancer, ports, LANES[balancer]), target, size, seed)
    model.chosen = ports, LANES[balancer]
    assert [c.outcome for c in drain(model)] == ["done"] * 12
    assert model.report().counts["progress"] == 12 * -(-size // 4096)
    check_that_lanes_are_as_before(model)


@pytest.mark.parametrize(("lanes", "outcome"), [(1, STUCK), (2, "done")])
def test_where_there_are_no_groups_a_lane_counts_switches(lanes, outcome):
    # two links between switches per flow: the second one is taken in the second lane
    topology = ring_of_switches()
    model = started(topology, policies("ecmp", PAUSES, lanes), [2, 3, 0, 1], 4e6)
    assert drain(model)[-1].outcome == outcome


def test_lanes_of_a_circle_are_named():
    # three links per flow, two lanes: the circle is in the last lane
    topology = ring_of_switches()
    done = drain(started(topology, policies("ecmp", PAUSES, 2), [3, 0, 1, 2], 4e6))
    assert done[-1].outcome == STUCK
    assert all(f"s{i} -> s{(i + 1) % 4} (lane 1)" in done[-1].detail for i in range(4))


def test_a_failed_link_empties_all_its_lanes():
    topology = dragonfly(3)
    ends = [(topology.devices[link.source].name, topology.devices[link.destination].name) for link in topology.links]
    cut = [i for i, (a, b) in enumerate(ends) if {a, b} == {"group0/router0", "group0/router1"}]
    chosen = policies("valiant", CREDIT, 3)
    model = started(
        topology, chosen, to_the_next_group(topology, 3), 2e5, changes=[LinkChange(5e-6, i, 0.0) for i in cut]
    )
    assert [c.outcome for c in drain(model)] == ["done"] * 12
    settle(model)
    assert not model.tables.ports.ingress_bytes.any()
    assert (model.tables.ports.credits >= 0).all()
    assert model.tables.world[0].free_packets == len(model.tables.packets)


# -- one lane among others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("packets", [1, 3, 8, 16])
def test_credits_limit_a_lane_to_a_buffer_per_loop(packets):
    topology = star(2, B, 1e-6)
    model = PacketModel(Scenario(topology, 1, policies("ecmp", {"credits": f"{packets * 4160}B"}, 4)))
    last = finish_times(model, flow_graph(2, [0], [1], [0], 4e6), topology.gpus).max()
    rate = 4e6 * (4160 / 4096) / (last - 2e-6 - 4160 / B)
    assert rate == pytest.approx(min(B, packets * 4160 / (4160 / B + 2e-6)), rel=0.01)


def test_lanes_change_nothing_where_packets_keep_to_the_first():
    topology = star(5, B)
    ends = []
    for lanes in (1, 4):
        model = PacketModel(Scenario(topology, 1, policies("ecmp", PAUSES, lanes)))
        ends.append(finish_times(model, flow_graph(5, range(1, 5), [0] * 4, range(4), 3e5), topology.gpus).tolist())
        report = model.report()
        ends[-1] += [report.ports[name].tolist() for name in sorted(report.ports)]
    assert ends[0] == ends[1]
    assert report.settings["flow_control"] == "pfc, 4 lanes"
    assert len(report.bytes) == len(report.ports["pauses"]) == len(topology.links)


def test_a_port_serves_its_lanes_in_turn():
    """Three lanes with a packet of 1000 B each, the second without credit; then a control packet in the third."""
    ports, packets, world = table(4, PORT), table(4, PACKET), table(1, WORLD)
    world.links, world.lanes = 1, 3
    ports.lossless = CREDITS
    ports.control_head = ports.ring = ports.credit_head = -1
    ports.credit_time = NEVER
    ports.data_head, ports.credits = [-1, 0, 1, 2], [0, 5000, 999, 5000]
    packets.bytes = 1000

    def rows(turns: int) -> list[int]:
        return [next_lane(0, ports, packets, table(1, CONNECTION), world) for _ in range(turns)]

    assert rows(4) == [3, 1, 3, 1]
    ports[2].credits = 1000
    assert rows(4) == [2, 3, 1, 2]
    ports[3].control_head = 3
    assert rows(2) == [3, 3]
    ports.paused = 1
    assert rows(1) == [3]  # control packets are not paused
    ports[3].credits = 0
    assert rows(1) == [-1]  # none may go


def test_a_blocked_lane_holds_no_other_back():
    """Behind a link that two flows share one of them waits long, in the lane that only it has reached."""
    topology = ring_of_switches()
    slow = topology.id_of("h2")
    link = next(i for i, k in enumerate(topology.links) if k.destination == slow)
    # h0 to h2 crosses two links between switches, h1 to h3 the second of them in the first lane
    times = []
    for lanes in (1, 3):
        model = PacketModel(Scenario(topology, 1, policies("ecmp", CREDIT, lanes), [LinkChange(0.0, link, B / 100)]))
        times.append(finish_times(model, flow_graph(4, [0, 1], [2, 3], [0, 1], 1e6), topology.gpus)[3])
    # four packets per loop, as 20 kB of credit allow
    assert times[1] == pytest.approx(1e6 * (4160 / 4096) / (4 * 4160 / (4160 / B + 2e-6)), rel=0.1)
    assert times[0] > 10 * times[1]


def test_lanes_are_for_lossless_links():
    with pytest.raises(InputError, match="virtual_lanes: are for links with pauses or credits"):
        PacketModel(Scenario(star(2), 1, policies("ecmp", {"lossless": False}, 2)))
    assert math.isinf(PacketModel(Scenario(star(2), 1, policies("ecmp", {}, 2))).next_time)
