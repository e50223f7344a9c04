"""The Parm study: its grid, its testbeds, a few of its answers against formulas, and the page it writes."""

import csv
import io
import re
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import simnet
from simnet import reader
from simnet.experiment import Experiment
from simnet.run import build
from simnet.studies.calibration import calibrate
from simnet.studies.parm import by_hand, models, report, study
from simnet.studies.parm.grid import GROUPS, Configuration, grid, sample
from simnet.studies.parm.runs import BASELINE, S1, S2, Item, answer, layer
from simnet.studies.parm.tables import DERIVED, average_by, choice, extremes, groups_of, to_csv
from simnet.studies.parm.testbeds import COPY, LINK, TESTBEDS
from simnet.topology import TopologyFile
from simnet.topology.native import to_yaml
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.moe import SCHEDULES, Calibration
from simnet.workload.moe.schedules import parm_auto

ROOT = Path(__file__).parents[2]
MIDDLE = Configuration(2, 2, 1, 4096, 2048, 4096, 2)


def test_the_grid_has_as_many_layers_as_the_paper():
    layers = grid()
    assert len(set(layers)) == len(layers) == 1296
    assert Counter((c.model_parallel, c.expert_sharding) for c in layers) == dict.fromkeys(GROUPS, 162)


def test_the_sample_meets_every_value_and_every_pair_of_groups_as_often():
    some = sample()
    assert len(set(some)) == len(some) == 64
    assert set(Counter((c.model_parallel, c.expert_sharding) for c in some).values()) == {8}
    for name in ("batch", "sequence", "hidden", "expert_hidden", "top_k"):
        assert {getattr(c, name) for c in some} == {getattr(c, name) for c in grid()}


def test_batch_and_sequence_matter_as_their_product_alone():
    one, other = Configuration(4, 2, 2, 2048, 1024, 1024, 1), Configuration(4, 2, 8, 512, 1024, 1024, 1)
    assert one.alike == other.alike
    times = [simnet.run(layer(Item(TESTBEDS["8"], c), S1)).summary["makespan"] for c in (one, other)]
    assert times[0] == pytest.approx(times[1], rel=1e-12)


@pytest.mark.parametrize("reading", [LINK, COPY])
def test_the_cluster_is_the_one_that_ships(reading):
    bed = replace(TESTBEDS["32"], reading=reading)
    built = build(Experiment.model_validate({"topology": bed.topology(), "jobs": [_NOTHING]})).topology
    shipped = TopologyFile(file=ROOT / "topologies" / f"parm_32gpu_measured_{reading}.yaml").build()
    assert to_yaml(built) == to_yaml(shipped)


_NOTHING = {"workload": {"kind": "collective", "sizes": ["1B"]}}


@pytest.mark.parametrize(("members", "shards"), GROUPS)
def test_speedups_are_near_the_formulas(members, shards):
    """With room beside a copy, SAA, which has one under way to every peer, hides its all-gather but for a rest."""
    configuration = replace(MIDDLE, model_parallel=members, expert_sharding=shards)
    got = answer(Item(replace(TESTBEDS["32"], reading=COPY), configuration))
    times = got["times"]
    formula = by_hand.speedup(configuration, by_hand.NIC_ONLY, max(members - 1, 1))
    assert times[BASELINE] / min(times[S1], times[S2]) == pytest.approx(formula, rel=0.12)
    assert 0 < got["share"] < 1
    assert (times["deepspeed_moe_training"] is None) == (members % shards > 0)
    assert {*times, "parm_auto"} == set(SCHEDULES)
    assert times["pipelined"] < times[BASELINE] <= times["two_level_all_to_all"]


def test_the_derived_averages_follow_from_the_fitted_all_to_all():
    averages = by_hand.averages(by_hand.FITTED)
    assert averages == {group: pytest.approx(value, rel=0.065) for group, value in DERIVED.items()}


def test_what_does_not_fit_into_memory_is_not_simulated():
    got = answer(Item(TESTBEDS["32"], replace(MIDDLE, sequence=1024 * 1024, expert_sharding=4, model_parallel=4)))
    assert got["out_of_memory"]
    assert got["memory"] > 11e9
    assert "times" not in got


def test_the_choice_is_judged_where_there_is_one():
    rows = [
        {"model_parallel": 1, "parm_s1": 1.0, "parm_s2": 1.0, "parm_auto": 1.0},
        {"model_parallel": 2, "parm_s1": 1.0, "parm_s2": 2.0, "parm_auto": 1.0},
        {"model_parallel": 4, "parm_s1": 3.0, "parm_s2": 2.0, "parm_auto": 3.0},
    ]
    assert choice(rows) == {"right": 0.5, "worst": 0.5, "s1": 0.5}


def test_tables():
    rows = [
        {"model_parallel": 1, "expert_sharding": 2, "speedup": 1.0},
        {"model_parallel": 1, "expert_sharding": 2, "speedup": 2.0},
    ]
    assert average_by(rows, groups_of, "speedup") == {(1, 2): 1.5}
    assert extremes(rows) == (1.0, 1.5, 2.0)
    assert to_csv(rows) == "model_parallel,expert_sharding,speedup\n1,2,1\n1,2,2\n"
    assert to_csv([*rows[:1], {"expert_sharding": 4}]).endswith("\n1,2,1\n,4,\n")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The study with two configurations a cluster."""
    patch = pytest.MonkeyPatch()
    two = [replace(MIDDLE, model_parallel=4), replace(MIDDLE, model_parallel=1)]
    patch.setattr("simnet.studies.parm.sample", lambda: two)
    patch.setattr(models, "MODELS", {"bert_base": 128})
    path = tmp_path_factory.mktemp("study") / "unfinished.jsonl"
    findings = study(["8", "32"], fast=True, unfinished=path, jobs=1)
    again = study(["8", "32"], fast=True, unfinished=path, jobs=1)
    patch.undo()
    return findings, again


def test_a_study_writes_all_its_files_and_the_same_ones_again(small, tmp_path):
    findings, again = small
    made = report.files(findings)
    assert set(made) >= {
        "README.md", "models.csv", "layers_8gpus.csv", "layers_32gpus_link.csv", "layers_32gpus_copy.csv",
        "speedups_8gpus.png", "speedups_32gpus_link.png", "communication_32gpus.png", "s1_or_s2_32gpus.png",
        "timelines_8gpus.png", "timelines_32gpus.png", "timeline_32gpus_parm_s2.json.gz",
    }  # fmt: skip
    assert made == report.files(again)
    assert report.save(findings, tmp_path) == list(made)
    assert (tmp_path / "README.md").read_text() == made["README.md"]
    # every file but the page and the table of models is of a cluster, and a later study of other clusters takes it away
    (tmp_path / "notes_8gpus.csv").write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "files", lambda _: {"README.md": "another page", "layers_8gpus.csv": ""})
        report.save(findings, tmp_path)
    left = {"README.md", "models.csv", "layers_8gpus.csv", "notes_8gpus.csv"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_the_page_has_every_number_beside_the_papers(small):
    page = report.readme(small[0])
    assert "| the paper, both clusters | 1,296 | 1.13 | - | 5.77 |" in page
    assert page.count("bert_base") == 6  # two kinds on three testbeds
    for row in small[0].layers["32", "link"]:
        assert row["speedup"] == row[BASELINE] / row["parm_auto"]
        assert row["parm_auto"] == row[row["chosen"]]
    speedups = {every: [row["speedup"] for row in small[0].models if row["moe_every"] == every] for every in (1, 2)}
    assert f", {min(speedups[2]):.2f} to {max(speedups[2]):.2f} in every other one. The paper" in page
    assert "nan" not in page


def test_the_page_shows_every_picture(small):
    made = report.files(small[0])
    shown = re.findall(r"!\[.*?\]\((.*?)\)", made["README.md"])
    assert sorted(shown) == sorted(name for name in made if name.endswith(".png"))


def test_what_does_not_fit_into_memory_is_counted_and_stands_in_the_table(small):
    large = {**asdict(MIDDLE), "memory": 12 * 2.0**30}
    findings = replace(small[0], out_of_memory={"8": [], "32": [large]})
    made = report.files(findings)
    assert "0 of 2 on 8 GPUs, 1 of 2 on 32 GPUs (up to 12 GiB a GPU)" in made["README.md"]
    last = list(csv.DictReader(io.StringIO(made["layers_32gpus_copy.csv"])))[-1]
    assert (last["hidden"], last["deepspeed_moe"], last["chosen"]) == ("2048", "", "")
    assert float(last["memory"]) == pytest.approx(12 * 2**30, rel=1e-5)


def test_parm_auto_of_a_layer_chooses_what_the_study_does(small):
    """By pairs that went through the file of `simnet calibrate`."""
    pairs, _ = calibrate(TESTBEDS["32"].topology())
    read = reader.validate(pairs.model_dump(mode="json", exclude_none=True), Calibration)
    for row in small[0].layers["32", "link"]:
        sizes = {key: row[key] for key in asdict(MIDDLE)}
        assert parm_auto.choose(MoeLayer(calibration=read, **sizes).layer(32)) == row["chosen"]
