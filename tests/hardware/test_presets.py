"""The tables of hardware: sane, sourced, and equal to the published numbers."""

import re

import pytest

from simnet.hardware import GPUS, HOSTS, LINKS, NICS, SWITCHES, pcie_rate
from simnet.hardware.links import PCIE_SPEED_OF_GENERATION
from simnet.hardware.sources import SOURCES
from simnet.topology.builders import SERVERS

TABLES = {"gpus": GPUS, "links": LINKS, "hosts": HOSTS, "nics": NICS, "switches": SWITCHES, "servers": SERVERS}
ROWS = [pytest.param(row, id=f"{table}-{name}") for table, rows in TABLES.items() for name, row in rows.items()]


@pytest.mark.parametrize("row", ROWS)
def test_every_preset_names_a_source_that_exists(row):
    assert row.source
    for tag in re.findall(r"\[([A-Z0-9-]+)\]", row.source):
        assert tag in SOURCES


def test_every_source_is_named_by_a_preset():
    named = {tag for rows in TABLES.values() for row in rows.values() for tag in re.findall(r"\[(.+?)\]", row.source)}
    assert set(SOURCES) - named == {"ASTRA"}  # a latency, which a comment names


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_gpus_are_plausible(gpu):
    assert 0 < gpu.efficiency <= 1
    assert 0 < gpu.memory_efficiency <= 1
    assert gpu.fp32 <= gpu.fp16  # tensor cores are never slower than the plain units
    assert gpu.fp8 == 0 or gpu.fp8 > gpu.fp16
    assert 1e9 < gpu.memory_size < 1e12
    assert 1e11 < gpu.memory_rate < 1e13
    assert gpu.pcie in LINKS
    assert (gpu.nvlinks > 0) == (gpu.nvlink in LINKS)


@pytest.mark.parametrize("link", [*LINKS.values(), *NICS.values()], ids=[*LINKS, *NICS])
def test_no_link_achieves_more_than_its_rate(link):
    assert 0 <= link.achieved < link.rate


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_no_link_carries_more_both_ways_or_in_nccl_than_its_rate(link):
    assert 0 <= link.both_ways <= link.rate
    assert 0 <= link.nccl_rate <= link.rate


def test_socket_links_are_at_least_what_nccl_expects_of_them():
    assert all(host.nccl_rate <= host.socket_rate for host in HOSTS.values())


# 16 lanes: 8 GT/s x 128/130 / 8 = 0.985 GB/s a lane, doubled with every generation; generation 6 sends 242 of 256 bytes
@pytest.mark.parametrize(
    ("generation", "rate"), [(1, 4.0), (2, 8.0), (3, 15.754), (4, 31.508), (5, 63.015), (6, 121.0)]
)
def test_pcie_rate_of_16_lanes(generation, rate):
    assert pcie_rate(PCIE_SPEED_OF_GENERATION[generation], 16) == pytest.approx(rate * 1e9, rel=1e-4)


@pytest.mark.parametrize(
    ("gpu", "rate"),
    [
        ("v100_sxm2", 150), ("a100_sxm_80", 300), ("h100_sxm", 450), ("h20", 450), ("b200_sxm", 900), ("gb200", 900),
        ("rtx_2080_ti", 50), ("mi300x", 448), ("mi355x", 535.5), ("mi250x", 350), ("l40s", 0), ("rtx_4090", 0),
    ],
)  # fmt: skip
def test_nvlink_rates_of_gpus_as_published(gpu, rate):
    assert GPUS[gpu].nvlink_rate == pytest.approx(rate * 1e9)


def test_rates_of_nics():
    assert NICS["ndr"].rate == 50e9
    assert NICS["gdr"].rate == 4 * NICS["ndr"].rate
