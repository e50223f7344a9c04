"""Every schedule: bytes on the wire by hand, work, limits, and its cost formula."""

import numpy as np
import pytest

import simnet
from simnet.result import numbers, text
from simnet.topology import native
from simnet.topology.topology import Topology
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.moe import SCHEDULES, Calibration, predict

TWO_SERVERS = {"kind": "single_switch", "nodes": 2, "node": {"kind": "pcie_server", "gpus": 4, "nics": 1}}

# X = 2 x 4 x 4 x 4 = 128 B, T = 2 x 1 x 8 / 4 = 4 tokens, Y = 4 x 4 x 16 = 256 B, y = 2 x 256 / 2 = 256 B
BY_HAND = {
    "batch": 2, "sequence": 4, "hidden": 4, "expert_hidden": 8, "top_k": 2, "capacity_factor": 1.0,
    "model_parallel": 2, "expert_sharding": 2,
}  # fmt: skip
PER_RANK = {  # bytes sent in a forward pass on P = 8 ranks, hence N_EP = 4
    # all-gather of 256 in a pair, two all-to-alls of 512 among 4, all-reduce of 512 in a pair
    "deepspeed_moe": 128 + 2 * 384 + 512,
    "pipelined": 128 + 2 * 384 + 512,
    # two all-to-alls of 256 among 4, all-reduce of 256 in a pair
    "deepspeed_moe_training": 2 * 192 + 256,
    # two all-to-alls of 256 among 8, all-gather of 128 in a pair
    "parm_s1": 2 * 224 + 64,
    # the same, but all-gather of 256
    "parm_s2": 2 * 224 + 128,
    "parm_s2_no_overlap": 2 * 224 + 128,
}


def ran(schedule, topology=TWO_SERVERS, **more):
    workload = {"kind": "moe_layer", "schedule": schedule, **BY_HAND, **more}
    return simnet.run({"topology": topology, "jobs": [{"workload": workload}]})


@pytest.mark.parametrize("schedule", PER_RANK)
def test_bytes_on_the_wire_of_every_rank(schedule):
    forward = ran(schedule, backward=False).summary["ranks"]
    both = ran(schedule).summary["ranks"]
    assert [rank["sent"] for rank in forward] == pytest.approx([PER_RANK[schedule]] * 8)
    assert [rank["received"] for rank in forward] == pytest.approx([PER_RANK[schedule]] * 8)
    assert [rank["sent"] for rank in both] == pytest.approx([2 * PER_RANK[schedule]] * 8)


@pytest.mark.parametrize("schedule", PER_RANK)
def test_experts_of_parm_compute_nothing_twice(schedule):
    """2 GEMMs of the k f B L tokens of an input, forward once and backward twice; the baselines do it N_MP times."""
    graph = MoeLayer(schedule=schedule, **BY_HAND).build(8)
    experts = [i for i, name in enumerate(graph.names) if name.startswith("experts")]
    tokens = 2 * 1.0 * 2 * 4
    whole = 3 * 4 * tokens * 4 * 8 if schedule.startswith("parm") else 2 * 3 * 4 * tokens * 4 * 8
    if schedule == "deepspeed_moe_training":
        whole /= 2  # each shard sees the tokens of one input, not those of its ESP group's two
    per_rank = [sum(graph.flops[(graph.rank == rank) & (graph.name == n)].sum() for n in experts) for rank in range(8)]
    assert per_rank == pytest.approx([whole / 2] * 8)


def test_without_model_parallelism_s1_and_s2_are_one():
    one, two = (ran(schedule, model_parallel=1) for schedule in ("parm_s1", "parm_s2"))
    assert one.summary["makespan"] == two.summary["makespan"]
    assert one.tasks.equals(two.tasks)


def bus(tmp_path, rate: float, latency: float) -> dict:
    """8 GPUs of one server, each with a link of its own to the others."""
    topology = Topology("bus")
    server = topology.add_server("server")
    switch = topology.add_device("switch", "pcie_switch", server)
    for i in range(8):
        topology.connect(topology.add_device(f"gpu{i}", "gpu", server, "rtx_2080_ti"), switch, rate, latency, "pcie")
    path = tmp_path / "bus.yaml"
    path.write_text(native.to_yaml(topology))
    return {"file": str(path)}


LARGE = {"batch": 2, "sequence": 512, "hidden": 1024, "expert_hidden": 2048}


@pytest.mark.parametrize("schedule", [*PER_RANK, "two_level_all_to_all"])
def test_on_a_perfect_network_exactly_the_computing_remains(schedule, tmp_path):
    perfect = bus(tmp_path, 1e21, 0.0)
    result = ran(schedule, perfect, launch="0", chunks=1, **LARGE)
    mine = numbers(result.tasks, "rank") == 0
    names, words = text(result.tasks, "stream")
    computing = mine & (np.array(words)[names] == "compute")
    start, end = numbers(result.tasks, "start")[computing], numbers(result.tasks, "end")[computing]
    assert start[0] < 1e-12
    assert np.all(start[1:] - end[:-1] < 1e-12)  # the bytes of no message take longer at the fastest rate there is
    assert result.summary["makespan"] - end[-1] < 1e-12
    assert (end - start).sum() == pytest.approx(roofline(schedule, LARGE, 8), rel=1e-9)


def roofline(schedule, shape, ranks):
    """Compute time [s] of a rank by hand: rates of an RTX 2080 Ti, the slower of arithmetic and memory."""
    graph = MoeLayer(schedule=schedule, **BY_HAND | shape, chunks=1).build(ranks)
    mine = (graph.rank == 0) & (graph.operation < 0)
    return np.maximum(graph.flops[mine] / 13.45e12, graph.memory[mine] / (0.8 * 616e9)).sum()


def calibration(rate: float, ranks: int, mp: int, esp: int) -> Calibration:
    """Alpha-beta pairs on a bus of links of `rate` [bytes/s], without any alpha: what a link carries of n bytes."""

    def pair(part):
        return {"alpha": "0", "rate": f"{rate / part}B/s"}

    ep = ranks // esp
    groups = {n: pair((n - 1) / n) for n in (mp, esp)}
    saa = (ranks - 1) / ranks * esp / mp + (mp - 1) / mp  # of Y
    return Calibration(
        fused_all_to_all=pair((ranks - 1) / ranks),
        all_to_all={esp: pair((ep - 1) / ep)},
        two_level_all_to_all={esp: pair((ep - 1) / ep)},  # in one server there is but one level
        all_gather=groups,
        all_reduce={n: pair(2 * (n - 1) / n) for n in (mp, esp)},
        saa={mp: {esp: pair(saa)}},
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("mp", "esp"), [(2, 2), (4, 2), (4, 4)])
def test_cost_formulas(schedule, mp, esp, tmp_path):
    """On a bus, where nothing overlaps, every pass communicates as long as the formula says."""
    pairs = calibration(10e9, 8, mp, esp)
    shape = LARGE | {"model_parallel": mp, "expert_sharding": esp}
    workload = {"launch": "0", "chunks": 1, "calibration": pairs.model_dump(mode="json", exclude_none=True)}
    layer = MoeLayer(schedule=schedule, **BY_HAND | shape, calibration=pairs).layer(8)
    for backward in (False, True):
        result = ran(schedule, bus(tmp_path, 10e9, 0.0), backward=backward, **shape, **workload)
        exposed = result.summary["makespan"] * result.summary["ranks"][0]["exposed_communication"]
        assert exposed == pytest.approx((1 + backward) * predict(schedule, layer, pairs), rel=1e-6)


@pytest.mark.parametrize("schedule", ["deepspeed_moe", "parm_s1"])
def test_every_collective_costs_a_launch(schedule, tmp_path):
    without, with_launch = (
        ran(schedule, bus(tmp_path, 10e9, 1e-6), launch=launch, backward=False) for launch in ("0", "20us")
    )
    collectives = {"deepspeed_moe": 4, "parm_s1": 3}[schedule]
    later = with_launch.summary["makespan"] - without.summary["makespan"]
    assert later == pytest.approx(collectives * 20e-6, rel=1e-6)


def test_saa_costs_a_launch_per_step(tmp_path):
    """8 of them in a row after dispatch: 7 exchanges, and the last chunk to be gathered."""
    empty = {"batch": 1, "sequence": 4, "hidden": 1, "expert_hidden": 1, "launch": "20us", "backward": False}
    s2 = ran("parm_s2", bus(tmp_path, 1e21, 0.0), **empty)
    communicated = s2.summary["makespan"] * s2.summary["ranks"][0]["exposed_communication"]
    assert communicated == pytest.approx((1 + 8) * 20e-6, rel=1e-6)


def test_chunks_hide_experts_behind_all_to_alls(tmp_path):
    """Communication takes longer than computing here; in 8 chunks all experts compute meanwhile."""
    shape = {"batch": 4, "sequence": 1024, "hidden": 1024, "expert_hidden": 4096, "launch": "0", "backward": False}
    makespans = [
        ran("pipelined", bus(tmp_path, 5e9, 0.0), chunks=chunks, **shape).summary["makespan"] for chunks in (1, 2, 4, 8)
    ]
    assert sorted(makespans, reverse=True) == makespans
    serial = ran("deepspeed_moe", bus(tmp_path, 5e9, 0.0), **shape)
    assert makespans[0] == pytest.approx(serial.summary["makespan"], rel=1e-9)
    names, words = text(serial.tasks, "name")
    row = np.flatnonzero((np.array(words)[names] == "experts") & (numbers(serial.tasks, "rank") == 0))[0]
    experts = numbers(serial.tasks, "end")[row] - numbers(serial.tasks, "start")[row]
    assert makespans[0] - makespans[3] == pytest.approx(experts, rel=0.01)


def test_two_levels_cross_the_network_in_fewer_messages():
    """Without sharding all 8 ranks are an EP group: 4 x 4 x 2 messages cross, or one per GPU and remote peer's rail."""
    plain, two_level = (
        simnet.run({
            "topology": TWO_SERVERS, "output": {"messages": True},
            "jobs": [{"workload": {"kind": "moe_layer", "schedule": schedule, **BY_HAND, "expert_sharding": 1,
                                   "backward": False}}],
        })
        for schedule in ("deepspeed_moe", "two_level_all_to_all")
    )  # fmt: skip

    def crossing(run):
        (dispatch,) = {row["operation"] for row in run.flows.to_pylist() if row["label"] == "dispatch"}
        rows = [row for row in run.messages.to_pylist() if row["operation"] == dispatch]
        rows = [row for row in rows if row["source"].split("/")[0] != row["destination"].split("/")[0]]
        return len(rows), sum(row["size"] for row in rows)

    assert crossing(plain) == (32, pytest.approx(32 * 32.0))
    assert crossing(two_level) == (8, pytest.approx(32 * 32.0))


def test_s1_wins_in_one_server_and_s2_where_the_network_is_slow():
    """In a server gathering shares the links; a slow network leaves them idle, so that S2 gathers for nothing."""
    shape = {"batch": 2, "sequence": 512, "hidden": 1024, "expert_hidden": 1024, "model_parallel": 4, "launch": "0"}
    shape |= {"expert_sharding": 4, "capacity_factor": 1.2}
    one = {"kind": "pcie_server", "gpus": 8, "gpus_per_switch": 8, "sockets": 1}
    slow = TWO_SERVERS | {"link_rate": "2GB/s"}
    faster = {
        name: ran("parm_s1", topology, **shape).summary["makespan"]
        < ran("parm_s2", topology, **shape).summary["makespan"]
        for name, topology in (("one", one), ("slow", slow))
    }
    assert faster == {"one": True, "slow": False}  # fmt: skip


@pytest.mark.parametrize("schedule", ["deepspeed_moe", "parm_s1", "parm_s2"])
def test_on_packets_it_takes_a_little_longer(schedule):
    """Headers, acknowledgements and queues cost up to a third at these sizes; the bytes are the same."""
    shape = {"batch": 1, "sequence": 64, "hidden": 512, "expert_hidden": 1024, "backward": False}
    flow, packet = (
        simnet.run({
            "topology": TWO_SERVERS, "network": {"model": model},
            "jobs": [{"workload": {"kind": "moe_layer", "schedule": schedule, **BY_HAND, **shape}}],
        })
        for model in ("flow", "packet")
    )  # fmt: skip
    assert packet.summary["status"] == "completed"
    assert [rank["sent"] for rank in packet.summary["ranks"]] == [rank["sent"] for rank in flow.summary["ranks"]]
    assert 1 < packet.summary["makespan"] / flow.summary["makespan"] < 1.35


def test_every_schedule_is_tested_here():
    assert set(SCHEDULES) - set(PER_RANK) == {"parm_auto", "two_level_all_to_all"}
