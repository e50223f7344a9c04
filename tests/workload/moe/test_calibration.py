"""The automatic choice: by the formulas, of the faster schedule, and what it says where it cannot choose."""

import itertools

import numpy as np
import pytest

import simnet
from simnet import reader
from simnet.errors import InputError
from simnet.units import RATE, TIME
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.moe import AlphaBeta, Calibration, predict
from simnet.workload.moe.schedules import parm_auto

LAYER = {
    "batch": 2, "sequence": 512, "hidden": 1000, "expert_hidden": 1000, "capacity_factor": 1.0, "model_parallel": 2,
    "expert_sharding": 2,
}  # fmt: skip  # X = 4.096 MB, Y = y = 8.192 MB
PAIRS = {
    "fused_all_to_all": {"alpha": "1ms", "rate": "8.192GB/s"},
    "all_gather": {"2": {"alpha": "1ms", "rate": "4.096GB/s"}},
}


def with_saa(alpha: str) -> Calibration:
    return reader.validate(PAIRS | {"saa": {"2": {"2": {"alpha": alpha, "rate": "8.192GB/s"}}}}, Calibration)


def test_alpha_and_beta():
    assert AlphaBeta(alpha="1ms", rate="2GB/s").time(4e6) == pytest.approx(3e-3)


@pytest.mark.parametrize(("alpha", "choice"), [("2.9ms", "parm_s2"), ("3.1ms", "parm_s1")])
def test_the_faster_by_hand(alpha, choice):
    """S1: 2 x (1 + 1) + 1 + 1 = 6 ms. S2: 1 + 1 + alpha + 1 ms."""
    pairs = with_saa(alpha)
    layer = MoeLayer(schedule="parm_auto", calibration=pairs, **LAYER).layer(8)
    assert predict("parm_s1", layer, pairs) == pytest.approx(6e-3)
    assert predict("parm_s2", layer, pairs) == pytest.approx(3e-3 + pairs.saa[2][2].alpha)
    assert predict("parm_auto", layer, pairs) == min(predict(f"parm_s{i}", layer, pairs) for i in (1, 2))
    assert parm_auto.choose(layer) == choice


def test_it_runs_what_it_chose_and_says_so():
    topology = {"kind": "pcie_server", "gpus": 8}
    workload = {"kind": "moe_layer", "calibration": with_saa("1ms").model_dump(mode="json", exclude_none=True), **LAYER}
    auto, s2 = (
        simnet.run({"topology": topology, "jobs": [{"workload": workload | {"schedule": schedule}}]})
        for schedule in ("parm_auto", "parm_s2")
    )
    assert auto.tasks.equals(s2.tasks)
    sentence = "parm_auto chose parm_s2: a pass should communicate for 6 ms with S1, 4 ms with S2."
    assert sentence in auto.summary["notes"]
    assert sentence not in s2.summary["notes"]


def test_without_pairs_it_says_what_to_run():
    with pytest.raises(InputError, match=r"^calibration: parm_auto needs that of the cluster; 'simnet calibrate "):
        MoeLayer(schedule="parm_auto", **LAYER).build(8)
    pairs = reader.validate(PAIRS, Calibration)
    with pytest.raises(InputError, match=r"^calibration: has no saa\.2\.2; measure it with 'simnet calibrate'"):
        MoeLayer(schedule="parm_auto", calibration=pairs, **LAYER).build(8)


def test_pairs_are_written_and_read_back():
    pairs = with_saa("1ms")
    assert reader.validate(pairs.model_dump(mode="json", exclude_none=True), Calibration) == pairs


def fitted(points: list[tuple[float, float]]) -> dict:
    """Least squares of the relative errors of alpha + beta n."""
    size, time = np.array(points).T
    (alpha, beta), *_ = np.linalg.lstsq(np.stack([1 / time, size / time], axis=1), np.ones(len(time)), rcond=None)
    return {"alpha": TIME.exact(max(float(alpha), 0.0)), "rate": RATE.exact(float(1 / beta))}


@pytest.mark.parametrize("limit", ["gpu_rate", "copy_rate"])
def test_it_finds_what_the_simulation_finds(limit):
    """On two servers of a slow network, pairs fitted to three sizes, choices for others: where wrong, by under 3 %."""
    node = {"kind": "pcie_server", "gpus": 4, "gpu": "rtx_2080_ti", "gpus_per_switch": 0, "p2p": False, limit: "4GB/s"}
    topology = {"kind": "single_switch", "nodes": 2, "node": node, "link_rate": "10GB/s"}

    def measured(schedule, hidden, factor=1.2):
        workload = LAYER | {"hidden": hidden, "capacity_factor": factor, "model_parallel": 4, "backward": False}
        run = simnet.run(
            {"topology": topology, "jobs": [{"workload": {"kind": "moe_layer", "schedule": schedule} | workload}]}
        )
        launch = {"combine SAA": 0.0}
        rows = {row["label"]: (row["size"], row["time_mean"] + launch.get(row["label"], 20e-6))
                for row in run.summary["collectives"]}  # fmt: skip
        return run.summary["makespan"], rows

    sizes = (64, 512, 4096)
    s1, s2 = ([measured(schedule, hidden)[1] for hidden in sizes] for schedule in ("parm_s1", "parm_s2"))
    ordered = [2 * 1.2 * 2 * 512 * hidden * 4.0 for hidden in sizes]
    pairs = reader.validate(
        {
            "fused_all_to_all": fitted([rows["dispatch"] for rows in s1]),
            "all_gather": {"4": fitted([rows["MP all-gather"] for rows in s1])},
            "saa": {"4": {"2": fitted([(y, rows["combine SAA"][1]) for y, rows in zip(ordered, s2, strict=True)])}},
        },
        Calibration,
    )
    for hidden, factor in itertools.product((128, 1024, 2048), (0.6, 1.2, 2.4)):
        workload = LAYER | {"hidden": hidden, "capacity_factor": factor, "model_parallel": 4}
        choice = parm_auto.choose(MoeLayer(calibration=pairs, **workload).layer(8))
        times = {schedule: measured(schedule, hidden, factor)[0] for schedule in ("parm_s1", "parm_s2")}
        assert times[choice] <= 1.03 * min(times.values()), (hidden, factor)


def test_pairs_may_stand_in_a_file(tmp_path):
    pairs = "fused_all_to_all: {alpha: 1ms, rate: 8.192GB/s}\n  all_gather: {2: {alpha: 1ms, rate: 4.096GB/s}}\n"
    (tmp_path / "pairs.yaml").write_text(
        f"calibration:\n  {pairs}  saa: {{2: {{2: {{alpha: 2.9ms, rate: 8.192GB/s}}}}}}\n"
    )
    layer = ", ".join(f"{key}: {value}" for key, value in LAYER.items())
    path = tmp_path / "experiment.yaml"
    text = "topology: {kind: pcie_server}\njobs:\n  - workload: {kind: moe_layer, schedule: parm_auto, %s, %s}\n"
    path.write_text(text % (layer, "calibration: {file: pairs.yaml}"))
    run = simnet.run(path)
    assert any(note.startswith("parm_auto chose parm_s2") for note in run.summary["notes"])
    assert list(run.experiment["provenance"]["inputs"]) == ["pairs.yaml"]
    (tmp_path / "pairs.yaml").write_text(f"calibration:\n  {pairs}  sa: {{}}\n")
    with pytest.raises(InputError, match=r"pairs\.yaml:4: calibration\.sa: unknown key; .* did you mean 'saa'\?"):
        simnet.run(path)
    path.write_text(text % (layer, "calibration: {all_gather: {2: {alpha: 1ms}}}"))
    with pytest.raises(InputError, match=r"jobs\.0\.workload\.calibration\.all_gather\.2\.rate: missing key"):
        simnet.run(path)
