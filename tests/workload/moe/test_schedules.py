"""Every schedule: bytes on the wire by hand, work, limits, and its cost formula."""

import pytest

import simnet
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.moe import SCHEDULES

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


def test_every_schedule_is_tested_here():
    assert set(SCHEDULES) - set(PER_RANK) == {"parm_auto", "two_level_all_to_all"}
