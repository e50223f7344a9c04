"""Output of nccl-tests: columns, ranks, the program's name, and what is wrong with a log."""

import pytest

from simnet.errors import InputError
from simnet.validation.measured_log import cases, read

LOG = """\
# nThread 1 nGpus 2 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   4711 on       host device  0 [0x07] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid   4711 on       host device  1 [0x0f] NVIDIA A100-SXM4-80GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    10.52    0.10    0.10      0    10.11    0.10    0.10      0
        2048           512     float     sum      -1    10.90    0.19    0.19      0    10.70    0.19    0.19      0
        4096          1024     float     sum      -1    11.25    0.36    0.36    N/A    11.05    0.37    0.37    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.216
"""
PAIR = "kind: nvswitch_pair"


@pytest.fixture
def log(tmp_path):
    def write(text=LOG, name="all_reduce.log"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_times_are_those_out_of_place(log):
    found = read(log())
    assert found.sizes == (1024, 2048, 4096)
    assert found.times == pytest.approx((10.52e-6, 10.90e-6, 11.25e-6))
    assert (found.collective, found.ranks, found.root) == ("all_reduce", 2, 0)


def test_the_log_names_the_program_before_its_file_does(log):
    named = "# Collective test starting: reduce_scatter_perf\n" + LOG
    assert read(log(named, "all_reduce.log")).collective == "reduce_scatter"
    assert read(log(LOG, "alltoall_8gpus.txt")).collective == "all_to_all"
    assert read(log(LOG, "sendrecv.txt")).collective == "send_recv"
    assert read(log(LOG, "out.txt"), "broadcast").collective == "broadcast"


def test_older_tables_have_other_columns(log):
    old = """\
#  Rank  0 Pid  1 on host device  0 [0x07] V100
#  Rank  1 Pid  1 on host device  1 [0x0f] V100
#  Rank  2 Pid  1 on host device  2 [0x0f] V100
#       size         count    type   time  algbw  busbw  error     time  algbw  busbw  error
        2048           256   float  13.39   0.15   0.08  0e+00    11.85   0.17   0.09  0e+00
"""
    found = read(log(old, "all_gather.log"))
    assert (found.collective, found.ranks, found.sizes, found.times) == (
        "all_gather", 3, (2048,), (pytest.approx(13.39e-6),),
    )  # fmt: skip


def test_roots_and_tags_of_mpirun(log):
    tagged = "".join(f"[1,0]<stdout>: {line}\n" for line in LOG.replace("      -1 ", "       1 ").splitlines())
    found = read(log(tagged, "broadcast.log"))
    assert (found.collective, found.ranks, found.root, len(found.sizes)) == ("broadcast", 2, 1, 3)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("#       size         count", "#       bytes", "no table of nccl-tests"),
        ("    10.90    0.19    0.19      0    10.70    0.19    0.19      0", "", "{path}:11: the row has 5 columns"),
        ("10.90", "1O.9O", "{path}:11: could not convert string to float: '1O.9O'"),
        ("10.90", "0.00", "{path}:11: size and time must be above 0"),
        ("        4096  ", "        2048  ", "{path}:12: a size that stood in the table before"),
        ("#  Rank", "#  Gpu", "give --ranks"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(log, old, new, sentence):
    path = log(LOG.replace(old, new))
    with pytest.raises(InputError) as error:
        read(path)
    assert sentence.format(path=path) in str(error.value)


def test_two_tables_and_none_at_all(log, tmp_path):
    with pytest.raises(InputError, match=r":22: a second table begins"):
        read(log(LOG + LOG))
    with pytest.raises(InputError, match="the table has no rows"):
        read(log(LOG.partition("        1024")[0]))
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "nowhere.log")
    with pytest.raises(InputError, match="give --collective"):
        read(log(LOG, "out.txt"))


def test_cases_repeat_the_log(log, tmp_path):
    machine = tmp_path / "machine.yaml"
    machine.write_text("{kind: dgx_a100}")
    found = cases(read(log()), machine)
    assert [(case.quantity, case.reference) for case in found] == [
        ("time of 1KiB", pytest.approx(10.52)), ("time of 2KiB", pytest.approx(10.90)),
        ("time of 4KiB", pytest.approx(11.25)),
    ]  # fmt: skip
    simulated = found[0].simulate()
    assert set(simulated) == {case.quantity for case in found}
    assert all(5 < time < 20 for time in simulated.values())  # with the launches of a library


def test_an_unknown_collective_is_told(log, tmp_path):
    with pytest.raises(InputError, match=r"unknown collective 'all_redcue'.*did you mean 'all_reduce'"):
        cases(read(log(), "all_redcue"), tmp_path / "machine.yaml")
