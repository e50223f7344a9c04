"""The command line: exit codes, what goes to which stream, and what is printed of topologies, results and parts."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from simnet import result
from simnet.cli import output
from simnet.cli.listing import SOURCES, first_sentence, parameters, parts
from simnet.cli.progress import progress
from simnet.engine.replay import Replay
from simnet.jit import compiled_before
from simnet.network import CONGESTION_CONTROLS, LOAD_BALANCERS, TRANSPORTS
from simnet.run import run
from tests import example_result

ROOT = Path(__file__).parents[1]

TWO_GPUS = """
topology: {kind: hgx_h100, gpus: 2, nics: 0}
jobs:
  - workload: {kind: collective, sizes: [1MiB]}
"""
WAITING_FOR_EACH_OTHER = """
ranks: 2
tasks:
  - {name: a, transfer: {from: 0, to: 1, size: 1MB}, after: [b]}
  - {name: b, transfer: {from: 1, to: 0, size: 1MB}, after: [a]}
"""


@pytest.fixture
def experiment(tmp_path):
    """Writes an experiment and returns its path."""

    def write(text=TWO_GPUS, name="pair.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# -- run ------------------------------------------------------------------------------------------------------


def test_run_prints_and_keeps_what_happened(command, experiment, tmp_path, monkeypatch):
    path = experiment()
    monkeypatch.chdir(tmp_path)
    ran = command("run", path)
    assert ran.code == 0
    assert ran.out.startswith("pair: completed, makespan ")
    assert "Result in results/pair-1\n" in ran.out
    assert result.read(tmp_path / "results" / "pair-1").summary["status"] == "completed"
    assert "Result in results/pair-2\n" in command("run", path).out


def test_show_prints_the_same_as_run(command, experiment, tmp_path):
    ran = command("run", experiment(), "--out", tmp_path / "r")
    shown = command("show", tmp_path / "r")
    assert shown.code == 0
    assert ran.out.startswith(shown.out)
    assert "all_reduce" in shown.out


def test_show_draws_a_picture(command, experiment, tmp_path):
    command("run", experiment(), "--out", tmp_path / "result", "--quiet")
    drawn = tmp_path / "again.png"
    assert command("show", tmp_path / "result", "--figure", "timeline", drawn).code == 0
    assert drawn.read_bytes() == (tmp_path / "result" / "timeline.png").read_bytes()
    taken = command("show", tmp_path / "result", "--figure", "timeline", drawn)
    assert taken.code == 2
    assert "nothing is overwritten" in taken.err
    for name in ("drawn.jpg", "drawn", "nowhere/drawn.png"):
        refused = command("show", tmp_path / "result", "--figure", "timeline", tmp_path / name)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert refused.err.startswith(f"--figure timeline {tmp_path / name}: ")
    unknown = command("show", tmp_path / "result", "--figure", "queue", tmp_path / "q.png")
    assert unknown.code == 2
    assert "did you mean 'queues'?" in unknown.err


def test_a_file_is_no_result(command, experiment):
    assert "it is no directory" in command("show", experiment()).err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no/where", "no/where: there is no such file"),
        ("where.yaml", "where.yaml: there is no such file"),
        (ROOT / "topologies", "topologies: is no file"),
        ("fat_treee", "did you mean 'fat_tree'?"),
    ],
)
def test_what_is_no_topology(command, name, sentence):
    ran = command("topology", "show", name)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert sentence in ran.err


def test_a_route_has_two_ends(command):
    ran = command("topology", "show", "dgx_a100", "--route", "gpu1", "gpu1")
    assert (ran.code, ran.err) == (2, "--route gpu1 gpu1: name two devices\n")


def test_set_changes_a_value(command, experiment, tmp_path):
    command("run", experiment(), "--set", "seed=7", "--set", "jobs.0.workload.sizes=[2MiB]", "--out", tmp_path / "r")
    stored = result.read(tmp_path / "r")
    assert stored.experiment["seed"] == 7
    assert stored.summary["collectives"][0]["size"] == 2 * 2**20


def test_quiet_prints_nothing(command, experiment, tmp_path):
    assert command("run", experiment(), "--quiet", "--out", tmp_path / "r") == (0, "", "")
    assert (tmp_path / "r").is_dir()


def test_nothing_is_overwritten(command, experiment, tmp_path):
    (tmp_path / "r").mkdir()
    ran = command("run", experiment(), "--out", tmp_path / "r")
    assert (ran.code, ran.out) == (2, "")
    assert "exists already" in ran.err


def test_an_unwritable_directory_is_found_before_the_simulation(command, experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(Replay, "run", lambda self: pytest.fail("simulated"))
    (tmp_path / "file").write_text("")
    ran = command("run", experiment(), "--out", tmp_path / "file" / "r")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_bad_input_names_file_line_and_what_is_allowed(command, experiment):
    path = experiment(TWO_GPUS.replace("hgx_h100", "hgx_h10").replace("1MiB", "1"))
    ran = command("run", path)
    assert (ran.code, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert lines[0].startswith(f"{path}:2: topology.kind: unknown 'hgx_h10'; allowed: ")
    assert lines[0].endswith("did you mean 'hgx_h100'?")
    assert re.match(rf"{path}:4: jobs\.0\.workload\.sizes\.0: '1' has no unit", lines[1])
    assert len(lines) == 2


def test_a_bad_option_is_named(command, experiment):
    ran = command("run", experiment(), "--set", "sed=7")
    assert ran.code == 2
    assert "--set sed=7" in ran.err
    assert "did you mean 'seed'?" in ran.err


@pytest.mark.parametrize("arguments", [["run", "nowhere.yaml"], ["show", "nowhere"], ["topology", "show", "nowhere"]])
def test_what_is_not_there_is_bad_input(command, arguments):
    ran = command(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("arguments", [["run"], ["run", "a.yaml", "--nonsense"], ["dance"], ["topology", "show"]])
def test_wrong_usage_is_bad_input(command, arguments):
    assert command(*arguments).code == 2


def test_a_stalled_run_leaves_a_result_and_says_what_it_waits_for(command, experiment, tmp_path):
    experiment(WAITING_FOR_EACH_OTHER, "graph.yaml")
    path = experiment(TWO_GPUS.replace("{kind: collective, sizes: [1MiB]}", "{file: graph.yaml}"))
    ran = command("run", path, "--out", tmp_path / "r")
    assert ran.code == 1
    assert ran.err.startswith(f"{path}: the task graph cannot go on; blocked are\n")
    assert "never begins 'a': it waits for 'b' of rank 0" in ran.err
    assert ran.out.startswith("pair: stalled, ")
    assert "never begins 'a': it waits for 'b' of rank 0" in command("show", tmp_path / "r").out


def test_a_flow_without_a_path_fails(command, experiment, tmp_path):
    path = experiment(
        "topology: {kind: single_switch, nodes: 2}\n"
        "network: {changes: [{time: 1us, link: [gpu0, switch0], fail: true}]}\n"
        "jobs: [{workload: {kind: collective, sizes: [1GiB]}}]\n"
    )
    ran = command("run", path, "--out", tmp_path / "r")
    assert ran.code == 1
    assert "no path from gpu" in ran.err
    assert ran.out.startswith("pair: failed, ")
    assert result.read(tmp_path / "r").summary["status"] == "failed"


def test_an_interrupted_run_leaves_what_was_known(command, experiment, tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Replay, "run", interrupted)
    ran = command("run", experiment(), "--out", tmp_path / "r")
    assert ran.code == 130
    assert result.read(tmp_path / "r").summary["status"] == "aborted"


def test_an_interrupt_that_became_another_error_is_still_one(command, experiment, monkeypatch):
    def compiled(self):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("the compiler broke off") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        monkeypatch.setattr(Replay, "run", compiled)
        ran = command("run", experiment())
        assert (ran.code, ran.out, ran.err) == (130, "", "")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_bug_is_no_interrupt(command, experiment, monkeypatch):
    monkeypatch.setattr(Replay, "run", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        command("run", experiment())


def test_a_first_compilation_is_announced_once_on_stderr(command, experiment, tmp_path, monkeypatch):
    monkeypatch.setattr("simnet.cli.running.compiled_before", lambda room: False)
    ran = command("run", experiment(), "--out", tmp_path / "r")
    assert ran.err.startswith("compiling kernels (first run on this machine, about ")
    assert ran.err.count("\n") == 1
    assert compiled_before()


# -- progress -------------------------------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    with progress("training") as update:
        assert update is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress("training", quiet=True) as update:
        assert update is None
    assert capsys.readouterr().err == ""
    with progress("training") as update:
        update(2.5e-3, 1234)
    shown = capsys.readouterr().err
    assert "training, at 2.5 ms, 1,234 events, " in shown
    assert "events/s" in shown


def test_a_run_reports_its_progress(experiment, monkeypatch):
    monkeypatch.setattr("simnet.engine.clock._TIME_BETWEEN_REPORTS", 0.0)
    reports = []
    run(experiment(TWO_GPUS.replace("[1MiB]", "[1MiB], repeats: 50")), progress=lambda *report: reports.append(report))
    times, events = zip(*reports)
    assert 0 < times[0] < times[-1]
    assert 0 < events[0] < events[-1]


# -- topologies -----------------------------------------------------------------------------------------------


def test_a_topology_is_shown_by_kind_and_file(command):
    by_kind = command("topology", "show", "dgx_a100")
    assert by_kind.code == 0
    assert re.search(r"gpu +8 ", by_kind.out)
    assert "300 GB/s" in by_kind.out
    by_file = command("topology", "show", ROOT / "topologies" / "oci_h100.yaml")
    assert by_file.out.startswith("oci_h100: 8 GPUs")
    of_experiment = command("topology", "show", ROOT / "experiments" / "quickstart.yaml")
    assert of_experiment.out.startswith("rail_optimized: 16 GPUs")


def test_an_xml_file_is_a_topology(command, tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(
        '<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">'
        '<pci busid="0000:01:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<gpu dev="0" sm="80" rank="0" gdr="1"/></pci></cpu></system>'
    )
    shown = command("topology", "show", path)
    assert shown.code == 0
    assert re.search(r"gpu +1 ", shown.out)


def test_a_route_is_printed_hop_by_hop(command):
    shown = command("topology", "show", "dgx_a100", "--route", "gpu0", "gpu7")
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["1", "gpu0", "nvswitch0", "nvlink", "300", "GB/s", "250", "ns"] in rows
    assert ["2", "nvswitch0", "gpu7", "nvlink", "300", "GB/s", "250", "ns"] in rows
    assert "latency 500 ns in all" in shown.out


def test_a_route_names_the_nearest_device(command):
    shown = command("topology", "show", "dgx_a100", "--route", "gpu0", "gup7")
    assert shown.code == 2
    assert "did you mean 'gpu7'?" in shown.err


def test_a_missing_route_is_an_error(command, tmp_path):
    path = tmp_path / "apart.yaml"
    path.write_text("devices:\n  a: {kind: gpu}\n  b: {kind: gpu}\n")
    shown = command("topology", "show", path, "--route", "a", "b")
    assert shown.code == 1
    assert shown.err == "there is no path from a to b\n"


def test_what_the_file_does_not_say_may_be_set(command, tmp_path):
    path = tmp_path / "topo.txt"
    path.write_text("GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n")
    shown = command("topology", "show", path, "--set", "gpu=b200_sxm")
    assert "900 GB/s" in shown.out
    assert command("topology", "show", "dgx_a100", "--set", "gpus=2").out.startswith("dgx_a100: 2 GPUs")
    wrong = command("topology", "show", path, "--set", "gpu=b200")
    assert wrong.code == 2
    assert wrong.err.startswith("--set gpu=b200: gpu: unknown 'b200'")
    assert command("topology", "show", path, "--set", "link_rate=1GB/s").err.startswith("link_rate: topo.txt is of a")


def test_distances_are_shown_in_the_words_of_nvidia_smi(command):
    shown = command("topology", "show", "dgx1_v100")
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["gpu0", "X", "NV1", "NV2", "NV1", "SYS", "SYS", "SYS", "NV2"] in rows
    assert ["gpu7", "SYS", "SYS", "PHB", "PIX"] in rows
    assert "NV18 between any two of them" in command("topology", "show", "hgx_h100").out


def test_a_topology_is_imported_and_never_replaced_silently(command, tmp_path):
    source, target = tmp_path / "cluster.conf", tmp_path / "mine.yaml"
    source.write_text("SwitchName=s Nodes=n[1-4]\n")
    imported = command("topology", "import", source, "--to", target)
    assert imported.code == 0
    assert f"{target}: 4 GPUs, 5 devices, 8 links, written" in imported.out
    assert "Rates are not in the file" in imported.out
    assert command("topology", "show", target).out.startswith("cluster: 4 GPUs, 5 devices, 8 links")
    again = command("topology", "import", source, "--to", target)
    assert (again.code, again.err) == (2, f"--to {target}: is there already; --overwrite replaces it\n")
    assert command("topology", "import", source, "--to", target, "--overwrite", "--set", "link_rate=1GB/s").code == 0
    assert "1 GB/s" in command("topology", "show", target).out


def test_a_topology_is_drawn(command, tmp_path):
    picture = tmp_path / "box.png"
    shown = command("topology", "show", "dgx_a100", "--picture", picture)
    assert shown.code == 0
    assert f"Picture in {picture}" in shown.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = command("topology", "show", "dgx_a100", "--picture", tmp_path / "box.svg")
    assert (refused.code, refused.out) == (2, "")
    assert "pictures are PNG files" in refused.err


@pytest.mark.parametrize(
    ("to", "sentence"), [("mine.json", "own format ends in .yaml or .yml"), ("nowhere/mine.yaml", "cannot be written")]
)
def test_where_a_topology_cannot_go(command, tmp_path, to, sentence):
    refused = command("topology", "import", "dgx_a100", "--to", tmp_path / to)
    assert refused.code == 2
    assert sentence in refused.err


def test_absurd_rates_are_refused_in_a_sentence(command, tmp_path):
    path = tmp_path / "absurd.yaml"
    link = "  - {between: [a, b], rate: 1.7e299GB/s, latency: 1us, kind: nvlink}\n"
    path.write_text(f"devices:\n  a: {{kind: gpu}}\n  b: {{kind: gpu}}\nlinks:\n{link * 2}")
    shown = command("topology", "show", path)
    assert shown.code == 2
    assert "is faster than any link" in shown.err


# -- list and schema ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", parts())
def test_every_part_is_listed_with_a_sentence(title, command):
    shown = command("list").out
    for name, sentence in parts()[title].items():
        assert len(sentence.split()) >= 3, name
        assert re.search(rf"^  {re.escape(name)} +{re.escape(sentence)}", shown, re.M), name


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("One. Two.", "One"),
        ("Rates (Al-Fares et al. 2008): k^3 ports.\n\nMore.", "Rates (Al-Fares et al. 2008): k^3 ports"),
        ("Over two\n    lines. And more.", "Over two lines"),
        ("1.5 times as much.", "1.5 times as much"),
    ],
)
def test_first_sentence(doc, sentence):
    assert first_sentence(type("Part", (), {"__doc__": doc})) == sentence


@pytest.mark.parametrize("table", [LOAD_BALANCERS, CONGESTION_CONTROLS, TRANSPORTS])
def test_every_parameter_of_every_policy_is_listed(table, command):
    listed = next(rows for rows in parameters().values() if list(rows) == list(table))
    shown = command("list", "--parameters").out
    for name, row in table.items():
        assert list(listed[name]) == list(row.model_fields)
        assert re.search(rf"^  {name}(: nothing to set)?$", shown, re.M)
        for key, (default, description) in listed[name].items():
            assert re.search(rf"^ +{key} +{re.escape(default)} +{re.escape(description)} *$", shown, re.M), (name, key)


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("patched_timely", "beta 0.008 strength of a decrease; Zhu et al. 2016, recalled, unverified"),
        ("plb", "suspension 60s after a timeout it moves, and then not again for once to twice so long [LNX]"),
        ("hpcc", "additive 5MB/s W_AI as a rate at 100 Gb/s, scaled with the link [HPCC]"),
        ("drill", "memory true also the best of last time, m = 1 [M: recalled, unverified]"),
        ("dcqcn", "alpha_timer - mlx 1 us [HPCC], paper 55 us (recalled, unverified)"),
        ("packets", "header 64B headers and trailers of a data packet [UET]"),
        ("ports.pfc", "alpha 0.125 part of the free shared buffer that one link may fill [HPCC]"),
    ],
)
def test_a_parameter_has_its_default_with_a_unit_and_its_source(part, line, command):
    below = command("list", "--parameters").out.partition(f"\n  {part}\n")[2]
    of_part = re.split(r"^ {0,2}\S", below, maxsplit=1, flags=re.M)[0]
    assert line in [" ".join(row.split()) for row in of_part.splitlines()]


def test_sources_in_brackets_are_explained(command):
    described = [text for rows in parameters().values() for keys in rows.values() for _, text in keys.values()]
    named = {name for text in described for name in re.findall(r"\[([A-Z]+)[\]:]", text)}
    assert named == set(SOURCES)
    shown = command("list", "--parameters").out
    assert all(f"[{name}]" in shown for name in named)


def test_schema_is_json_and_knows_all_kinds(command):
    shown = json.loads(command("schema").out)
    assert shown["title"] == "simnet experiment"
    assert {"topology", "network", "jobs"} <= set(shown["properties"])
    assert "leaf_spine" in json.dumps(shown)


# -- the terminal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [example_result.example, example_result.size_sweep])
def test_a_summary_stays_readable_in_80_columns(make, capsys):
    finished = make()
    out = Console(width=80, force_terminal=True, color_system=None, highlight=False, markup=False)
    output.show_result(out, finished.summary, finished.experiment)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "..." not in "".join(lines)
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)


def test_a_pipe_gets_one_line_per_row_and_no_colours(command, tmp_path):
    finished = example_result.training(ranks=40).result()
    result.write(finished, tmp_path / "r")
    lines = command("show", tmp_path / "r").out.splitlines()
    assert not any("\x1b" in line for line in lines)
    assert sum("all_reduce gradients" in line for line in lines) == 3
    assert all("1.922 ms" in line or "GB/s" in line or "ms" in line for line in lines if "all_reduce grad" in line)


def test_brackets_in_names_are_no_markup(capsys):
    output.bullet(output.console(), "rank [bold]0[/bold]")
    assert "[bold]0[/bold]" in capsys.readouterr().out


def test_a_reader_that_goes_away_is_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "simnet", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as listing:
        listing.stdout.close()
        assert b"Traceback" not in listing.stderr.read()


@pytest.mark.parametrize("content", ["{}", '{"status": 1, "makespan": []}', '{"status": "completed", "makespan": "x"}'])
def test_a_summary_that_is_none_is_a_damaged_result(command, tmp_path, content):
    result.write(example_result.example(2), tmp_path / "r")
    (tmp_path / "r" / "summary.json").write_text(content)
    shown = command("show", tmp_path / "r")
    assert shown.code == 2
    assert shown.err.startswith(f"the result in {tmp_path / 'r'} is damaged: summary.json")


def test_memory_that_ends_is_a_sentence(command, monkeypatch):
    def hungry(*_):
        raise MemoryError

    monkeypatch.setattr("simnet.cli.running.load", hungry)
    ran = command("run", "any.yaml")
    assert (ran.code, ran.err) == (1, "not enough memory for so large a simulation\n")
