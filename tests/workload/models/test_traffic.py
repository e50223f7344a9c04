"""Patterns of flows, and flows at random: who sends to whom, how much and when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.workload.flow_sizes import FLOW_SIZES
from simnet.workload.models import WORKLOADS
from simnet.workload.models.flows import Flows
from simnet.workload.models.traffic import PATTERNS, TrafficPattern
from simnet.workload.traffic import traffic


def pairs(pattern: str, ranks: int, **keys) -> list[tuple[int, int]]:
    table = TrafficPattern(pattern=pattern, size="1MB", **keys).flows(ranks)
    return list(zip(table.source.tolist(), table.destination.tolist()))


def test_incast_and_outcast():
    assert pairs("incast", 4) == [(1, 0), (2, 0), (3, 0)]
    assert pairs("incast", 4, hub=2) == [(0, 2), (1, 2), (3, 2)]
    assert pairs("outcast", 4, hub=3) == [(3, 0), (3, 1), (3, 2)]


def test_permutation_by_a_shift():
    assert pairs("permutation", 4, shift=1) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert pairs("permutation", 4, shift=-1) == [(0, 3), (1, 0), (2, 1), (3, 2)]
    with pytest.raises(InputError, match="shift: 4 leads every one of 4 ranks to itself"):
        pairs("permutation", 4, shift=4)


@given(st.integers(2, 60), st.integers(0, 1000))
def test_a_random_permutation_has_no_fixed_point_and_comes_from_its_seed(ranks, seed):
    found = pairs("permutation", ranks, seed=seed)
    assert sorted(a for a, _ in found) == sorted(b for _, b in found) == list(range(ranks))
    assert all(a != b for a, b in found)
    assert found == pairs("permutation", ranks, seed=seed)
    assert ranks < 20 or found != pairs("permutation", ranks, seed=seed + 1)


def test_all_to_all_spreads_the_receivers():
    assert pairs("all_to_all", 3) == [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    assert len(set(pairs("all_to_all", 16))) == 16 * 15


def test_pairs_have_their_own_sizes_and_starts():
    table = TrafficPattern(
        pattern="incast", size="1MB", start="1us", pairs=[{"from": 2, "to": 1, "size": "5kB", "start": "7us"}]
    ).flows(3)
    assert table.source.tolist() == [1, 2, 2]
    assert table.destination.tolist() == [0, 0, 1]
    assert table.size.tolist() == [1e6, 1e6, 5e3]
    assert table.start == pytest.approx([1e-6, 1e-6, 7e-6])


def test_a_workload_is_one_operation_of_all_ranks():
    graph = TrafficPattern(pattern="incast", size="1MB").build(5)
    (operation,) = graph.operations
    assert graph.tasks == 5
    assert operation.size == 4e6  # what the receiver gets
    assert operation.label == "incast"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"pattern": "incast"}, "missing key"),
        ({"pattern": "pairs"}, "the flows of pattern 'pairs'"),
        ({"pattern": "incast", "size": "1MB", "shift": 1}, "only a permutation can be a shift"),
        ({"pattern": "permutation", "size": "1MB", "hub": 1}, "only incast and outcast"),
        ({"pattern": "pairs", "pairs": [{"from": 1, "to": 1, "size": "1B"}]}, "rank 1 sends to itself"),
        ({"pattern": "pairs", "pairs": [{"from": 0, "to": 1}]}, "gives no size for all"),
    ],
)
def test_contradictions_are_refused(keys, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrafficPattern(**keys)


def test_too_few_ranks_are_refused():
    with pytest.raises(InputError, match="needs at least 2 ranks"):
        pairs("incast", 1)
    with pytest.raises(InputError, match="hub 4 is none of the job's 4 ranks"):
        pairs("incast", 4, hub=4)
    with pytest.raises(InputError, match=r"pairs\.0: there is no rank 9"):
        pairs("incast", 4, pairs=[{"from": 0, "to": 9}])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_has_a_sentence(pattern):
    assert PATTERNS[pattern].__doc__.endswith(".")


# -- flows at random --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "mean"),
    [("web_search", 1_711_250), ("fb_hadoop", 120_421), ("ali_storage", 40_870), ("solar", 39_424)],
)
def test_means_of_the_published_distributions(name, mean):
    """Trapezoids below the published tables; a million draws come within 1 % of them."""
    assert FLOW_SIZES[name].mean == pytest.approx(mean, abs=1)
    drawn = FLOW_SIZES[name].draw(np.random.default_rng(3).random(1_000_000))
    assert drawn.mean() == pytest.approx(mean, rel=0.01)
    assert drawn.min() >= 1
    assert drawn.max() <= FLOW_SIZES[name].size[-1]


def test_flows_load_every_rank_as_asked():
    """100,000 flows at half of 10 GB/s: the arrivals' spread is 0.3 %, that of these sizes 0.4 %."""
    table = Flows(load=0.5, link_rate="10GB/s", sizes="solar", count=100_000).flows(8)
    seconds = table.start[-1]
    assert table.size.sum() / 8 / seconds == pytest.approx(5e9, rel=0.02)
    sent = np.bincount(table.source, table.size, 8) / seconds
    assert sent == pytest.approx(np.full(8, 5e9), rel=0.06)
    gaps = np.diff(table.start)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.02)  # as exponential gaps have it
    assert np.all(table.source != table.destination)
    assert np.bincount(table.destination - table.source + 8).astype(bool).sum() == 14  # every difference but 0


def test_a_duration_gives_as_many_flows_as_its_load():
    table = Flows(load=0.8, link_rate="100Gbps", sizes="ali_storage", duration="10ms").flows(16)
    expected = 0.8 * 12.5e9 * 16 * 10e-3 / FLOW_SIZES["ali_storage"].mean
    assert len(table) == pytest.approx(expected, abs=4 * expected**0.5)
    assert table.start.min() >= 0
    assert table.start.max() < 10e-3
    assert np.all(np.diff(table.start) >= 0)


def test_the_same_seed_gives_the_same_flows():
    def of(seed):
        return Flows(load=0.5, link_rate="100Gbps", sizes="web_search", count=50, seed=seed).flows(4)

    assert np.array_equal(of(1).start, of(1).start)
    assert np.array_equal(of(1).size, of(1).size)
    assert not np.array_equal(of(1).size, of(2).size)


def test_sizes_and_time_are_given_once():
    with pytest.raises(ValueError, match="either sizes or cdf"):
        Flows(load=0.5, link_rate="100Gbps", count=5)
    with pytest.raises(ValueError, match="either duration or count"):
        Flows(load=0.5, link_rate="100Gbps", sizes="solar", count=5, duration="1ms")
    with pytest.raises(InputError, match="more than"):
        Flows(load=0.5, link_rate="100Gbps", sizes="solar", duration="1000s").flows(64)


def test_the_tables_know_them():
    assert WORKLOADS["traffic"] is TrafficPattern
    assert WORKLOADS["flows"] is Flows


# -- the table of flows -----------------------------------------------------------------------------------


def test_every_flow_of_a_pair_has_a_channel_of_its_own():
    assert traffic([0, 1, 0, 0, 1], [1, 0, 1, 2, 0], 1.0).channel.tolist() == [0, 0, 1, 0, 1]


def test_problems_of_a_table_are_found():
    assert traffic([0], [1], 1.0).problem(2) is None
    assert "rank 2" in traffic([0], [2], 1.0).problem(2)
    assert "itself" in traffic([1], [1], 1.0).problem(2)
    assert "size" in traffic([0], [1], float("nan")).problem(2)
    assert "never start" in traffic([0, 1], [1, 0], 1.0, before=[0, 1], after=[1, 0]).problem(2)
    assert traffic([0, 1], [1, 0], 1.0, before=[0], after=[1]).problem(2) is None
