"""The incremental max-min solver against known systems, full progressive filling and the max-min certificate."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.network.flow_level.filling import check_certificate, progressive_filling
from tests.network.flow_level.solver import Solver


def rates_of(capacity, paths):
    solver = Solver(capacity)
    for slot, path in enumerate(paths):
        solver.add(slot, [(link, 1.0) for link in path])
    solver.solve()
    return [solver.rate(slot) for slot in range(len(paths))]


def test_one_flow_takes_its_narrowest_link():
    assert rates_of([10, 4, 7], [[0, 1, 2]]) == [4]


def test_parking_lot():
    # one flow over three unit links, one flow on each: all share alike
    assert rates_of([1, 1, 1], [[0, 1, 2], [0], [1], [2]]) == pytest.approx([0.5] * 4)


def test_two_level_bottleneck():
    # {1, 2} on a link of 10, {2, 3} on a link of 4: 2 and 3 get 2 each, 1 takes the 8 that are left
    assert rates_of([10, 4], [[0], [0, 1], [1]]) == pytest.approx([8, 2, 2])


def test_one_sender_to_four_and_one_more_to_the_last():
    # A -> B, C, D, E over A's uplink (0); F -> E shares only E's downlink (4): 2.5 each, and 7.5 for F -> E
    paths = [[0, 1], [0, 2], [0, 3], [0, 4], [5, 4]]
    assert rates_of([10] * 6, paths) == pytest.approx([2.5, 2.5, 2.5, 2.5, 7.5])


def test_shares_count_where_a_flow_is_split():
    solver = Solver([10, 10, 4])
    solver.add(0, [(0, 1.0), (1, 0.5), (2, 0.5)])  # half of it over a link of 4: 8 in all
    solver.solve()
    assert solver.rate(0) == pytest.approx(8)


def test_departure_lets_the_others_rise():
    solver = Solver([10, 4])
    for slot, path in enumerate([[0], [0, 1], [1]]):
        solver.add(slot, [(link, 1.0) for link in path])
    solver.solve()
    solver.remove(2)
    solver.solve()
    assert [solver.rate(0), solver.rate(1)] == pytest.approx([6, 4])


def test_a_far_change_looks_at_few_links():
    # 100 separate links with one flow each: a new flow on one of them must not look at the others
    solver = Solver([1.0] * 100, most_flows=128)
    for slot in range(100):
        solver.add(slot, [(slot, 1.0)])
    solver.solve()
    before = int(solver.world.scanned[0])
    solver.add(100, [(7, 1.0)])
    solver.solve()
    assert solver.rate(100) == solver.rate(7) == 0.5
    assert int(solver.world.scanned[0]) - before < 20


def random_system(rng):
    """Links and paths with many ties: few capacities, few shares."""
    links = rng.randint(1, 8)
    capacity = [float(rng.choice([1, 2, 3, 4, 6, 12])) for _ in range(links)]
    shares = [1.0] if rng.random() < 0.6 else [1.0, 0.5, 0.25]

    def path():
        chosen = rng.sample(range(links), rng.randint(1, min(links, 4)))
        return [(link, rng.choice(shares)) for link in chosen]

    return capacity, path


@pytest.mark.parametrize("full_now_and_then", [False, True])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_random_arrivals_and_departures_agree_with_full_filling(full_now_and_then, seed):
    rng = random.Random(seed)
    capacity, new_path = random_system(rng)
    solver = Solver(capacity)
    live = {}
    for _ in range(12):
        for _ in range(rng.randint(1, 3)):
            if live and rng.random() < 0.45:
                slot = rng.choice(sorted(live))
                del live[slot]
                solver.remove(slot)
            elif len(live) < 60:
                slot = min(set(range(64)) - set(live))
                live[slot] = new_path()
                solver.add(slot, live[slot])
        if full_now_and_then and rng.random() < 0.3:
            solver.world.everything = 1
        solver.solve()
        slots = sorted(live)
        paths = [live[s] for s in slots]
        rates = [solver.rate(s) for s in slots]
        assert rates == pytest.approx(progressive_filling(capacity, paths), rel=1e-9)
        check_certificate(capacity, paths, rates)
        load = np.zeros(len(capacity))
        for path, rate in zip(paths, rates):
            for link, share in path:
                load[link] += share * rate
        assert solver.links.load == pytest.approx(load, rel=1e-9, abs=1e-9)


def test_a_change_that_spreads_is_solved_for_everything():
    # two columns of links, every flow on one of each: one departure moves all
    rng = random.Random(1)
    capacity = [float(rng.randint(50, 99)) for _ in range(40)]
    solver = Solver(capacity, most_flows=512, most_hops=2)
    paths = [[(a, 1.0), (20 + b, 1.0)] for a in range(20) for b in range(20)]
    for slot, path in enumerate(paths):
        solver.add(slot, path)
    solver.solve()
    full = int(solver.world.full_solves[0])
    solver.remove(0)
    solver.solve()
    assert int(solver.world.full_solves[0]) == full + 1
    rates = [solver.rate(s) for s in range(1, 400)]
    assert rates == pytest.approx(progressive_filling(capacity, paths[1:]), rel=1e-9)
