"""Load balancing at senders, driven without a network: which path comes next, and what feedback changes."""

import numpy as np
import pytest

from simnet.network.packet_level import load_balancing
from simnet.network.packet_level.connection_state import CONNECTION, PATH
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.load_balancing.feedback import ANSWERED, EXPIRED, TRIMMED
from simnet.network.packet_level.parameters import numbers_of
from simnet.network.packet_level.state import WORLD
from simnet.network.records import table


class Sender:
    """One connection with paths, and a clock [s]."""

    def __init__(self, kind: str, paths: int = 8, seed: int = 1, **params):
        self.kind = load_balancing.code_of(LOAD_BALANCERS[kind](paths=paths))
        self.params = np.array(numbers_of(LOAD_BALANCERS[kind](paths=paths, **params)) + [0.0] * 8)
        self.connections, self.paths, self.world = table(1, CONNECTION), table(2 * paths, PATH), table(1, WORLD)
        self.world.seed = seed
        self.connections.paths = paths
        self.k = self.connections[0]
        self.now = 0.0

    def choose(self, packets: int = 1) -> list[int]:
        return [
            int(load_balancing.choose(self.kind, 0, self.k, self.params, self.paths, self.now, self.world))
            for _ in range(packets)
        ]

    def tell(self, event: int, path: int = -1, marked: int = 0, sequence: int = -1) -> None:
        load_balancing.on_feedback(
            self.kind, 0, self.k, self.params, self.paths, event, path, marked, sequence, self.now, self.world
        )


def test_spray_takes_every_path_once_per_round_in_changing_order():
    sender = Sender("spray", 8)
    rounds = [sender.choose(8) for _ in range(20)]
    assert all(sorted(r) == list(range(8)) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 4


def test_random_spray_is_even_and_repeats_itself_with_the_seed():
    chosen = Sender("spray", 8, mode="random").choose(8000)
    assert chosen == Sender("spray", 8, mode="random").choose(8000)
    counts = np.bincount(chosen, minlength=8)
    assert np.all(np.abs(counts - 1000) < 5 * np.sqrt(1000))
    assert any(len(set(chosen[i : i + 8])) < 8 for i in range(0, 80, 8))


def test_the_bitmap_avoids_a_path_for_as_many_packets_as_its_penalty():
    sender = Sender("entropy_bitmap", 4)
    sender.choose(4)
    sender.tell(TRIMMED, path=2)
    assert sender.paths[2].penalty == 4
    # each round meets path 2 once and takes one unit off
    chosen = sender.choose(3 * 4)
    assert 2 not in chosen
    assert 2 in sender.choose(8)
    assert sender.paths[2].penalty == 0


@pytest.mark.parametrize(("event", "marked", "penalty"), [(ANSWERED, 0, 0), (ANSWERED, 1, 1), (TRIMMED, 0, 4)])
def test_the_bitmap_penalties(event, marked, penalty):
    sender = Sender("entropy_bitmap", 4)
    sender.tell(event, path=1, marked=marked)
    assert [int(p.penalty) for p in sender.paths[:4]] == [0, penalty, 0, 0]


def test_a_timeout_punishes_the_paths_that_owe_an_answer_and_penalties_are_capped():
    sender = Sender("entropy_bitmap", 4)
    sender.choose(4)
    for path in (0, 1, 3):
        sender.tell(ANSWERED, path)
    sender.tell(EXPIRED)
    assert [int(p.penalty) for p in sender.paths[:4]] == [0, 0, 15, 0]
    sender.tell(TRIMMED, path=2)
    assert sender.paths[2].penalty == 15


def test_reps_reuses_unmarked_paths_oldest_first_and_each_once():
    sender = Sender("reps", 1 << 16)
    for path in (5, 6, 7):
        sender.tell(ANSWERED, path)
    sender.tell(ANSWERED, 8, marked=1)
    sender.tell(TRIMMED, 9)
    assert sender.choose(3) == [5, 6, 7]
    assert not set(sender.choose(20)) & {5, 6, 7, 8, 9}  # drawn from 65,536


def test_reps_keeps_eight_paths():
    sender = Sender("reps", 1 << 16)
    for path in range(100, 110):
        sender.tell(ANSWERED, path)
    assert sender.choose(8) == list(range(102, 110))


def test_reps_freezes_after_a_timeout_and_explores_when_it_thaws():
    sender = Sender("reps", 1 << 16)
    for path in (5, 6):
        sender.tell(ANSWERED, path)
    sender.choose(2)
    sender.tell(EXPIRED)
    assert sender.choose(4) == [5, 6, 5, 6]
    sender.tell(ANSWERED, 7)  # not taken in while frozen
    assert set(sender.choose(4)) == {5, 6}
    sender.now = 10.1e-3
    sender.choose(1)
    sender.tell(ANSWERED, 9)
    explored = sender.choose(15)
    assert 9 not in explored
    assert sender.choose(1) == [9]


def rounds(sender: Sender, marked_of_ten: list[int]) -> list[int]:
    """Round after round of ten packets with so many marks; the path after each."""
    taken = []
    for marks in marked_of_ten:
        first = int(sender.k.next_sequence)
        sender.k.next_sequence = first + 10
        for i in range(10):
            sender.k.inflight = 1000.0
            sender.choose()
            sender.tell(ANSWERED, 0, marked=i < marks, sequence=first + i)
        taken += sender.choose()
    return taken


def test_plb_moves_within_its_n_congested_rounds():
    sender = Sender("plb", 128)
    # the first packet of the first round closes a round of its own
    taken = rounds(sender, [10] * 14)
    moved = next(i for i, path in enumerate(taken) if path != 0)
    assert 10 <= moved <= 12


def test_plb_stays_where_a_round_in_between_is_clear():
    assert set(rounds(Sender("plb", 128), ([10] * 10 + [0]) * 3)) == {0}
    assert set(rounds(Sender("plb", 128), [4] * 40)) == {0}  # below one half


def test_plb_moves_after_three_congested_rounds_when_nothing_is_in_flight():
    sender = Sender("plb", 128)
    rounds(sender, [10] * 5)
    sender.k.inflight = 0.0
    assert sender.choose() != [0]


def test_plb_moves_after_a_timeout_and_then_not_for_a_minute():
    sender = Sender("plb", 128)
    sender.tell(EXPIRED)
    (path,) = sender.choose()
    assert path != 0
    sender.now = 59.0
    assert set(rounds(sender, [10] * 20)) == {path}
    sender.now = 121.0
    assert set(rounds(sender, [10] * 20)) != {path}
