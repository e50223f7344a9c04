"""The measured tables: complete, as published, and each with a machine."""

import csv
from pathlib import Path

import pytest

from simnet.experiment import resolve
from simnet.validation.nccl import LARGE, PEAK, SMALL, cases
from simnet.validation.nccl.tables import Table, experiment, series, tables
from simnet.workload.collectives import KINDS

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "nccl"
KINDS_OF_INDEX = {"alltoall": "all_to_all"}


def test_every_table_has_ascending_sizes_and_a_known_collective():
    for table in tables().values():
        assert list(table.sizes) == sorted(set(table.sizes))
        assert all(0 < time < 10 for time in table.times)
        assert table.collective in KINDS


def test_every_series_has_tables_and_a_source():
    assert {table.series for table in tables().values()} == set(series())
    assert all(machine.source for machine in series().values())


@pytest.mark.parametrize("name", sorted(series()))
def test_every_machine_has_room_for_its_ranks(name):
    for table in tables().values():
        if table.series == name:
            described = experiment(table)
            assert len(resolve(described, described.topology.build()).devices[0]) == table.ranks


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared tables are not here")
def test_tables_agree_with_their_index():
    """Rows, sizes, smallest time and highest bus bandwidth of every line of the index, whatever its name."""
    index = list(csv.DictReader((SHARED / "INDEX.csv").read_text().splitlines()))
    expected = sorted(
        (
            _collective(line), int(line["ranks"]), int(line["rows"]), int(line["min_B"]), int(line["max_B"]),
            float(line["peak_busbw_GBps"]),
        )
        for line in index
    )  # fmt: skip
    found = sorted((t.collective, t.ranks, len(t.sizes), t.sizes[0], t.sizes[-1], _peak(t)) for t in tables().values())
    assert [line[:5] for line in found] == [line[:5] for line in expected]
    assert [line[5] for line in found] == pytest.approx([line[5] for line in expected], rel=0.02)


def _collective(line):
    name = line["coll"].split()[0]
    return "all_gather" if name == "unstated" else KINDS_OF_INDEX.get(name, name)


def _peak(table):
    factor = KINDS[table.collective].bus_factor(table.ranks)
    return max(size / time for size, time in zip(table.sizes, table.times)) * factor / 1e9


# -- what is counted ------------------------------------------------------------------------------------------


def test_sick_systems_are_shown_and_not_counted():
    out = {table.series for table in tables().values() if table.left_out}
    assert out == {"lambda_noisy", "rtx5090_loopback", "v100_misconfigured", "l40s_aic"}
    assert not tables()["l40s_aic all_reduce x2"].left_out
    assert all(not case.counted for case in cases() if case.case.startswith("lambda_noisy"))


def test_a_first_row_above_twice_the_second_is_left_out():
    assert Table("s", "all_reduce", 2, (1, 2, 3), (2.1, 1.0, 9.0)).first_left_out
    assert not Table("s", "all_reduce", 2, (1, 2, 3), (2.0, 1.0, 9.0)).first_left_out
    assert not Table("s", "all_reduce", 2, (1,), (2.0,)).first_left_out
    single = [case for case in cases() if not case.counted and not case.note]
    assert [(case.case, case.quantity) for case in single] == [("h100_2n all_reduce x16", "time of 8B")]


def test_groups_split_at_one_mebibyte():
    found = {case.quantity: case.group for case in cases() if case.case == "h100_aic all_reduce x8"}
    assert found["time of 512KiB"] == SMALL
    assert found["time of 1MiB"] == LARGE
    assert found[PEAK] == PEAK
    assert len(found) == 22
