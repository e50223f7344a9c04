"""The description of a run, and what it names in its topology."""

import json
import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from simnet.errors import InputError
from simnet.experiment import PLACEMENTS, Change, Experiment, load, resolve, schema
from simnet.network.model import LinkChange
from simnet.reader import dump, validate, yaml_tree
from simnet.run import build
from simnet.topology.topology import Topology

GPU = "{kind: single_switch, nodes: 4}"
WORK = "workload: {kind: collective, sizes: [1MiB]}"


def write(tmp_path, text):
    file = tmp_path / "my run.yaml"
    file.write_text(text)
    return file


def problems(tmp_path, text, topology=None):
    """The lines of the InputError, of the reader or (with a topology) of what the experiment names in it."""
    file = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        load_and_resolve(file, topology)
    return str(error.value).replace(str(file), "run.yaml").splitlines()


def load_and_resolve(file, topology):
    experiment, source = load(file)
    return resolve(experiment, topology, source)


def two_servers():
    """a/gpu0, a/gpu1 and b/gpu0, b/gpu1, with a NIC each below one switch; two cables between b/nic and the switch."""
    topology = Topology("pair")
    switch = topology.add_device("switch", "switch")
    for name in "ab":
        server = topology.add_server(name)
        nic = topology.add_device(f"{name}/nic", "nic", server)
        for i in range(2):
            topology.connect(topology.add_device(f"{name}/gpu{i}", "gpu", server), nic, 32e9, 1e-6, "pcie")
        topology.connect(nic, switch, 12.5e9, 1e-6, "ib")
    topology.connect(topology.id_of("b/nic"), switch, 10e9, 1e-6, "ib")
    return topology


PROBES = f"""\
topology: {GPU}
jobs:
- {{name: a, {WORK}, ranks: 2}}
- {{name: b, {WORK}, ranks: 2}}
output:
  probes:
  - {{job: a, from: 0, to: 1}}
  - {{job: b, from: 1, to: 0}}
"""


def test_probes_are_pairs_of_ranks_of_a_job(tmp_path):
    topology = two_servers()
    resolved = load_and_resolve(write(tmp_path, PROBES), topology)
    ids = {name: topology.id_of(name) for name in ("a/gpu0", "a/gpu1", "b/gpu0", "b/gpu1")}
    assert resolved.probes == [(ids["a/gpu0"], ids["a/gpu1"]), (ids["b/gpu1"], ids["b/gpu0"])]
    one_job = PROBES.replace(f"- {{name: b, {WORK}, ranks: 2}}\n", "").replace("  - {job: b, from: 1, to: 0}\n", "")
    assert load_and_resolve(write(tmp_path, one_job.replace("job: a, ", "")), topology).probes == resolved.probes[:1]
    assert (
        load_and_resolve(write(tmp_path, "output: {probes: 7}\n" + PROBES.partition("output")[0]), topology).probes == 7
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("job: b, ", "", "run.yaml:8: output.probes.1.job: missing key; allowed: a, b"),
        ("job: b", "job: bb", "run.yaml:8: output.probes.1.job: unknown 'bb'; allowed: a, b; did you mean 'b'?"),
        ("from: 1, to: 0", "from: 2, to: 0", "run.yaml:8: output.probes.1.from: job 'b' has ranks 0 to 1, got 2"),
        ("from: 1, to: 0", "from: 1, to: 1", "run.yaml:8: output.probes.1.to: rank 1 sends to itself"),
        ("  probes:", "  queues: [[a/nic, b/nic]]\n  probes:", "run.yaml:6: output.queues.0: no link between"),
    ],
)
def test_bad_probes_and_ports_are_placed(tmp_path, old, new, line):
    assert problems(tmp_path, PROBES.replace(old, new), two_servers())[0].startswith(line)


@pytest.mark.parametrize("value", ["-1", "65", "all"])
def test_probes_are_a_number_or_a_list(tmp_path, value):
    (line,) = problems(tmp_path, PROBES.partition("output")[0] + f"output: {{probes: {value}}}\n")
    assert line.startswith("run.yaml:5: output.probes: ")


CLASSES = f"""\
topology: {GPU}
network:
  model: packet
  classes:
    storage:
      congestion_control: {{kind: eqds}}
jobs:
- {{{WORK}, ranks: 2, traffic_class: storag}}
- {{{WORK}, ranks: 1}}
"""


def test_an_unknown_traffic_class_is_placed_and_spelt(tmp_path):
    (line,) = problems(tmp_path, CLASSES, two_servers())
    assert line == ("run.yaml:8: jobs.0.traffic_class: unknown 'storag'; allowed: storage; did you mean 'storage'?")
    none = CLASSES.replace("  classes:\n    storage:\n      congestion_control: {kind: eqds}\n", "")
    (line,) = problems(tmp_path, none, two_servers())
    assert line == "run.yaml:5: jobs.0.traffic_class: unknown 'storag'; network.classes has none"


def test_a_class_that_contradicts_the_network_is_told_at_its_control_if_a_job_belongs_to_it(tmp_path):
    load_and_resolve(write(tmp_path, CLASSES.replace(", traffic_class: storag", "")), two_servers())
    (line,) = problems(tmp_path, CLASSES.replace("storag}", "storage}"), two_servers())
    assert line.startswith(
        "run.yaml:6: network.classes.storage.congestion_control.kind: 'eqds' brings trimming, 'dcqcn' pauses"
    )


def test_classes_of_other_models_have_their_load_balancing(tmp_path):
    text = CLASSES.replace("storag}", "storage}").replace("model: packet", "model: flow")
    load_and_resolve(write(tmp_path, text), two_servers())
    (line,) = problems(tmp_path, text.replace("congestion_control: {kind: eqds}", "load_balancing: {kind: reps}"))
    assert line.startswith("run.yaml:6: network.classes.storage.load_balancing.kind: 'reps' needs model: packet")


def of_tasks(tmp_path, tasks: str) -> str:
    """An experiment with a class `bulk`, of a workload file with these tasks."""
    (tmp_path / "work.yaml").write_text(f"ranks: 2\ntasks:\n{tasks}")
    return f"""\
topology: {GPU}
network:
  model: packet
  classes: {{bulk: {{congestion_control: {{kind: swift}}}}}}
jobs:
- workload: {{file: work.yaml}}
"""


def test_tasks_may_name_a_class_of_their_own(tmp_path):
    text = of_tasks(
        tmp_path,
        "  - {name: first, transfer: {from: 0, to: 1, size: 100kB}}\n"
        "  - {name: second, transfer: {from: 0, to: 1, size: 100kB}, traffic_class: bulk, after: [first]}\n",
    )
    experiment, source = load(write(tmp_path, text))
    simulation = build(experiment, source)
    (plan,) = (job.plan for job in simulation.replay.jobs)
    assert [plan.lower(operation).flows.traffic_class for operation in plan.graph.operations] == [0, 1]
    assert list(experiment.policies.classes) == ["bulk"]
    of_job = text.replace("file: work.yaml}", "file: work.yaml}\n  traffic_class: bulk")
    (plan,) = (job.plan for job in build(*load(write(tmp_path, of_job))).replay.jobs)
    assert [plan.lower(operation).flows.traffic_class for operation in plan.graph.operations] == [1, 1]


def test_an_unknown_class_of_a_task_is_told_at_its_line(tmp_path):
    text = of_tasks(
        tmp_path,
        "  - {name: first, transfer: {from: 0, to: 1, size: 100kB}, traffic_class: bulk}\n"
        "  - {name: second, transfer: {from: 0, to: 1, size: 100kB}, traffic_class: bulky}\n",
    )
    (line,) = problems(tmp_path, text, two_servers())
    assert line.endswith("work.yaml:4: tasks.1.traffic_class: unknown 'bulky'; allowed: bulk; did you mean 'bulk'?")
    text = of_tasks(tmp_path, "  - {name: first, compute: {duration: 1ms}, traffic_class: bulk}\n")
    (line,) = problems(tmp_path, text, two_servers())
    assert line.endswith("work.yaml:3: tasks.0.traffic_class: a kernel has no traffic")


def test_policies_that_contradict_each_other_are_placed_with_what_else_is_wrong(tmp_path):
    text = f"""\
topology: {GPU}
network:
  model: packet
  congestion_control:
    kind: hpcc
  ports:
    int_stamps: false
    buffer: 100B
stragglers: {{gpu9: 2}}
jobs:
- {WORK}
"""
    lines = problems(tmp_path, text, two_servers())
    assert [line.split(": ")[:2] for line in lines] == [
        ["run.yaml:5", "network.congestion_control.kind"],
        ["run.yaml:8", "network.ports.buffer"],
        ["run.yaml:9", "stragglers.gpu9"],
    ]
    assert "needs INT" in lines[0]
    assert "less than a packet" in lines[1]
    fluid = text.replace("model: packet", "model: flow").replace("stragglers: {gpu9: 2}\n", "")
    load_and_resolve(write(tmp_path, fluid), two_servers())


def experiment(jobs, **more):
    work = {"workload": {"kind": "collective", "sizes": ["1MiB"]}}
    data = {"topology": {"kind": "single_switch"}, "jobs": [{**work, **job} for job in jobs], **more}
    return validate(data, Experiment)


def named(topology, devices):
    return [[topology.devices[device].name for device in job] for job in devices]


# -- the description ------------------------------------------------------------------------------------------


def test_a_short_experiment_has_defaults_for_the_rest(tmp_path):
    loaded, source = load(write(tmp_path, f"topology: {GPU}\njobs:\n  - {WORK}\n  - {WORK}\n"))
    assert loaded.name == "my-run"
    assert (loaded.seed, loaded.network.model, loaded.network.load_balancing.kind) == (1, "flow", "ecmp")
    assert [job.name for job in loaded.jobs] == ["job0", "job1"]
    assert (loaded.jobs[0].ranks, loaded.jobs[0].placement, loaded.jobs[0].start) == (None, "packed", 0.0)
    assert (loaded.output.messages, loaded.output.samples) == (False, 200)
    assert source.say(("jobs", 1), "x").endswith(":4: jobs.1: x")


FULL = """
name: full
description: |
  Two jobs share a cluster.
  It changes.
seed: 7
topology: {kind: leaf_spine, leaves: 2, spines: 2}
network:
  model: analytic
  load_balancing: {kind: spray}
  changes:
    - {time: 1ms, link: [leaf0, spine1], rate: 10GB/s}
    - {time: 2ms, link: [leaf0, spine1], fail: true}
    - {time: 3ms, switch: spine1, restore: true}
stragglers: {gpu3: 1.5}
jobs:
  - {name: a, workload: {kind: collective, sizes: [1MiB]}, ranks: 2, placement: [gpu0, gpu5], stop: 5ms, iterations: 3}
  - {name: b, workload: {kind: collective, sizes: [1MiB]}, placement: round_robin, start: 1.5us}
output: {messages: true, samples: 50}
"""


def test_a_full_experiment_reads_back_equal(tmp_path):
    loaded, _ = load(write(tmp_path, FULL))
    assert loaded.network.changes[0] == Change(time="1ms", link=("leaf0", "spine1"), rate="10GB/s")
    assert loaded.jobs[1].start == 1.5e-6
    text = dump(loaded)
    again, _ = load(write(tmp_path, text))
    assert again == loaded
    assert dump(again) == text
    assert text.startswith("name: full\ndescription: |\n  Two jobs share a cluster.\n  It changes.\nseed: 7\n")
    assert "null" not in text


quantities = st.floats(1e-12, 1e6).map(lambda value: f"{value!r}s")
described = st.fixed_dictionaries(
    {},
    optional={
        "ranks": st.integers(1, 99),
        "placement": st.sampled_from(list(PLACEMENTS)) | st.lists(st.text(max_size=5), min_size=1, max_size=3),
        "start": quantities,
        "iterations": st.integers(1, 10**6),
    },
)
changed = st.fixed_dictionaries(
    {"time": quantities},
    optional={"rate": st.floats(1e-3, 1e15).map(lambda value: f"{value!r}B/s")},
).map(lambda change: {**change, "switch": "s", **({} if "rate" in change else {"fail": True})})


@settings(max_examples=50)
@given(
    jobs=st.lists(described, min_size=1, max_size=3),
    changes=st.lists(changed, max_size=3),
    seed=st.integers(0, 2**63 - 1),
    stragglers=st.dictionaries(st.text(max_size=5), st.floats(1, 1e6), max_size=3),
)
def test_any_experiment_reads_back_equal(jobs, changes, seed, stragglers):
    original = experiment(jobs, network={"changes": changes}, seed=seed, stragglers=stragglers)
    assert validate(yaml_tree.parse(dump(original)).data, Experiment) == original


TOP = f"topology: {GPU}\njobs:\n  - {WORK}\n"
JOB = TOP + "    "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TOP + "seed: -1", "run.yaml:4: seed: must be in [0, 9223372036854775808), got -1"),
        (TOP + "seed: one", "run.yaml:4: seed: expected a whole number, got 'one'"),
        (TOP + "name: a b", "run.yaml:4: name: 'a b' must hold letters, digits, '_', '.' and '-' only"),
        (TOP + "name: ../x", "run.yaml:4: name: '../x' must hold letters"),
        (
            TOP + "network: {model: flwo}",
            "run.yaml:4: network.model: unknown 'flwo'; allowed: analytic, flow, packet; did you mean 'flow'?",
        ),
        (
            TOP + "network:\n  load_balancing: {kind: ecpm}",
            "run.yaml:5: network.load_balancing.kind: unknown 'ecpm'; allowed: ecmp, ecmp_qp, ",
        ),
        (TOP + "output: {samples: 5000}", "run.yaml:4: output.samples: must be in [1, 2000], got 5000"),
        (TOP + "stragglers:\n  gpu0: 0.5", "run.yaml:5: stragglers.gpu0: must be at least 1, got 0.5"),
        (TOP + "stragglers:\n  gpu0: .inf", "run.yaml:5: stragglers.gpu0: expected a finite number, got inf"),
        (f"topology: {{kind: leafspine}}\njobs: [{{{WORK}}}]", "run.yaml:1: topology.kind: unknown 'leafspine'; allow"),
        (f"topology: {GPU}\njobs: []", "run.yaml:2: jobs: needs at least 1 item, got 0"),
        (f"topology: {GPU}\n", "run.yaml:1: jobs: missing key (the workloads that run, sharing the cluster)"),
        (f"topology: {GPU}\njobs:\n  - name: a\n", "run.yaml:3: jobs.0.workload: missing key (what every rank"),
        (JOB + "ranks: 0", "run.yaml:4: jobs.0.ranks: must be at least 1, got 0"),
        (JOB + "ranks: many", "run.yaml:4: jobs.0.ranks: expected a whole number, got 'many'"),
        (
            JOB + "placement: []",
            "run.yaml:4: jobs.0.placement: needs at least 1 item, got 0; or write 'packed' or 'round_robin'",
        ),
        (
            JOB + "placement: roundrobin",
            "run.yaml:4: jobs.0.placement: expected 'packed', 'round_robin' or a list, got 'roundrobin'; did you "
            "mean 'round_robin'?",
        ),
        (JOB + "start: 2us\n    stop: 1us", "run.yaml:5: jobs.0.stop: must be later than the job's start"),
        (JOB + f"name: x\n  - {WORK}\n    name: x", "run.yaml:6: jobs.1.name: 'x' is the name of job 0 already"),
        (JOB + f"name: job1\n  - {WORK}\n", "run.yaml:5: jobs.1.name: 'job1' is the name of job 0 already"),
        *(
            (TOP + f"network:\n  changes:\n    - {change}", f"run.yaml:6: network.changes.0{sentence}")
            for change, sentence in [
                ("{time: 1ms, switch: a}", ": needs exactly one of rate, fail, restore; got none"),
                ("{time: 1ms, switch: a, fail: false}", ": needs exactly one of rate, fail, restore; got none"),
                (
                    "{time: 1ms, switch: a, rate: 1GB/s, fail: true}",
                    ": needs exactly one of rate, fail, restore; got rate and fail",
                ),
                ("{time: 1ms, fail: true}", ": needs exactly one of link, switch; got none"),
                (
                    "{time: 1ms, fail: true, link: [a, b], switch: c}",
                    ": needs exactly one of link, switch; got link and switch",
                ),
                ("{time: 1ms, fail: true, link: [a]}", ".link: needs 2 items, got 1"),
                ("{time: 1ms, fail: true, link: [a, b, c]}", ".link: needs at most 2 items, got 3"),
                ("{time: 1, fail: true, switch: a}", ".time: '1' has no unit; write a time such as '5us' or '1.5ms'"),
                ("{time: 1ms, rate: 0GB/s, switch: a}", ".rate: a rate must be finite and above 0, got '0GB/s'"),
                ("{fail: true, switch: a}", ".time: missing key (when it happens, in simulated time)"),
            ]
        ),
    ],
)  # fmt: skip
def test_bad_values_are_told_with_their_line(tmp_path, text, line):
    (found,) = problems(tmp_path, text)
    assert found.startswith(line)


def test_options_reach_into_an_experiment(tmp_path):
    file = write(tmp_path, FULL)
    loaded, _ = load(file, ["jobs.0.iterations=9", "topology.kind=fat_tree", "network.changes=[]", "name=other"])
    assert (loaded.jobs[0].iterations, loaded.topology.kind, loaded.name) == (9, "fat_tree", "other")
    with pytest.raises(InputError, match=r"^--set topology.leafs=3: topology.leafs: unknown key; allowed: .*'leaves'"):
        load(file, ["topology.leafs=3"])


# -- what it names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jobs", "names"),
    [
        ([{}], [["a/gpu0", "a/gpu1", "b/gpu0", "b/gpu1"]]),
        ([{"ranks": 3}], [["a/gpu0", "a/gpu1", "b/gpu0"]]),
        ([{"placement": "round_robin"}], [["a/gpu0", "b/gpu0", "a/gpu1", "b/gpu1"]]),
        ([{"placement": "round_robin", "ranks": 3}], [["a/gpu0", "b/gpu0", "a/gpu1"]]),
        ([{"placement": ["b/gpu1", "a/gpu0"]}], [["b/gpu1", "a/gpu0"]]),
        ([{"ranks": 2}, {"ranks": 2}], [["a/gpu0", "a/gpu1"], ["b/gpu0", "b/gpu1"]]),
        # a list chooses first, then jobs that say how many GPUs they need
        ([{}, {"ranks": 1}, {"placement": ["a/gpu0"]}], [["b/gpu0", "b/gpu1"], ["a/gpu1"], ["a/gpu0"]]),
        ([{"placement": "round_robin"}, {"placement": ["a/gpu0"]}], [["a/gpu1", "b/gpu0", "b/gpu1"], ["a/gpu0"]]),
    ],
)
def test_ranks_are_put_on_gpus(jobs, names):
    topology = two_servers()
    assert named(topology, resolve(experiment(jobs), topology).devices) == names


def test_gpus_without_servers_are_dealt_one_by_one():
    topology = experiment([{}]).topology.build()
    assert PLACEMENTS["round_robin"](topology, topology.gpus) == topology.gpus


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_placement_uses_each_free_gpu_once(placement):
    topology = two_servers()
    assert sorted(PLACEMENTS[placement](topology, topology.gpus[1:])) == topology.gpus[1:]
    assert PLACEMENTS[placement].__doc__.endswith(".")


def test_changes_reach_both_directions_of_all_links_in_the_order_of_time():
    topology = two_servers()
    changes = [
        {"time": "3ms", "link": ["switch", "b/nic"], "restore": True},
        {"time": "2ms", "link": ["b/nic", "switch"], "rate": "1GB/s"},
        {"time": "1ms", "switch": "a/nic", "fail": True},
    ]
    found = resolve(experiment([{}], network={"changes": changes}), topology).changes
    at = {time: {topology.link_name(c.link): c.rate for c in found if c.time == time} for time in (1e-3, 2e-3, 3e-3)}
    assert [c.time for c in found] == sorted(c.time for c in found)
    assert all(isinstance(c, LinkChange) for c in found)
    cables = ["b/nic -> switch", "switch -> b/nic", "b/nic -> switch #2", "switch -> b/nic #2"]
    assert at[2e-3] == dict.fromkeys(cables, 1e9)
    assert at[3e-3] == dict(zip(cables, [12.5e9, 12.5e9, 10e9, 10e9]))
    assert len(at[1e-3]) == 6
    assert set(at[1e-3].values()) == {0.0}


def test_stragglers_are_found():
    topology = two_servers()
    found = resolve(experiment([{}], stragglers={"b/gpu0": 1.5}), topology).stragglers
    assert found == {topology.id_of("b/gpu0"): 1.5}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("jobs:\n  - {W}\n    ranks: 5", "run.yaml:4: jobs.0.ranks: 5 ranks, but the topology has 4 GPUs"),
        (
            "jobs:\n  - {W}\n    ranks: 3\n  - {W}\n    ranks: 2",
            "run.yaml:6: jobs.1.ranks: 2 ranks, but the topology has 4 GPUs, 3 of them taken by other jobs",
        ),
        (
            "jobs:\n  - {W}\n  - {W}",
            "run.yaml:4: jobs.1: no GPU is left for job 'job1'; the topology has 4, 4 of them taken by other jobs",
        ),
        (
            "jobs:\n  - {W}\n    placement:\n      - a/gpu0\n      - a/gup1",
            "run.yaml:6: jobs.0.placement.1: no device 'a/gup1' in the topology; did you mean 'a/gpu1'?",
        ),
        (
            "jobs:\n  - {W}\n    placement: [xyz]",
            "run.yaml:4: jobs.0.placement.0: no device 'xyz' in the topology; it has switch, a/nic, a/gpu0, a/gpu1, "
            "b/nic, b/gpu0, b/gpu1",
        ),
        ("jobs:\n  - {W}\n    placement: [a/nic]", "run.yaml:4: jobs.0.placement.0: 'a/nic' is a nic, not a gpu"),
        (
            "jobs:\n  - {W}\n    placement:\n      - a/gpu0\n      - a/gpu0",
            "run.yaml:6: jobs.0.placement.1: 'a/gpu0' is taken by rank 0 of job 'job0'",
        ),
        (
            "jobs:\n  - {W}\n    name: x\n    placement: [a/gpu0, a/gpu1]\n  - {W}\n    placement: [a/gpu1]",
            "run.yaml:7: jobs.1.placement.0: 'a/gpu1' is taken by rank 1 of job 'x'",
        ),
        (
            "jobs:\n  - {W}\n    ranks: 3\n    placement: [a/gpu0, a/gpu1]",
            "run.yaml:5: jobs.0.placement: lists 2 GPUs for 3 ranks",
        ),
        (
            "jobs:\n  - {W}\n    ranks: 1\n    placement: [a/gpu0, a/gpu1]",
            "run.yaml:5: jobs.0.placement: lists 2 GPUs for 1 rank",
        ),
        (
            "jobs:\n  - {W}\nstragglers:\n  b/gpu2: 2",
            "run.yaml:5: stragglers.b/gpu2: no device 'b/gpu2' in the topology; did you mean 'b/gpu1'?",
        ),
        ("jobs:\n  - {W}\nstragglers:\n  switch: 2", "run.yaml:5: stragglers.switch: 'switch' is a switch, not a gpu"),
        (
            "jobs:\n  - {W}\nnetwork:\n  changes:\n    - {time: 0, link: [a/nic, swich], fail: true}",
            "run.yaml:6: network.changes.0.link.1: no device 'swich' in the topology; did you mean 'switch'?",
        ),
        (
            "jobs:\n  - {W}\nnetwork:\n  changes:\n    - {time: 0, switch: swich, fail: true}",
            "run.yaml:6: network.changes.0.switch: no device 'swich' in the topology; did you mean 'switch'?",
        ),
        (
            "jobs:\n  - {W}\nnetwork:\n  changes:\n    - {time: 0, link: [a/nic, b/nic], fail: true}",
            "run.yaml:6: network.changes.0.link: no link between 'a/nic' and 'b/nic'; 'a/nic' is joined to a/gpu0, "
            "a/gpu1, switch",
        ),
        (
            "jobs:\n  - {W}\nnetwork:\n  model: packet\n  ports:\n    losses:\n    - {link: [swich, a/nic], packet: 1}",
            "run.yaml:8: network.ports.losses.0.link.0: no device 'swich' in the topology; did you mean 'switch'?",
        ),
    ],
)
def test_what_is_not_in_the_topology_is_told_with_its_line(tmp_path, text, line):
    text = f"topology: {GPU}\n" + text.replace("{W}", WORK)
    assert problems(tmp_path, text, two_servers()) == [line]


def test_all_names_that_are_missing_come_at_once(tmp_path):
    text = f"""
topology: {GPU}
stragglers: {{a: 2, b: 3}}
network:
  changes:
    - {{time: 1ms, link: [c, d], fail: true}}
jobs:
  - {WORK}
    ranks: 7
  - {WORK}
    placement: [e, f, a/nic]
"""
    found = problems(tmp_path, text, two_servers())
    assert [re.match(r"run.yaml:(\d+): ([^:]*): ", line).groups() for line in found] == [
        ("3", "stragglers.a"), ("3", "stragglers.b"), ("6", "network.changes.0.link.0"),
        ("6", "network.changes.0.link.1"), ("9", "jobs.0.ranks"), ("11", "jobs.1.placement.0"),
        ("11", "jobs.1.placement.1"), ("11", "jobs.1.placement.2"),
    ]  # fmt: skip


GRAPH = "ranks: 2\ntasks:\n  - {name: a, compute: {duration: 1us}}\n"


def test_a_graph_written_for_some_ranks_takes_so_many_gpus(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    text = f"topology: {GPU}\njobs:\n  - workload: {{file: graph.yaml}}\n  - {WORK}\n"
    assert [len(gpus) for gpus in load_and_resolve(write(tmp_path, text), two_servers()).devices] == [2, 2]


@pytest.mark.parametrize(
    ("job", "line"),
    [
        ("ranks: 3", "run.yaml:4: jobs.0.ranks: 3 ranks, but 'graph.yaml' is written for 2"),
        ("placement: [a/gpu0]", "run.yaml:4: jobs.0.placement: lists 1 GPU for 2 ranks"),
    ],
)
def test_a_graph_written_for_other_ranks_is_a_problem_of_the_job(tmp_path, job, line):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    assert problems(
        tmp_path, f"topology: {GPU}\njobs:\n  - workload: {{file: graph.yaml}}\n    {job}", two_servers()
    ) == [line]


def test_problems_of_a_workloads_file_come_with_the_others(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH.replace("duration: 1us", "duration: 1"))
    text = f"topology: {GPU}\nstragglers: {{a: 2}}\njobs:\n  - workload: {{file: graph.yaml}}\n"
    names, file = problems(tmp_path, text, two_servers())
    assert names.startswith("run.yaml:2: stragglers.a: no device 'a' in the topology")
    assert file.endswith(
        "graph.yaml:3: tasks.0.compute.duration: '1' has no unit; write a time such as '5us' or '1.5ms'"
    )


def test_an_option_is_blamed_for_what_it_names(tmp_path):
    loaded, source = load(write(tmp_path, f"topology: {GPU}\njobs: [{{{WORK}}}]"), ["jobs.0.ranks=9"])
    with pytest.raises(InputError) as error:
        resolve(loaded, two_servers(), source)
    assert str(error.value) == "--set jobs.0.ranks=9: jobs.0.ranks: 9 ranks, but the topology has 4 GPUs"


def test_without_a_file_the_path_is_enough():
    with pytest.raises(InputError) as error:
        resolve(experiment([{"ranks": 9}]), two_servers())
    assert str(error.value) == "jobs.0.ranks: 9 ranks, but the topology has 4 GPUs"


# -- the schema -----------------------------------------------------------------------------------------------


def test_the_schema_describes_every_key_of_an_experiment():
    made = schema()
    assert json.loads(json.dumps(made)) == made
    assert made["title"] == "simnet experiment"
    own = [made, *(made["$defs"][name] for name in ("Change", "Job", "Network", "Output"))]
    for model in own:
        assert model["additionalProperties"] is False
        for name, key in model["properties"].items():
            assert key.get("description"), name
    assert made["required"] == ["topology", "jobs"]
    assert made["$defs"]["Job"]["properties"]["start"]["default"] == "0s"
    assert len(made["properties"]["topology"]["oneOf"]) > 10


def models(model, seen):
    """All models within a model."""
    if isinstance(model, type) and issubclass(model, BaseModel) and model not in seen:
        seen.append(model)
        for field in model.model_fields.values():
            models(field.annotation, seen)
    for argument in get_args(model):
        models(argument, seen)
    return seen


@pytest.mark.parametrize("model", models(Experiment, []), ids=lambda model: model.__name__)
def test_what_may_be_none_is_none_by_default(model):
    """`dump` leaves None out, so another default would come back in its place."""
    for name, field in model.model_fields.items():
        if type(None) in get_args(field.annotation):
            assert field.default is None, name
    assert model.__doc__
