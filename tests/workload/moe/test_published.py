"""MoE layers against what was published or derived about them by others."""

from pathlib import Path

import pytest

import simnet

ROOT = Path(__file__).parents[3]
READINGS = ["parm_32gpu_measured_link", "parm_32gpu_measured_copy"]
NODES = [[f"node{node}/gpu{i}" for i in range(4)] for node in range(8)]
RAILS = [[f"node{node}/gpu{i}" for node in range(8)] for i in range(4)]

# Times [ms] of a forward pass in FSMoE (ASPLOS 2025), table 2, on 32 RTX 2080 Ti: B = 4, L = 1024, N_MP = N_ESP = 4;
# k = 2 and f = 1.2 are inferred. Tokens are shared out in the MP group before two all-to-alls of Y / 4; then ESP and MP
# groups gather Y and X, and reduce-scatter the same.
FSMOE = {
    "GPT2-XL": ({"hidden": 1600, "expert_hidden": 6400}, 11.2, 15.5, 15.7, 6.7),
    "Mixtral-7B": ({"hidden": 4096, "expert_hidden": 14336, "gated": True}, 28.3, 39.6, 40.8, 58.5),
}


def together(topology, kind, size, groups):
    """Time [ms] of a collective in all groups at once."""
    workload = {"kind": "collective", "collective": kind, "sizes": [f"{size}B"]}
    jobs = [{"workload": workload, "placement": group} for group in groups]
    ran = simnet.run({"topology": {"file": str(ROOT / "topologies" / f"{topology}.yaml")}, "jobs": jobs})
    return 1e3 * ran.summary["makespan"]


@pytest.mark.parametrize("topology", READINGS)
@pytest.mark.parametrize("model", FSMOE)
def test_collectives_of_fsmoe(topology, model):
    shape, all_to_all, all_gather, reduce_scatter, _ = FSMOE[model]
    x = 4 * 1024 * shape["hidden"] * 4
    y = 2 * 1.2 * x
    assert 2 * together(topology, "all_to_all", y / 4, RAILS) == pytest.approx(all_to_all, rel=0.15)
    for kind, measured in (("all_gather", all_gather), ("reduce_scatter", reduce_scatter)):
        simulated = together(topology, kind, y, NODES) + together(topology, kind, x, NODES)
        assert simulated == pytest.approx(measured, rel=0.15)


@pytest.mark.parametrize("model", FSMOE)
def test_experts_of_fsmoe(model):
    """1 / N_MP of the tokens, as in S1, at the roofline of the GPU's data sheet."""
    shape, *_, measured = FSMOE[model]
    workload = {"batch": 4, "sequence": 1024, "model_parallel": 4, "expert_sharding": 4, "backward": False} | shape
    ran = layer(READINGS[0], "parm_s1", workload)
    tasks = ran.tasks.to_pydict()
    took = [end - start for name, start, end in zip(tasks["name"], tasks["start"], tasks["end"]) if name == "experts"]
    assert 1e3 * max(took) == pytest.approx(measured, rel=0.15)


def layer(topology, schedule, workload):
    workload = {"kind": "moe_layer", "schedule": schedule} | workload
    topology = topology if isinstance(topology, dict) else {"file": str(ROOT / "topologies" / f"{topology}.yaml")}
    return simnet.run({"topology": topology, "jobs": [{"workload": workload}]})


def communication(ran) -> float:
    """Time [s] that rank 0 communicates and does not compute."""
    return ran.summary["makespan"] * ran.summary["ranks"][0]["exposed_communication"]


# DeepSpeed-MoE over S1 on 8 GPUs that share nothing but a switch, communication only, by alpha-free formulas of rings
BUS = {"kind": "pcie_server", "gpus": 8, "gpus_per_switch": 8, "sockets": 1, "gpu": "rtx_2080_ti"}
GROUPS = [(4, 4), (4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (1, 2), (2, 1)]  # N_MP, N_ESP
DERIVED = {1.2: [5.26, 3.89, 3.19, 2.69, 1.65, 1.79, 1.67, 1.35], 2.4: [5.45, 4.56, 3.03, 2.77, 2.33, 1.61, 1.55, 1.62]}
CASES = [(kf, groups, ratio) for kf, row in DERIVED.items() for groups, ratio in zip(GROUPS, row, strict=True)]


@pytest.mark.parametrize(("kf", "groups", "ratio"), CASES)
def test_communication_on_a_uniform_bus(kf, groups, ratio):
    workload = {
        "batch": 4, "sequence": 1024, "hidden": 1024, "expert_hidden": 1024, "capacity_factor": kf / 2, "launch": "0",
        "model_parallel": groups[0], "expert_sharding": groups[1],
    }  # fmt: skip
    base, s1 = (communication(layer(BUS, schedule, workload)) for schedule in ("deepspeed_moe", "parm_s1"))
    assert base / s1 == pytest.approx(ratio, rel=0.01)
