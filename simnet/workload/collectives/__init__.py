"""Collectives: what they mean (KINDS), how they go (ALGORITHMS), and what no algorithm can beat (`bounds`).

Adding an algorithm: a file with one lower function for each kind that it knows, and a row here.
"""

from collections.abc import Callable

import numpy as np

from simnet.errors import InputError
from simnet.flow_graph import FlowGraph, FlowGraphBuilder
from simnet.params import nearest
from simnet.workload.collectives import (
    collnet,
    copies,
    direct,
    double_binary_tree,
    halving_doubling,
    hierarchical,
    library,
    nvls,
    nvls_tree,
    pairwise,
    pat,
    ring,
    traffic,
    tree,
)
from simnet.workload.collectives.group import Group
from simnet.workload.collectives.kinds import KINDS, Kind
from simnet.workload.task_graph import Operation

__all__ = [
    "ALGORITHMS", "KINDS", "Algorithm", "Group", "Kind", "Operation", "algorithm_of", "algorithms_for", "by_library",
    "lower",
]  # fmt: skip

Lower = Callable[[Group, Operation], FlowGraph]


class Algorithm(dict[str, Lower]):
    """Kind -> lower function. The first sentence of the algorithm's module says how it goes."""

    def __init__(self, module, **lower: Lower):
        super().__init__(lower)
        self.__doc__ = module.__doc__


ALGORITHMS: dict[str, Algorithm] = {
    "ring": Algorithm(
        ring,
        all_reduce=ring.all_reduce,
        all_gather=ring.all_gather,
        reduce_scatter=ring.reduce_scatter,
        broadcast=ring.broadcast,
        reduce=ring.reduce,
    ),
    "halving_doubling": Algorithm(
        halving_doubling,
        all_reduce=halving_doubling.all_reduce,
        all_gather=halving_doubling.all_gather,
        reduce_scatter=halving_doubling.reduce_scatter,
    ),
    "double_binary_tree": Algorithm(
        double_binary_tree,
        all_reduce=double_binary_tree.all_reduce,
        broadcast=double_binary_tree.broadcast,
        reduce=double_binary_tree.reduce,
    ),
    "tree": Algorithm(tree, all_reduce=tree.all_reduce),
    "nvls": Algorithm(
        nvls,
        all_reduce=nvls.all_reduce,
        all_gather=nvls.all_gather,
        reduce_scatter=nvls.reduce_scatter,
    ),
    "nvls_tree": Algorithm(nvls_tree, all_reduce=nvls_tree.all_reduce),
    "collnet": Algorithm(collnet, all_reduce=collnet.all_reduce),
    "pat": Algorithm(pat, all_gather=pat.all_gather, reduce_scatter=pat.reduce_scatter),
    "direct": Algorithm(
        direct,
        all_reduce=direct.all_reduce,
        all_gather=direct.all_gather,
        reduce_scatter=direct.reduce_scatter,
        broadcast=direct.broadcast,
        reduce=direct.reduce,
        all_to_all=direct.all_to_all,
        all_to_all_v=direct.all_to_all,
        send_recv=direct.send_recv,
    ),
    "pairwise": Algorithm(
        pairwise,
        all_to_all=pairwise.all_to_all,
        all_to_all_v=pairwise.all_to_all,
    ),
    "hierarchical": Algorithm(
        hierarchical,
        all_reduce=hierarchical.all_reduce,
        all_gather=hierarchical.all_gather,
        reduce_scatter=hierarchical.reduce_scatter,
        broadcast=hierarchical.broadcast,
        reduce=hierarchical.reduce,
        all_to_all=hierarchical.all_to_all,
        all_to_all_v=hierarchical.all_to_all,
    ),
    "auto": Algorithm(library, **dict.fromkeys((kind for kind in KINDS if kind != "traffic"), library.lower)),
    "scheduled": Algorithm(traffic, traffic=traffic.traffic),
}


def algorithms_for(kind: str) -> list[str]:
    """Names of the algorithms that know a kind."""
    return [name for name, lowers in ALGORITHMS.items() if kind in lowers]


def algorithm_of(kind: str, algorithm: str | None = None) -> str:
    """`algorithm`, or the default of the kind.

    Raises InputError, naming what is allowed, where kind or algorithm are unknown or do not go together.
    """
    if kind not in KINDS:
        raise InputError(f"unknown collective '{kind}'; allowed: {', '.join(KINDS)}{nearest(kind, list(KINDS))}")
    allowed = algorithms_for(kind)
    name = algorithm or KINDS[kind].default
    if name not in ALGORITHMS:
        raise InputError(
            f"{kind}: unknown algorithm '{name}'; allowed for {kind}: {', '.join(allowed)}{nearest(name, allowed)}"
        )
    if name not in allowed:
        raise InputError(f"{kind}: there is no algorithm '{name}' for it; allowed for {kind}: {', '.join(allowed)}")
    return name


def lower(operation: Operation, group: Group) -> FlowGraph:
    """The flows of an operation among the members of a group; without any where there is only one member.

    Raises InputError where the operation makes no sense: its algorithm, number of members, root, size or matrix.
    """
    algorithm = algorithm_of(operation.kind, operation.algorithm)
    problem = _problem(operation, group.members)
    if problem:
        raise InputError(f"{operation.label or operation.kind}: {problem}")
    if group.members == 1:
        return FlowGraphBuilder(1).build()
    lowered = library.lower if by_library(operation) else ALGORITHMS[algorithm][operation.kind]
    return copies.limited(lowered(group, operation), group)


def by_library(operation: Operation) -> bool:
    """True if the library's latencies and rates count: with `auto`, or where a protocol or version of it is named."""
    return operation.algorithm == library.AUTO or operation.protocol is not None or operation.library is not None


def _problem(operation: Operation, members: int) -> str | None:
    if len(operation.ranks) != members:
        return f"has {len(operation.ranks)} ranks, but its group has {members} members"
    if not (np.isfinite(operation.size) and operation.size >= 0):
        return f"size must be finite and at least 0, got {operation.size}"
    if operation.kind == "send_recv" and members != 2:
        return f"joins 2 ranks, not {members}"
    if by_library(operation) and operation.algorithm not in (library.AUTO, *library.PLANS):
        known = ", ".join((library.AUTO, *library.PLANS))
        return f"a library has no algorithm '{operation.algorithm}'; it has {known}"
    if (operation.channels is not None or operation.threads > 1) and not by_library(operation):
        return "channels and gpus_per_thread are a library's: give algorithm auto, a protocol or a library as well"
    if KINDS[operation.kind].rooted and not 0 <= operation.root < members:
        return f"root must be a member number below {members}, got {operation.root}"
    if operation.kind == "all_to_all_v":
        if operation.matrix is None:
            return "needs a matrix of what every member sends to every member"
        matrix = np.asarray(operation.matrix, float) if _is_square(operation.matrix, members) else None
        if matrix is None or not np.all(np.isfinite(matrix) & (matrix >= 0)):
            return f"matrix must have {members} rows of {members} finite sizes of at least 0"
    if operation.kind == "traffic":
        return "needs a table of flows" if operation.traffic is None else operation.traffic.problem(members)
    return None


def _is_square(matrix, members: int) -> bool:
    return len(matrix) == members and all(len(row) == members for row in matrix)
