"""`simnet figures` and `simnet calibrate` from the command line."""

import yaml

from simnet.studies.parm import report

BUS = "kind: pcie_server\ngpus: 4\ngpus_per_switch: 4\nsockets: 1\nnics: 0\n"


def test_pairs_are_what_parm_auto_takes(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bus.yaml").write_text(BUS)
    assert command("calibrate", "bus.yaml", "--groups", "1,2", "--out", "pairs.yaml").code == 0
    pairs = yaml.safe_load((tmp_path / "pairs.yaml").read_text())
    assert set(pairs["calibration"]["all_gather"]) == {2}
    layer = {
        "kind": "moe_layer", "schedule": "parm_auto", "batch": 1, "sequence": 64, "hidden": 64, "expert_hidden": 64,
        "model_parallel": 2, "expert_sharding": 2,
    }  # fmt: skip
    experiment = {"topology": yaml.safe_load(BUS), "jobs": [{"workload": layer | pairs}]}
    (tmp_path / "auto.yaml").write_text(yaml.safe_dump(experiment))
    ran = command("run", "auto.yaml")
    assert ran.code == 0, ran.err
    assert "parm_s1" in ran.out or "parm_s2" in ran.out


def test_pairs_are_printed_with_how_well_they_fit(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bus.yaml").write_text(BUS)
    ran = command("calibrate", "bus.yaml", "--groups", "1")
    assert ran.code == 0
    assert "largest error" in ran.out
    assert yaml.safe_load(ran.out[ran.out.index("calibration:") :])["calibration"]["fused_all_to_all"]


def test_pairs_that_cannot_be_written(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bus.yaml").write_text(BUS)
    ran = command("calibrate", "bus.yaml", "--groups", "1", "--out", "nowhere/pairs.yaml")
    assert ran.code == 1
    assert "could not write nowhere/pairs.yaml: No such file or directory" in ran.err
    assert "Traceback" not in ran.err


def test_slips_of_calibrate(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bus.yaml").write_text(BUS)
    for arguments, sentence in (
        (("bus.yaml", "--groups", "1,x"), "--groups 1,x: write sizes as 1,2,4"),
        (("bus.yaml", "--groups", "1,3"), "--groups 1,3: 3 does not divide"),
        (("bus.yaml", "--ranks", "99"), "--ranks 99: 99 ranks, but"),
        (("bus.yaml", "--out", "bus.yaml"), "bus.yaml exists"),
        (("no.yaml",), "no.yaml: there is no such file"),
        (("bus",), "'bus' is neither a file nor one of"),
    ):
        ran = command("calibrate", *arguments)
        assert ran.code == 2, arguments
        assert sentence in ran.err
        assert "Traceback" not in ran.err


def test_slips_of_figures(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("do not touch")
    for arguments, sentence in (
        (("prm",), "unknown study 'prm'; allowed: parm"),
        (("parm", "--gpus", "16"), "--gpus: unknown '16'; allowed: 8, 32, all"),
        (("parm", "--out", "mine"), "mine is there already"),
        (("parm", "--out", "mine/thesis.txt"), "cannot write a study to mine/thesis.txt: File exists"),
        (("parm", "--out", "mine/thesis.txt/x"), "cannot write a study to mine/thesis.txt/x: Not a directory"),
    ):
        ran = command("figures", *arguments)
        assert ran.code == 2
        assert sentence in ran.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_study_from_the_command_line(monkeypatch, tmp_path, capsys):
    from simnet.cli import studying
    from simnet.studies import parm

    monkeypatch.setattr(parm, "study", lambda *_: _keep(tmp_path / "out" / studying.UNFINISHED))
    monkeypatch.setattr(report, "files", lambda _: {"README.md": "# page\n"})
    monkeypatch.setattr(report, "readme", lambda _: "# page\n")
    studying.study_and_show("parm", "8", True, tmp_path / "out", False, 1, False)
    assert "# page" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["README.md"]


def _keep(path):
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}\n")
