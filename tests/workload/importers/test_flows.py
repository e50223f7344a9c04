"""Flows from files of htsim and of the ns-3 simulators: what they say, and what is wrong with them."""

from pathlib import Path

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.workload import WorkloadFile
from simnet.workload.importers import flow_sizes
from simnet.workload.models.flows import Flows

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "cclb"

CHAIN = """\
# a comment of the header
Nodes 4
Connections 3
Triggers 2
0->1 id 1 start 3.7 size 1000 send_done_trigger 1
1->2 id 2 trigger 1 size 2000 recv_done_trigger 2 prio 1
1->2 id 3 trigger 2 size 3000
trigger id 1 oneshot
trigger id 2 oneshot
"""


def imported(tmp_path, text: str, name: str = "x.cm", **options):
    path = tmp_path / name
    path.write_text(text)
    return WorkloadFile(file=path, **options).imported


def test_a_connection_matrix_with_triggers(tmp_path):
    found = imported(tmp_path, CHAIN)
    flows = found.flows
    assert found.ranks == 4
    assert flows.source.tolist() == [0, 1, 1]
    assert flows.destination.tolist() == [1, 2, 2]
    assert flows.size.tolist() == [1000, 2000, 3000]
    assert flows.start == pytest.approx([3e-6, 0, 0])  # whole microseconds
    assert list(zip(flows.before.tolist(), flows.after.tolist())) == [(0, 1), (1, 2)]
    assert flows.channel.tolist() == [0, 0, 1]


def test_starts_in_picoseconds(tmp_path):
    found = imported(tmp_path, "Nodes 2\nConnections 1\n0->1 start 2500000 size 1\n", start_unit="ps")
    assert found.flows.start == pytest.approx([2.5e-6])


def test_a_barrier_waits_for_all_and_a_multishot_starts_one_each_time(tmp_path):
    text = """\
Nodes 4
Connections 5
Triggers 2
0->3 id 1 start 0 size 1 send_done_trigger 1
1->3 id 2 start 0 size 1 send_done_trigger 1 recv_done_trigger 2
2->3 id 3 trigger 1 size 1 send_done_trigger 2
3->0 id 4 trigger 2 size 1
3->1 id 5 trigger 2 size 1
trigger id 1 barrier count 2
trigger id 2 multishot
"""
    flows = imported(tmp_path, text).flows
    assert flows.needed.tolist() == [0, 0, 2, 1, 2]
    assert sorted(zip(flows.before.tolist(), flows.after.tolist())) == [(0, 2), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]


def test_messages_of_one_id_share_a_connection(tmp_path):
    head = "Nodes 2\nConnections 3\n"
    flows = imported(
        tmp_path, head + "0->1 id 1 msg start 0 size 5\n0->1 id 2 start 0 size 5\n0->1 id 1 msg 2 start 0 size 5\n"
    ).flows
    assert flows.channel.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("Nodes 2\nConnections 2\n0->1 start 0 size 1\n", 2, "says 2 connections, but the file has 1"),
        ("Nodes 2\nConnections 1\nTriggers 1\n0->1 start 0 size 1\n", 3, "says 1 triggers, but the file has 0"),
        ("Nodes 2\n0->1 start 0 size 1\n", 2, "says 0 connections, but the file has 1"),
        ("Nodes 2\nConnections 1\n0->2 start 0 size 1\n", 3, "there is no node 2; nodes are 0 to 1"),
        ("Nodes 2\nConnections 1\n0->0 start 0 size 1\n", 3, "node 0 sends to itself"),
        ("Nodes 2\nConnections 1\n0->1 start 0 sise 1\n", 3, "unknown word 'sise'; .*did you mean 'size'"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size\n", 3, "the line ends where size should be"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 0\n", 3, "a flow without end in htsim"),
        ("Nodes 2\nConnections 1\n0->1 start 0\n", 3, "has no size"),
        ("Nodes 2\nConnections 1\n0->1 size 5\n", 3, "either a start or a trigger, it has neither"),
        ("Nodes 2\nConnections 1\n0->1 id 1 start 0 trigger 1 size 5\n", 3, "it has both"),
        ("Nodes 2\nConnections 1\n0->1 trigger 1 size 5\n", 3, "with a trigger needs an id"),
        ("Nodes 2\nConnections 1\n0->1 start -1 size 5\n", 3, "start must be finite and at least 0"),
        ("Nodes 2\nConnections 1\n0->1 start x size 5\n", 3, "start should be a number, got 'x'"),
        ("Nodes 2\nNodes 2\n", 2, "Nodes is there twice, first in line 1"),
        ("Connections 1\n0->1 start 0 size 1\n", 2, "expected 'Nodes'"),
        ("Nodes 2\nfailure switch_type TOR switch_id 1 link_id 2\n", 2, "must be AGG, got TOR"),
        ("Nodes 2\nfailure switch_type\n", 2, "must be AGG, got nothing"),
        ("Nodes 2\nfailure switch_type AGG switch_id 1\n", 2, "the failure has no link_id"),
        ("Nodes 2\nfailure switch_type AGG switch_id 1 link 2\n", 2, "unexpected word 'link'; needed once:"),
        ("Nodes 2\nfailure switch_type AGG switch_id x link_id 2\n", 2, "switch_id should be a whole number, got 'x'"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 1\nfailure switch_type AGG switch_id 1 link_id 2\n", 4,
         "says 0 failures, but the file has 1"),
        ("Nodes 2\nfoo\n", 2, "unknown word 'foo'"),
        ("", 1, "the file is empty"),
        (CHAIN.replace("trigger id 2 oneshot\n", "trigger id 3 oneshot\n"), 6, "there is no trigger 2 in the file"),
        (CHAIN.replace(" send_done_trigger 1", ""), 8, "1 flows wait for trigger 1, which no flow fires"),
        (CHAIN.replace("id 1 oneshot", "id 1"), 8, "the trigger has no type"),
        (CHAIN.replace("id 1 oneshot", "id 1 barrier"), 8, "a barrier needs a count"),
        (CHAIN.replace("id 1 oneshot", "id 1 barrier count 3"), 8, "barrier 1 counts to 3, but 1 flows fire it"),
        (CHAIN.replace("id 1 oneshot", "id 2 oneshot"), 9, "trigger 2 is there twice, first in line 8"),
        (CHAIN.replace("trigger 2 size 3000", "trigger 1 size 3000").replace("id 1 oneshot", "id 1 multishot"), 8,
         "2 flows wait for trigger 1, which fires 1 times"),
        (CHAIN.replace("start 3.7", "trigger 2"), 5, "trigger 2 never fires: it waits for itself"),
        (CHAIN.replace("size 3000", "size 3000 send_done_trigger 1"), 8, "fired by 2 flows, but a oneshot fires once"),
        (CHAIN.replace("id 3", "id 2"), 7, "id 2 is there twice, first in line 6"),
        ("Nodes 2\nConnections 2\n0->1 id 1 msg 1 start 0 size 1\n1->0 id 1 msg 2 start 0 size 1\n", 4,
         "must have the ends of line 3"),
        ("Nodes 2\nConnections 2\n0->1 id 1 msg 1 start 0 size 1\n0->1 id 1 msg 2 start 9 size 1\n", 4,
         "must start like the first"),
    ],
)  # fmt: skip
def test_a_wrong_connection_matrix_is_refused_where_it_is_wrong(tmp_path, text, where, sentence):
    with pytest.raises(InputError, match=rf"x\.cm:{where}: .*{sentence}"):
        imported(tmp_path, text)


def test_wrong_counts_do_not_hide_a_missing_trigger(tmp_path):
    text = "Nodes 2\nConnections 2\nTriggers 1\n0->1 id 1 trigger 7 size 1\n"
    with pytest.raises(InputError) as caught:
        imported(tmp_path, text)
    lines = [line.partition("x.cm:")[2] for line in str(caught.value).split("\n")]
    assert lines == [
        "2: says 2 connections, but the file has 1",
        "3: says 1 triggers, but the file has 0",
        "4: there is no trigger 7 in the file",
    ]


def test_flows_of_ns3_in_both_forms(tmp_path):
    six = imported(tmp_path, "2\n2 1 3 100 5000 2\n3 1 3 101 6000 2.5 \n9 9 comment\n", "flow.txt", first_host=1)
    assert six.ranks is None
    assert six.flows.source.tolist() == [1, 2]
    assert six.flows.destination.tolist() == [0, 0]
    assert six.flows.size.tolist() == [5000, 6000]
    assert six.flows.start.tolist() == [2.0, 2.5]
    five = imported(tmp_path, "1\n0 16 3 7000 0.13\n", "flow.txt")
    assert (five.flows.destination.tolist(), five.flows.size.tolist()) == ([16], [7000])


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("2\n0 1 3 100 5 0\n", 2, "ends after 1 of 2 flows"),
        ("1\n0 1 3 5\n", 2, "got 4 words"),
        ("1\n0 0 3 5 0\n", 2, "node 0 sends to itself"),
        ("1\n0 1 3 0 0\n", 2, "the size must be at least 1"),
        ("1\n0 1 3 5 nan\n", 2, "start must be finite"),
        ("1 2\n0 1 3 5 0\n", 1, "neither flows of an ns-3 simulator"),
    ],
)
def test_wrong_flows_of_ns3_are_refused_where_they_are_wrong(tmp_path, text, where, sentence):
    with pytest.raises(InputError, match=rf"flow\.txt:{where}: .*{sentence}"):
        imported(tmp_path, text, "flow.txt")


def test_options_are_for_files_that_need_them(tmp_path):
    with pytest.raises(InputError, match="first_host is not for this kind of file"):
        imported(tmp_path, CHAIN, first_host=1)
    with pytest.raises(InputError, match="below first_host 1"):
        imported(tmp_path, "1\n0 1 3 5 0\n", "flow.txt", first_host=1)


def test_a_file_is_built_for_the_ranks_it_names(tmp_path):
    path = tmp_path / "x.cm"
    path.write_text(CHAIN)
    file = WorkloadFile(file=path)
    assert file.ranks == 4
    assert file.build(4).operations[0].traffic is file.imported.flows
    with pytest.raises(InputError, match="is written for 4 ranks, the job has 5"):
        file.build(5)
    path = tmp_path / "flow.txt"
    path.write_text("1\n0 5 3 5 0\n")
    with pytest.raises(InputError, match="rank 5; ranks are 0 to 3"):
        WorkloadFile(file=path).build(4)


def test_distributions_in_per_cent_and_as_fractions(tmp_path):
    path = tmp_path / "cdf.txt"
    for rows in ("0 0\n1000 50\n3000 100\n", "0 0\n1000 0.5\n3000 1\n"):
        path.write_text(rows)
        assert flow_sizes.read(path).mean == pytest.approx(0.5 * 500 + 0.5 * 2000)
    path.write_text("1000 0.5\n3000 1\n")  # half of the flows have exactly 1000 bytes
    assert flow_sizes.read(path).mean == pytest.approx(0.5 * 1000 + 0.5 * 2000)
    drawn = flow_sizes.read(path).draw(np.array([0.1, 0.49, 0.75]))
    assert drawn.tolist() == [1000, 1000, 2000]
    assert len(Flows(load=0.1, link_rate="1Gbps", cdf=path, count=9).flows(3)) == 9


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("0 0\n10 50\n5 100\n", 3, "sizes must not fall"),
        ("0 0\n10 50\n20 40\n", 3, "shares must not fall"),
        ("0 0\n10 50\n", 2, "the last share must be 100"),
        ("0 0 0\n", 1, "got 3 words"),
        ("0 100\n", 1, "the largest size is 0"),
    ],
)
def test_wrong_distributions_are_refused(tmp_path, text, where, sentence):
    path = tmp_path / "cdf.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"cdf\.txt:{where}: .*{sentence}"):
        flow_sizes.read(path)


# -- public files -----------------------------------------------------------------------------------------

public = pytest.mark.skipif(not SHARED.is_dir(), reason="the public files are not here")
MATRICES = {  # flows and ranks
    "uet-htsim/alltoall_serial_16n.cm": (240, 16),
    "uet-htsim/foo2.cm": (12, 128),
    "uet-htsim/gen_random_incast_8192n_8c_16us_1Ms.cm": (8, 8192),
    "uet-htsim/incast_1024_100K.cm": (1023, 1024),
    "uet-htsim/incast_3-1_overlapped.tm": (3, 128),
    "uet-htsim/perm_1024n_1024c_0u_2000000b.cm": (1024, 1024),
    "uet-htsim/test_cr_1f10m1p.cm": (10, 2),
    "csg-htsim/perm_16n_16c_2MB.cm": (16, 16),
    "hpcc/flow.txt": (2, None),
    "ns3-datacenter/PowerTCP_flow-burstExp-10.txt": (11, None),
    "ns3-datacenter/Reverie_flow-test.txt": (8, None),
}


@public
@pytest.mark.parametrize("name", MATRICES)
def test_public_flows(name):
    found = WorkloadFile(file=SHARED / name).imported
    assert (len(found.flows), found.ranks) == MATRICES[name]


@public
def test_every_public_file_is_read_or_refused_in_a_sentence():
    for path in sorted(p for p in SHARED.rglob("*") if p.suffix in (".cm", ".tm", ".txt")):
        refused = ""
        try:
            found = WorkloadFile(file=path).imported
        except InputError as error:
            refused = str(error)
        assert refused.startswith(f"{path}:") or found.flows.problem(10_000) is None


@public
def test_public_matrices_all_load_but_the_endless_one():
    for path in sorted(p for p in SHARED.rglob("*") if p.suffix in (".cm", ".tm")):
        if path.name == "EXAMPLES_collateral_incast.cm":
            with pytest.raises(InputError, match=":3: size 0 is a flow without end"):
                _ = WorkloadFile(file=path).imported
        else:
            assert WorkloadFile(file=path).imported.ranks


@public
@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("hpcc/WebSearch_distribution.txt", 1_711_250), ("hpcc/FbHdp_distribution.txt", 120_421),
        ("hpcc/AliStorage2019.txt", 40_870), ("conweave/Solar2022.txt", 39_424),
        ("ns3-datacenter/PowerTCP_websearch.txt", 1_711_222), ("ns3-datacenter/ABM_hadoop.csv", 3_423_728),
    ],
)  # fmt: skip
def test_public_distributions(name, mean):
    assert flow_sizes.read(SHARED / name).mean == pytest.approx(mean, abs=1)
