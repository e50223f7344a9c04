"""MoE layers and models as workloads: placement, memory, steps, and the parts of a model."""

import numpy as np
import pytest

import simnet
from simnet import reader
from simnet.errors import InputError
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.models.moe_model import TRANSFORMERS, MoeModel
from simnet.workload.moe import SCHEDULES
from simnet.workload.placed import Placed

LAYER = {"batch": 4, "sequence": 1024, "hidden": 1024, "expert_hidden": 4096}
SERVERS = {"kind": "single_switch", "nodes": 2, "node": {"kind": "pcie_server", "gpus": 4, "gpu": "rtx_2080_ti"}}
YAML = """
topology: {kind: single_switch, nodes: 2, node: {kind: pcie_server, gpus: 4, gpu: rtx_2080_ti}}
jobs:
  - placement: %s
    workload:
      {kind: moe_layer, batch: 4, sequence: 1024, hidden: 1024, expert_hidden: %s,
       model_parallel: %s}
"""


def problem(tmp_path, placement="packed", expert_hidden=4096, model_parallel=1) -> str:
    path = tmp_path / "moe.yaml"
    path.write_text(YAML % (placement, expert_hidden, model_parallel))
    with pytest.raises(InputError) as error:
        simnet.run(path)
    return str(error.value).removeprefix(f"{path}:")


def test_groups_lie_in_one_server(tmp_path):
    simnet.run({"topology": SERVERS, "jobs": [{"workload": {"kind": "moe_layer", "model_parallel": 4, **LAYER}}]})
    assert problem(tmp_path, "round_robin", model_parallel=2) == (
        "7: jobs.0.workload.model_parallel: ranks 0 to 1 are in 2 servers (node0, node1), but a group must lie in one; "
        "2 has to divide the ranks of a server"
    )
    assert problem(tmp_path, model_parallel=8).startswith("7: jobs.0.workload.model_parallel: ranks 0 to 7 are in 2 ")
    assert "7: jobs.0.workload.model_parallel: 3 does not divide the job's 8 ranks" in problem(
        tmp_path, model_parallel=3
    )


def test_out_of_memory_says_how_much(tmp_path):
    """A shard of 2 x 1024 x 2^19 weights of 4 B, with gradient and two moments: 16 GiB, besides the activations."""
    told = problem(tmp_path, expert_hidden=2**19)
    needed = MoeLayer(**LAYER | {"expert_hidden": 2**19}).memory(8)
    assert needed > 16 * 2**30
    assert told.startswith(f"5: jobs.0.workload: out of memory: needs {needed:.0f} B (")
    assert told.endswith("on each GPU, and the rtx_2080_ti of rank 0 has 11000000000 B (10.24 GiB)")


def test_memory_by_hand():
    """X = 16 MiB, Y = 2.4 X; weights 2 M H / N_ESP; the baseline keeps X (1 + N_ESP) + 2 N_ESP Y + 2 k f B L H."""
    x = 2.0**24
    sharded = LAYER | {"expert_sharding": 2, "model_parallel": 2}
    weights = 1024 * 4096
    hidden = 2 * 2.4 * 4096 * 4096 * 4
    base = MoeLayer(**sharded)
    assert base.memory(8) == pytest.approx(weights * 16 + x * 3 + 2 * 2 * 2.4 * x + hidden)
    s1 = MoeLayer(schedule="parm_s1", **sharded)
    assert s1.memory(8) == pytest.approx(weights * 16 + 1.5 * x + 2 * 2.4 * x + hidden / 2)
    assert MoeLayer(backward=False, **sharded).memory(8) == pytest.approx(base.memory(8) - weights * 12)


def test_a_workload_in_a_file_is_checked_as_well(tmp_path):
    (tmp_path / "layer.yaml").write_text("workload: {kind: moe_layer, batch: 1, sequence: 8, hidden: 4, "
                                         "expert_hidden: 4, model_parallel: 8}\n")  # fmt: skip
    with pytest.raises(InputError, match=r"ranks 0 to 7 are in 2 servers"):
        simnet.run({"topology": SERVERS, "jobs": [{"workload": {"file": str(tmp_path / "layer.yaml")}}]})


def test_unknown_gpus_have_no_limit():
    placed = Placed(("a",) * 8, ("",) * 8, (float("inf"),) * 8)
    MoeLayer(**LAYER | {"expert_hidden": 2**19}).check_placement(placed)


def test_steps_are_routed_anew():
    routing = {"kind": "zipf", "exponent": 1.5}
    graph = MoeLayer(schedule="parm_s1", steps=2, backward=False, routing=routing, **LAYER).build(8)
    first, second = (o.matrix for o in graph.operations if o.label == "dispatch")
    assert first != second
    again = MoeLayer(schedule="parm_s1", steps=2, backward=False, routing=routing, **LAYER).build(8)
    assert [o.matrix for o in again.operations] == [o.matrix for o in graph.operations]


def test_gemm_rate_replaces_the_gpu():
    graph = MoeLayer(gemm_rate="10TFLOP/s", **LAYER).build(8)
    experts = graph.name == graph.names.index("experts")
    assert graph.duration[experts] == pytest.approx([4 * 2.4 * 4096 * 1024 * 4096 / 10e12] * 8)


# -- whole models ----------------------------------------------------------------------------------------------

MODEL = {"model": "bert_base", "batch": 1, "sequence": 64, "model_parallel": 2, "expert_sharding": 2}


def steps(graph, rank=0) -> list[str]:
    return [graph.names[name] for name in graph.name[graph.rank == rank]]


def test_the_parts_of_a_model_in_order():
    names = steps(MoeModel(schedule="parm_s1", moe_every=2, **MODEL).build(4))
    assert names[:10] == [
        "embedding", "embedding MP all-reduce",
        "layer 0 attention", "layer 0 attention MP all-reduce",
        "layer 0 feed-forward", "layer 0 feed-forward MP all-reduce",
        "layer 1 attention", "layer 1 attention MP all-reduce", "layer 1 gate", "layer 1 order",
    ]  # fmt: skip
    assert names[-5:] == [
        "layer 0 attention backward", "layer 0 attention MP all-reduce backward", "embedding backward", "gradients",
        "optimizer",
    ]  # fmt: skip
    assert sum(name.endswith(" gate") for name in names) == 6
    assert "layer 11 un-order backward" in names


def test_every_schedule_builds_every_model():
    for schedule in SCHEDULES:
        if schedule != "parm_auto":
            assert MoeModel(schedule=schedule, **MODEL).build(4).tasks > 4 * 100


@pytest.mark.parametrize("every", [1, 2, 3])
def test_work_of_attention_and_dense_networks_is_split(every):
    """2 x (4 h^2 + 2 s h) FLOP a token of attention and 2 x 2 h f of a dense network, three times, in two parts."""
    graph = MoeModel(moe_every=every, **MODEL).build(4)
    h, f, s = 768, 3072, 64
    dense = 12 - 12 // every
    expected = 3 * s * (12 * 2 * (4 * h * h + 2 * s * h) + dense * 2 * 2 * h * f) / 2
    pooler = 3 * 2 * h * h / 2
    named = ("attention", "feed-forward", "pooler")
    mine = [
        i for i, n in enumerate(graph.name)
        if graph.rank[i] == 0 and graph.operation[i] < 0
        and any(part in graph.names[n] for part in named)
    ]  # fmt: skip
    assert graph.flops[mine].sum() == pytest.approx(expected + pooler)


def test_gradients_are_reduced_among_replicas():
    """Half of what is no expert, and the gates, in two groups of every other rank."""
    graph = MoeModel(**MODEL).build(4)
    known = TRANSFORMERS["bert_base"]
    embedding, *_, output = known.build(64)
    own = (embedding.parameters + output.parameters + 12 * known.attention(64).parameters) / 2 + 12 * 768 * 2
    gradients = [o for o in graph.operations if o.label == "gradients"]
    assert [(o.kind, o.ranks) for o in gradients] == [("all_reduce", (0, 2)), ("all_reduce", (1, 3))]
    assert [o.size for o in gradients] == [pytest.approx(own * 4)] * 2


def test_forward_only_has_no_gradients():
    graph = MoeModel(backward=False, **MODEL).build(4)
    assert not [name for name in graph.names if "backward" in name or name in ("gradients", "optimizer")]
    assert MoeModel(backward=False, **MODEL).memory(4) < MoeModel(**MODEL).memory(4)


def test_the_speedup_of_a_model_lies_between_those_of_its_parts():
    """Attention runs alike under all schedules, so a model gains less than its layers, more with experts everywhere."""
    common = {"batch": 2, "model_parallel": 4, "expert_sharding": 4}

    def speedup(workload):
        base, s1 = (
            simnet.run({"topology": SERVERS, "jobs": [{"workload": {"schedule": schedule, **common, **workload}}]})
            for schedule in ("deepspeed_moe", "parm_s1")
        )
        return base.summary["makespan"] / s1.summary["makespan"]

    layer = speedup({"kind": "moe_layer", "sequence": 512, "hidden": 768, "expert_hidden": 3072})
    every, other = (speedup({"kind": "moe_model", "model": "bert_base", "moe_every": n}) for n in (1, 2))
    assert 1 < other < every < layer


def test_what_a_model_refuses():
    for change, message in (
        ({"sequence": 1000}, "bert_base takes at most 512 tokens, got 1000"),
        ({"moe_every": 13}, "bert_base has only 12 layers"),
        ({"model": "resnet50"}, "unknown 'resnet50'"),
    ):
        with pytest.raises(InputError, match=message):
            reader.validate(MODEL | change, MoeModel)


def test_a_part_of_the_model_in_numbers():
    assert np.isclose(MoeModel(**MODEL).layer(4).weights, 2 * 768 * 3072 / 2)
