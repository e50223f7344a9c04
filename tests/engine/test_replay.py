"""Replay of task graphs: order, overlap, collectives, stalls; and the clock that joins SimPy with a network."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.engine.clock import Clock
from simnet.engine.replay import JobPlan, Lowered, Replay
from simnet.errors import StalledError, UnreachableError
from simnet.flow_graph import flow_graph
from simnet.network import Scenario, network_model
from simnet.workload.task_graph import COMMUNICATION, Operation, TaskGraphBuilder
from tests.network.systems import star


def exchange(operation):
    """Every member sends `size` bytes to the next one: a stand-in for a collective, oracle size/rate + latency."""
    n = len(operation.ranks)
    rank = np.arange(n)
    graph = flow_graph(n, rank, (rank + 1) % n, rank, operation.size)
    return Lowered(graph, np.array(operation.ranks) + 1, 0)


def replay(builder, hosts=4, durations=None, **plan):
    graph = builder.build()
    network = network_model("flow")(Scenario(star(hosts), seed=1))
    run = Replay(network, [JobPlan("job", graph, np.nan_to_num(graph.duration), exchange, **plan)])
    run.run()
    return run.jobs[0]


def op(ranks, size=1e6):
    return Operation("all_reduce", size, tuple(ranks), "ring")


HOP = 1e-3 + 2e-6  # 1 MB at 1 GB/s over a switch


def test_tasks_of_a_stream_run_one_after_the_other():
    builder = TaskGraphBuilder(1)
    for i in range(3):
        builder.compute(0, f"t{i}", duration=1.0 + i)
    job = replay(builder)
    assert job.begun == [0.0, 1.0, 3.0]
    assert job.ended == [1.0, 3.0, 6.0]


def test_an_operation_starts_a_launch_after_its_last_member():
    builder = TaskGraphBuilder(2)
    builder.compute(1, "late", duration=1.0)
    reduce = builder.collective(replace(op([0, 1]), launch=0.25), "reduce", after=[[], [0]])
    job = replay(builder)
    assert (job.begun[reduce[0]], job.begun[reduce[1]]) == (0.0, 1.0)
    assert job.launched == [1.25]
    assert [job.ended[task] for task in reduce] == [pytest.approx(1.25 + HOP)] * 2


def test_streams_of_a_rank_overlap_and_dependencies_join_them():
    builder = TaskGraphBuilder(2)
    first = [builder.compute(r, "forward", duration=1.0) for r in range(2)]
    reduce = builder.collective(op([0, 1]), "reduce", after=[[t] for t in first])
    more = [builder.compute(r, "backward", duration=0.5) for r in range(2)]
    end = [builder.compute(r, "step", duration=0.1, after=[reduce[r], more[r]]) for r in range(2)]
    job = replay(builder)
    assert job.ended[reduce[0]] == pytest.approx(1.0 + HOP)
    assert job.ended[more[0]] == 1.5
    assert job.begun[end[0]] == 1.5


def test_a_collective_starts_with_its_last_member():
    builder = TaskGraphBuilder(2)
    late = builder.compute(1, "late", duration=2.0)
    members = builder.collective(op([0, 1]), "reduce", after=[[], [late]])
    job = replay(builder)
    assert job.begun[members[0]] == 0.0
    assert job.launched == [2.0]
    assert job.ended[members[0]] == pytest.approx(2.0 + HOP)


def test_members_go_on_at_their_own_completion():
    # 0 -> 1 is a transfer of 1 MB, nothing comes back; both are through when it is delivered
    builder = TaskGraphBuilder(3)
    a = builder.collective(op([0, 1]), "a")
    b = builder.collective(op([1, 2], size=2e6), "b", stream=COMMUNICATION)
    job = replay(builder)
    assert job.launched[1] == pytest.approx(job.ended[a[1]])
    assert job.ended[b[1]] == pytest.approx(HOP + 2e-3 + 2e-6)


def test_start_and_stop_of_a_job():
    builder = TaskGraphBuilder(1)
    for i in range(5):
        builder.compute(0, f"t{i}", duration=1.0)
    job = replay(builder, start=10.0, stop=12.5)
    assert job.begun[:3] == [10.0, 11.0, 12.0]
    assert np.isnan(job.begun[3])


def test_collectives_in_opposite_order_stall_and_both_ranks_are_named():
    builder = TaskGraphBuilder(2)
    first, second = op([0, 1]), op([0, 1])
    # rank 0 calls 'a' then 'b', rank 1 calls 'b' then 'a'
    a = builder.collective(first, "a")
    b = builder.collective(second, "b", after=[[], []])
    graph = builder.build()
    order = [a[0], b[1], b[0], a[1]]
    swapped = _reordered(graph, order)
    network = network_model("flow")(Scenario(star(4), seed=1))
    run = Replay(network, [JobPlan("job", swapped, np.zeros(4), exchange)])
    with pytest.raises(StalledError) as caught:
        run.run()
    message = str(caught.value)
    assert "rank 0, stream communication waits in all_reduce 'a' for ranks 1" in message
    assert "rank 1, stream communication waits in all_reduce 'b' for ranks 0" in message


def _reordered(graph, order):
    columns = {k: getattr(graph, k)[order] for k in ("rank", "stream", "name", "operation", "member")}
    columns |= {k: getattr(graph, k)[order] for k in ("duration", "flops", "memory")}
    return type(graph)(
        ranks=graph.ranks,
        names=graph.names,
        before=graph.before,
        after=graph.after,
        operations=graph.operations,
        **columns,
    )


def test_a_cycle_is_named():
    builder = TaskGraphBuilder(2)
    a = builder.compute(0, "a", duration=1.0)
    b = builder.compute(1, "b", duration=1.0, after=[a])
    graph = builder.build()
    cycle = replace(graph, before=np.append(graph.before, b), after=np.append(graph.after, a))
    run = Replay(network_model("flow")(Scenario(star(2), seed=1)), [JobPlan("job", cycle, cycle.duration, exchange)])
    with pytest.raises(StalledError, match=r"rank 0, stream compute never begins 'a': it waits for 'b' of rank 1"):
        run.run()


def test_a_flow_without_a_path_names_job_operation_and_devices():
    builder = TaskGraphBuilder(5)
    builder.collective(op([0, 4]), "sync")
    topology = star(4)
    topology.add_device("island", "gpu")
    run = Replay(
        network_model("flow")(Scenario(topology, seed=1)), [JobPlan("train", builder.build(), np.zeros(2), exchange)]
    )
    with pytest.raises(UnreachableError, match=r"job 'train', all_reduce 'sync' of ranks 0, 4: no path from"):
        run.run()


@given(
    gaps=st.lists(st.floats(1e-9, 1e-2), min_size=1, max_size=20),
    sizes=st.lists(st.floats(1, 1e7), min_size=1, max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_a_chain_of_compute_and_transfers_takes_the_sum_of_its_parts(gaps, sizes):
    builder = TaskGraphBuilder(2)
    last, expected = None, 0.0
    for gap, size in zip(gaps, sizes):
        compute = builder.compute(0, "work", duration=gap, after=[last])
        last = builder.collective(op([0, 1], size), "swap", after=[[compute], []])[0]
        expected += gap + size / 1e9 + 2e-6
    assert replay(builder).ended[last] == pytest.approx(expected, rel=1e-9)


class Scripted:
    """A network that completes at given times, whatever is started."""

    def __init__(self, times):
        self.times = sorted(times)
        self.next_time = self.times[0] if times else float("inf")

    def advance(self, until):
        done = [t for t in self.times[:1] if t <= until]
        self.times = self.times[len(done) :]
        self.next_time = self.times[0] if self.times else float("inf")
        return [type("C", (), {"time": t})() for t in done]


@given(st.lists(st.floats(0, 1)), st.lists(st.floats(0, 1)))
@settings(max_examples=100, deadline=None)
def test_the_clock_merges_both_sides_in_order_and_at_the_exact_time(network_times, own_times):
    seen = []
    clock = Clock(Scripted(network_times), lambda c: seen.append((clock.now, c.time)))
    for time in own_times:
        clock.at(time, [lambda event: seen.append((clock.now, event.value))], time)
    clock.run()
    assert [now for now, _ in seen] == sorted(network_times + own_times)
    assert all(now == due for now, due in seen)
