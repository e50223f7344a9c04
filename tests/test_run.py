"""Whole runs, each stating the system it solves: sharing inside servers, cuts, iterations, determinism, failures."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simnet
from simnet.engine import recorder
from simnet.errors import InputError, PhysicsError
from simnet.experiment import Experiment
from simnet.network import NETWORK_MODELS
from simnet.result import numbers, text
from simnet.run import build, replayed, save
from simnet.topology import native
from simnet.topology.routing import Router
from simnet.topology.topology import Topology

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT / ".." / "shared" / "data" / "topo" / "nccl_xml"


def ran(topology, *jobs, **more):
    """Run jobs (mappings, as in YAML) on a topology (a mapping)."""
    return simnet.run({"topology": topology, "jobs": list(jobs), **more})


def native_file(tmp_path, topology: Topology) -> dict:
    path = tmp_path / f"{topology.name}.yaml"
    path.write_text(native.to_yaml(topology))
    return {"file": str(path)}


def collective(kind, size, algorithm=None, **job):
    workload = {"kind": "collective", "collective": kind, "sizes": [size]}
    return {"workload": workload | ({"algorithm": algorithm} if algorithm else {}), **job}


def times(result):
    """Start and end of every flow row [s], by rank."""
    return numbers(result.flows, "start"), numbers(result.flows, "end")


# -- sharing inside servers ------------------------------------------------------------------------------------


def shared_nic(gpus: int = 2) -> dict:
    node = {"kind": "pcie_server", "gpus": gpus, "nics": 1, "nic_rate": "200Gbps", "pcie": "pcie5_x16"}
    return {"kind": "single_switch", "nodes": 2, "node": node}


def test_two_gpus_that_share_a_nic_get_half_of_it_each():
    pairs = [
        collective("send_recv", "250MB", placement=[f"node0/gpu{i}", f"node1/gpu{i}"], name=f"pair{i}")
        for i in range(2)
    ]
    both, alone = ran(shared_nic(), *pairs), ran(shared_nic(), pairs[0])
    for result, rate in ((both, 12.5e9), (alone, 25e9)):
        start, end = times(result)
        assert 250e6 / (end - start) == pytest.approx(np.full(len(end), rate), rel=1e-3)


def test_eight_cards_below_one_root_staged_through_the_host_get_an_eighth_each(tmp_path):
    topology = Topology("box")
    server = topology.add_server("box", p2p=False)
    root, memory = topology.add_device("cpu0", "cpu", server), topology.add_device("memory0", "memory", server)
    switch = topology.add_device("pcie0", "pcie_switch", server)
    topology.connect(switch, root, 64e9, 1e-7, "pcie")
    topology.connect(root, memory, 300e9, 1e-7, "memory")
    for i in range(8):
        topology.connect(topology.add_device(f"gpu{i}", "gpu", server), switch, 64e9, 1e-7, "pcie")
    job = {"workload": {"kind": "collective", "collective": "all_gather", "algorithm": "ring", "sizes": ["640MB"]}}
    start, end = times(ran(native_file(tmp_path, topology), job))
    # in a step of the ring all eight send 80 MB by way of host memory, up and down one 64 GB/s root: 8 GB/s each
    assert end - start == pytest.approx(np.full(8, 7 * 80e6 / 8e9), rel=1e-3)


# -- physics ---------------------------------------------------------------------------------------------------


def two_groups(tmp_path) -> dict:
    """4 and 6 GPUs on two switches that one 100 Gb/s link joins; everything else is ten times faster."""
    topology = Topology("two_groups")
    left, right = topology.add_device("left", "switch"), topology.add_device("right", "switch")
    topology.connect(left, right, 12.5e9, 1e-6, "ethernet")
    for i in range(10):
        gpu = topology.add_device(f"gpu{i}", "gpu")
        topology.connect(gpu, left if i < 4 else right, 125e9, 1e-6, "ethernet")
    return native_file(tmp_path, topology)


@pytest.mark.parametrize("algorithm", ["ring", "halving_doubling", "double_binary_tree", "direct", "hierarchical"])
def test_no_all_reduce_beats_the_cut_between_two_groups(tmp_path, algorithm):
    start, end = times(ran(two_groups(tmp_path), collective("all_reduce", "125MB", algorithm)))
    # 125 MB must cross the link each way: 10 ms
    assert (end - start).max() >= 10e-3


def test_a_result_that_beats_physics_is_an_internal_error(monkeypatch):
    described = Experiment(topology={"kind": "single_switch"}, jobs=[collective("all_reduce", "8MB")])
    simulation = build(described)
    finished = recorder.finished_operations

    def too_fast(jobs):
        for job, number, first, last, lowered in finished(jobs):
            yield job, number, first, first + (last - first) / 3, lowered

    monkeypatch.setattr(recorder, "finished_operations", too_fast)
    with pytest.raises(PhysicsError, match="all_reduce"):
        replayed(simulation)


def test_the_analytic_model_says_where_it_beats_physics():
    result = ran({"kind": "single_switch"}, collective("all_to_all", "8MB", "direct"), network={"model": "analytic"})
    assert any("beat what the links can carry" in note for note in result.summary["notes"])


def test_all_reduce_and_all_gather_differ():
    reduce, gather = (
        times(ran({"kind": "single_switch"}, collective(kind, "64MB", "ring")))[1].max()
        for kind in ("all_reduce", "all_gather")
    )
    assert reduce == pytest.approx(2 * gather, rel=0.01)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared topologies are not here")
def test_all_reduce_on_a_dgx1_dump_uses_nvlink_alone():
    dump = {"file": str(SHARED / "proteus_dgx1_v100_1ib_n8.xml")}
    nvlink_alone(ran(dump, collective("all_reduce", "64MiB")))


def test_all_reduce_on_a_dgx1_uses_nvlink_alone():
    nvlink_alone(ran({"kind": "dgx1_v100"}, collective("all_reduce", "64MiB")))


def nvlink_alone(result):
    codes, names = text(result.links, "kind")
    carried = numbers(result.links, "bytes")
    by_kind = {name: carried[codes == code].sum() for code, name in enumerate(names)}
    assert by_kind["nvlink"] > 0
    assert by_kind["pcie"] == 0


# -- jobs ------------------------------------------------------------------------------------------------------


def test_iterations_follow_one_another():
    once, thrice = (ran({"kind": "single_switch"}, collective("all_reduce", "8MB", iterations=n)) for n in (1, 3))
    assert thrice.summary["makespan"] == pytest.approx(3 * once.summary["makespan"])


def test_a_straggler_slows_its_compute():
    workload = {"kind": "data_parallel", "model": "gpt2_small", "batch": 1}
    normal = ran({"kind": "dgx_a100"}, {"workload": workload})
    slowed = ran({"kind": "dgx_a100"}, {"workload": workload}, stragglers={"gpu3": 2.0})
    compute = [
        next(r["compute"] * result.summary["makespan"] for r in result.summary["ranks"] if r["device"] == "gpu3")
        for result in (normal, slowed)
    ]
    assert compute[1] == pytest.approx(2 * compute[0], rel=1e-6)
    assert slowed.summary["makespan"] > normal.summary["makespan"]


def test_a_stopped_job_launches_nothing_more_and_the_run_completes():
    result = ran({"kind": "single_switch"}, collective("all_reduce", "8MB", iterations=100, stop="1ms"))
    assert result.summary["status"] == "completed"
    assert numbers(result.tasks, "start").max() < 1e-3


def test_a_stalled_run_is_a_result_that_says_why(tmp_path):
    graph = tmp_path / "graph.yaml"
    graph.write_text(
        "ranks: 2\ntasks:\n"
        "  - {name: a, rank: 0, compute: {duration: 1us}, after: [b]}\n"
        "  - {name: b, rank: 1, compute: {duration: 1us}, after: [a]}\n"
    )
    result = ran({"kind": "single_switch"}, {"workload": {"file": str(graph)}})
    assert result.summary["status"] == "stalled"
    assert "never begins 'a'" in result.summary["error"]


def test_an_unreachable_peer_fails_the_run_by_name():
    changes = [{"time": "10us", "link": ["gpu1", "switch0"], "fail": True}]
    result = ran({"kind": "single_switch", "nodes": 2}, collective("all_reduce", "80MB"), network={"changes": changes})
    assert result.summary["status"] == "failed"
    assert "no path from gpu" in result.summary["error"]


@pytest.mark.parametrize("model", ["analytic", "flow", "packet"])
@pytest.mark.parametrize("kind", ["all_reduce", "all_to_all", "send_recv", "broadcast"])
def test_ranks_that_nothing_joins_are_bad_input(tmp_path, model, kind):
    topology = Topology("islands")
    a, b = (topology.add_device(name, "gpu") for name in "ab")
    switches = [topology.add_device(f"switch{i}", "switch") for i in range(2)]
    topology.connect(a, switches[0], 1e9, 1e-6, "ib")
    job, network = collective(kind, "1MB"), {"model": model}
    with pytest.raises(InputError, match=r"^jobs\.0\.workload: .*joins (a and b|b and a)"):  # b has no link at all
        ran(native_file(tmp_path, topology), job, network=network)
    topology.connect(b, switches[1], 1e9, 1e-6, "ib")
    with pytest.raises(InputError, match=r"^jobs\.0\.workload: .*joins (a and b|b and a)"):
        ran(native_file(tmp_path, topology), job, network=network)
    topology.connect(*switches, 1e9, 1e-6, "ib")
    assert ran(native_file(tmp_path, topology), job).summary["status"] == "completed"


def test_ctrl_c_leaves_what_was_known(monkeypatch):
    described = Experiment(topology={"kind": "single_switch"}, jobs=[collective("all_reduce", "8MB", iterations=10)])
    simulation = build(described)
    advance, calls = simulation.network.advance, []

    def interrupted(until):
        calls.append(until)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return advance(until)

    monkeypatch.setattr(simulation.network, "advance", interrupted)
    result = replayed(simulation)
    assert result.summary["status"] == "aborted"
    assert 0 < result.tasks.num_rows < 80


@pytest.mark.parametrize("model", NETWORK_MODELS)
def test_a_run_that_is_cut_off_has_the_bytes_that_were_delivered(model, monkeypatch):
    # the second of two transfers of 1 MB at 1 GB/s is cut off in its middle, where one on other links ends
    topology = {"kind": "single_switch", "nodes": 4, "link_rate": "1GB/s"}
    jobs = [collective("send_recv", size, placement=gpus, iterations=times) for size, gpus, times in (
        ("1MB", ["gpu0", "gpu1"], 2), ("1.5MB", ["gpu2", "gpu3"], 1),
    )]  # fmt: skip
    simulation = build(Experiment(topology=topology, jobs=jobs, network={"model": model}))

    def interrupted(operation, member):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation.replay.jobs[1], "member_done", interrupted)
    summary = replayed(simulation).summary
    sent, received = ([row[way] for row in summary["ranks"]] for way in ("sent", "received"))
    assert sent == pytest.approx([1.5e6, 0, 1.5e6, 0], abs=3e4)
    assert received == pytest.approx([0, 1.5e6, 0, 1.5e6], abs=3e4)


def test_what_only_packets_show_is_named_where_there_are_none():
    network = {"congestion_control": {"kind": "dctcp"}, "ports": {"lossless": False}}
    for model in NETWORK_MODELS:
        chosen = network | {"model": model}
        finished = ran({"kind": "single_switch", "nodes": 2}, collective("all_reduce", "8kB"), network=chosen)
        told = [note for note in finished.summary["notes"] if "network.congestion_control, network.ports" in note]
        assert len(told) == (model != "packet")
    finished = ran({"kind": "single_switch", "nodes": 2}, collective("all_reduce", "8kB"))
    assert not finished.summary["notes"]


def test_wrong_data_from_python_is_told_in_the_words_of_yaml():
    with pytest.raises(InputError, match=r"topology.nodess: unknown key; allowed: .*; did you mean 'nodes'\?"):
        ran({"kind": "single_switch", "nodess": 2}, collective("all_reduce", "8MB"))


# -- routers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "routers"),
    [({}, 1), ({"rate": "1Gbps"}, 1), ({"fail": True}, 2)],  # a rate changes no path
)
@pytest.mark.parametrize("model", ["analytic", "flow", "packet"])
def test_a_run_has_one_router_until_links_come_or_go(model, change, routers, monkeypatch):
    """It serves collectives and the network model alike."""
    made, plain = [], Router.__init__

    def noted(self, *arguments):
        made.append(self)
        plain(self, *arguments)

    monkeypatch.setattr(Router, "__init__", noted)
    jobs = [
        collective("all_reduce", "80kB", ranks=2, iterations=3, start=start, name=start) for start in ("0us", "9us")
    ]
    elsewhere = {"time": "10us", "link": ["gpu4", "switch0"], **change}
    network = {"model": model, "changes": [elsewhere] if change else []}
    result = ran({"kind": "single_switch", "nodes": 5}, *jobs, network=network)
    assert result.summary["status"] == "completed"
    assert len(made) == routers


# -- determinism -----------------------------------------------------------------------------------------------

SCRIPT = """
import sys, simnet
result = simnet.run(sys.argv[1], sys.argv[3:])
simnet.save(result, sys.argv[2])
"""


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_the_same_yaml_gives_the_same_bytes_in_any_process(tmp_path, model):
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text(
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, ports_per_leaf: 4}\n"
        "output: {messages: true}\n"
        "jobs:\n"
        "  - workload: {kind: embedding_all_to_all, batch: 64, skew: 1.1}\n"
    )
    digests = []
    for i, seed in enumerate(("0", "1", "4711")):
        out = tmp_path / f"out{i}"
        command = [sys.executable, "-c", SCRIPT, str(experiment), str(out), f"network.model={model}"]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed})
        digests.append({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())})
    assert digests[0] == digests[1] == digests[2]
    assert len(digests[0]) >= 8


@pytest.mark.parametrize(
    "policies", ["{model: flow}", "{model: packet}", "{model: packet, congestion_control: {kind: hpcc}}"]
)
def test_kernels_give_the_same_bytes_compiled_and_as_plain_python(tmp_path, policies):
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text(
        f"network: {policies}\n"
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, ports_per_leaf: 2}\n"
        "jobs:\n"
        "  - workload: {kind: collective, collective: all_to_all, sizes: [200kB]}\n"
    )
    digests = []
    for disabled in ("0", "1"):
        out = tmp_path / f"out{disabled}"
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(experiment), str(out)]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": disabled})
        digests.append({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())})
    assert digests[0] == digests[1]


def test_a_stored_experiment_names_version_seed_and_inputs_and_reads_back(tmp_path):
    experiment = tmp_path / "mine.yaml"
    graph = tmp_path / "graph.yaml"
    graph.write_text("ranks: 2\ntasks:\n  - {name: a, rank: 0, compute: {duration: 1us}}\n")
    experiment.write_text("seed: 7\ntopology: {kind: single_switch}\njobs:\n  - workload: {file: graph.yaml}\n")
    out = save(simnet.run(experiment), tmp_path / "out")
    stored = (out / "experiment.yaml").read_text()
    assert "seed: 7" in stored
    assert hashlib.sha256(graph.read_bytes()).hexdigest() in stored
    assert str(tmp_path) not in stored
    again = tmp_path / "again.yaml"
    again.write_text(stored)
    assert simnet.run(again).summary == json.loads((out / "summary.json").read_text())


# -- numbers that no cluster and no job can have ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"topology": {"kind": "single_switch", "nodes": 10**23}}, "topology"),
        ({"iterations": 10**30}, "jobs.0.workload"),
        ({"iterations": 10**12}, "jobs.0.workload"),
        ({"tables": 10**30}, "jobs.0.workload"),
        ({"tables": 10**200}, "jobs.0.workload"),
        ({"batch": 10**16, "tables": 1, "dimension": 1}, "jobs.0.workload"),
        ({"dimension": 10**320}, "jobs.0.workload"),
    ],
)
def test_huge_numbers_are_bad_input_and_placed(change, place, monkeypatch):
    monkeypatch.setattr("simnet.topology.topology.MOST_DEVICES", 1000)
    topology = {"kind": "single_switch", "nodes": 2}
    job = {"workload": {"kind": "embedding_all_to_all", "batch": 2}}
    where = dict.fromkeys(["tables", "dimension", "batch"], job["workload"]) | {"iterations": job}
    for key, value in change.items():
        if key in where:
            where[key][key] = value
        else:
            topology = value
    with pytest.raises(InputError, match=rf"^{place}: .*(more than|too large)"):
        ran(topology, job)


def test_the_clock_is_coarse_late_in_a_run():
    # steps of 0.48 us; 105 kB at 50 GB/s take 2.1 us, which comes out as 1.9
    late = collective("send_recv", "105kB", start="1000000h")
    result = ran({"kind": "single_switch", "nodes": 2, "link_latency": 0}, late)
    assert result.summary["status"] == "completed"


# -- samples of connections --------------------------------------------------------------------------------------


def sampled(**more):
    topology = {"kind": "single_switch", "nodes": 4, "link_rate": "100Gbps", "node": {"kind": "gpu"}}
    work = {"kind": "traffic", "pattern": "incast", "size": "1MB"}
    network = {"model": "packet", "congestion_control": {"kind": "swift"}}
    output = {"probes": [{"from": 1, "to": 0}, {"from": 3, "to": 0}]}
    return ran(topology, {"workload": work}, **{"network": network, "output": output} | more)


def test_windows_and_rates_are_kept_and_drawn(tmp_path):
    finished = sampled()
    probes = finished.probes
    assert numbers(probes, "flow")[[0, -1]].tolist() == [0, 1]
    assert [text(probes, end).names[text(probes, end).codes[0]] for end in ("job", "source", "destination")] == [
        "job0", "gpu1", "gpu0",
    ]  # fmt: skip
    first = numbers(probes, "flow") == 0
    # a sample at the end of each interval, but of the one that the end of the run cuts off
    sent = numbers(probes, "throughput")[first].sum() * finished.bin_width
    assert sent == pytest.approx(1e6 * 4160 / 4096, rel=0.01)
    assert np.isinf(numbers(probes, "rate")).all()
    window = numbers(probes, "window")
    assert (window > 4160).all()
    assert len(set(window)) > 5  # Swift holds a delay
    where = save(finished, tmp_path / "result")
    assert (where / "windows.png").exists()
    assert (where / "queues.png").exists()
    assert simnet.result.read(where).probes.equals(probes)
    # asked for or not, the run is the same
    assert sampled(output={}).summary == finished.summary
    assert sampled(output={}).probes is None


def test_models_without_windows_say_so():
    for model in ("flow", "analytic"):
        finished = sampled(network={"model": model})
        assert finished.probes is None
        assert "windows and rates of single connections exist with model: packet only" in finished.summary["notes"]
