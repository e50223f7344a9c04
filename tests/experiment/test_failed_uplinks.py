"""Links of fat trees that a connection matrix of htsim takes away."""

import pytest

from simnet.errors import InputError
from simnet.experiment import load
from simnet.run import build, replayed
from tests.test_experiment import write

TOPO = """\
Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 500
Tier 1
Downlink_speed_Gbps 100
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 500
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 500
"""


def with_failures(tmp_path, topology: str, *failures: tuple[int, int]):
    """An experiment on a fat tree whose connection matrix takes links (switch, link) away."""
    (tmp_path / "tree.topo").write_text(TOPO)
    lines = [f"failure switch_type AGG switch_id {switch} link_id {link}\n" for switch, link in failures]
    flow = "0->15 start 0 size 100000\n"
    head = f"Nodes 16\nConnections 1\nFailures {len(lines)}\n"
    (tmp_path / "work.cm").write_text(head + flow + "".join(lines))
    text = f"topology: {topology}\nnetwork: {{model: packet}}\njobs:\n- workload: {{file: work.cm}}\n"
    return build(*load(write(tmp_path, text)))


@pytest.mark.parametrize(
    ("topology", "failures", "names"),
    [
        # switch 3 is the second of the second pod, whose uplinks are to cores 2 and 3
        ("{kind: fat_tree, k: 4}", [(3, 0)], ["pod1/aggregation1 -> core2", "core2 -> pod1/aggregation1"]),
        ("{kind: fat_tree, k: 4}", [(0, 1)], ["pod0/aggregation0 -> core1", "core1 -> pod0/aggregation0"]),
        # htsim joins the second switch of a pod to cores 1 and 3, and calls the one to core 3 its link 1
        ("{file: tree.topo}", [(3, 1)], ["aggregation3 -> core3", "core3 -> aggregation3"]),
    ],
)
def test_links_that_a_connection_matrix_takes_away_are_not_there(tmp_path, topology, failures, names):
    simulation = with_failures(tmp_path, topology, *failures)
    changes = simulation.resolved.changes
    assert [simulation.topology.link_name(change.link) for change in changes] == names
    assert {(change.time, change.rate) for change in changes} == {(0.0, 0.0)}
    assert replayed(simulation).summary["status"] == "completed"


def test_what_is_sent_goes_round_a_link_that_is_not_there(tmp_path):
    finished = replayed(with_failures(tmp_path, "{kind: fat_tree, k: 4}", (0, 0), (0, 1), (1, 0)))
    carried = {row["link"]: row["bytes"] for row in finished.links.to_pylist() if row["bytes"]}
    assert carried["pod0/aggregation1 -> core3"] > 100_000
    assert not {"pod0/aggregation0 -> core0", "pod0/aggregation1 -> core2"} & set(carried)
    assert finished.summary["queues"]["dropped"] == 0


@pytest.mark.parametrize(
    ("topology", "failure", "sentence"),
    [
        ("{kind: fat_tree, k: 4}", (8, 0), "there is no switch 8; those are 0 to 7"),
        ("{kind: fat_tree, k: 4}", (0, 4), "is the one to core4 in htsim, and there is none from pod0/aggregation0"),
        ("{file: tree.topo}", (3, 0), "is the one to core2 in htsim, and there is none from aggregation3"),
        ("{kind: leaf_spine, leaves: 4, ports_per_leaf: 4}", (0, 0), "links fail on fat trees of three tiers"),
    ],
)
def test_a_link_that_a_connection_matrix_cannot_take_away_is_told_at_its_line(tmp_path, topology, failure, sentence):
    with pytest.raises(InputError, match=rf"work\.cm:5: .*{sentence}"):
        with_failures(tmp_path, topology, failure)
