"""One iteration of a recommendation model with sharded embedding tables, after DLRM (Naumov et al. 2019).

Who talks to whom: every table is sharded by rows; the k-th most popular row (k = 1, 2, ...) is on rank (k - 1) mod n.
Its share of all lookups is proportional to k^-skew (Zipf), so rank 0, which has the most popular row of every table, is
the hottest and rank n - 1 the coldest; with skew 0 all are alike. A lookup goes to the rank that has the row. In
the forward pass the owners send, for every sample and table, the sum over the rows that they have of it; in the
backward pass they get a gradient for each of these sums. So the hot rank reads most rows, sends most in the
all-to-all of embeddings, and is the target of an incast in the all-to-all of gradients. A row that several samples
look up is sent for each of them. The owners know which rows are wanted: the input pipeline has told them.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from pydantic import Field, PositiveInt

from simnet.params import row_name
from simnet.workload.collectives import algorithms_for
from simnet.workload.models.by_library import ByLibrary
from simnet.workload.models.precision import ELEMENT_SIZE, Precision
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder
from simnet.workload.training import BACKWARD

_COUNTED = 2**20  # rows whose popularity is added up one by one; the tail is an integral


class EmbeddingAllToAll(ByLibrary):
    """One sparse recommendation iteration: embedding lookups, two all-to-alls, dense layers and their all-reduce.

    The defaults are the DLRM of MLPerf v1 on the Criteo 1 TB data set (26 tables of 7.2 M rows on average).
    """

    batch: PositiveInt = Field(description="samples per rank")
    tables: PositiveInt = Field(26, description="number of embedding tables")
    rows: PositiveInt = Field(7_200_000, description="rows of each table")
    dimension: PositiveInt = Field(128, description="elements of a row")
    pooling: PositiveInt = Field(1, description="rows of each table that a sample looks up, and that are summed up")
    skew: float = Field(0.0, ge=0, le=10, description="Zipf exponent of the rows' popularity; 0: all alike")
    dense_features: PositiveInt = Field(13, description="inputs of the bottom network")
    bottom: tuple[PositiveInt, ...] = Field(
        (512, 256), description="widths of the bottom network, before its last layer"
    )
    top: tuple[PositiveInt, ...] = Field((1024, 1024, 512, 256, 1), description="widths of the top network")
    precision: Precision = Field("fp32", description="format of rows, weights, activations and gradients")
    all_to_all: row_name(dict.fromkeys(algorithms_for("all_to_all_v"))) = Field(
        "direct", description="algorithm of the two all-to-alls"
    )
    all_reduce: row_name(dict.fromkeys(algorithms_for("all_reduce"))) = Field(
        "ring", description="algorithm of the all-reduce of dense gradients"
    )

    def build(self, ranks: int) -> TaskGraph:
        """The task graph: the all-to-alls overlap with the bottom network."""
        element = ELEMENT_SIZE[self.precision]
        vector = self.dimension * element  # [bytes]
        lookups = self.lookups(ranks)
        sums = self.sums(ranks)
        bottom = _Mlp((self.dense_features, *self.bottom, self.dimension), self.batch, element)
        vectors = self.tables + 1
        top = _Mlp((self.dimension + vectors * (vectors - 1) // 2, *self.top), self.batch, element)
        pairs = {
            "flops": 2.0 * self.batch * vectors**2 * self.dimension,
            "memory": vector * (sums.sum() + self.batch) + self.batch * top.widths[0] * element,
        }
        update = 2 * lookups + ranks * sums  # rows are read and written, gradients are read
        dense = float((bottom.parameters + top.parameters) * element)

        tasks = TaskGraphBuilder(ranks, self.precision)
        everybody = range(ranks)
        looked_up = [
            tasks.compute(r, "lookup", memory=float(vector * (lookups[r] + ranks * sums[r]))) for r in everybody
        ]
        forward = [tuple([float(vector * x)] * ranks) for x in sums]
        embeddings = self._exchange(tasks, "embeddings", tuple(forward), looked_up)
        backward = []
        for r in everybody:
            tasks.compute(r, "bottom forward", **bottom.cost())
            tasks.compute(r, "interaction forward", **pairs, after=(embeddings[r],))
            tasks.compute(r, "top forward", **top.cost())
            tasks.compute(r, "top backward", **top.cost(BACKWARD))
            twice = {name: BACKWARD * amount for name, amount in pairs.items()}
            backward.append(tasks.compute(r, "interaction backward", **twice))
        row = tuple((vector * sums).tolist())
        gradients = self._exchange(tasks, "embedding gradients", (row,) * ranks, backward)
        through = [tasks.compute(r, "bottom backward", **bottom.cost(BACKWARD)) for r in everybody]
        reduction = Operation(
            "all_reduce", dense, tuple(everybody), self.all_reduce, label="dense gradients", **self.by_library
        )
        reduced = tasks.collective(reduction, reduction.label, after=[(task,) for task in through])
        for r in everybody:
            tasks.compute(r, "embedding update", memory=float(vector * update[r]), after=(gradients[r],))
            tasks.compute(r, "dense update", memory=3 * dense, after=(reduced[r],))
        return tasks.build()

    def lookups(self, ranks: int) -> np.ndarray:
        """Rows that each rank reads in one iteration, of all tables and samples together [float64[ranks]]."""
        return ranks * self.batch * self.tables * self.pooling * owner_shares(self.rows, ranks, self.skew)

    def sums(self, ranks: int) -> np.ndarray:
        """Vectors that each rank sends every rank, its own included [float64[ranks]], as expectations.

        A rank that gets the share p of all lookups has part of a bag of L rows with probability 1 - (1 - p)^L.
        """
        shares = owner_shares(self.rows, ranks, self.skew)
        return self.batch * self.tables * (1 - (1 - shares) ** self.pooling)

    def _exchange(self, tasks, name: str, matrix: tuple[tuple[float, ...], ...], after: Sequence[int]) -> list[int]:
        """An all-to-all whose size is the largest buffer that a rank sends or receives."""
        table = np.array(matrix)
        size = float(max(table.sum(axis=0).max(), table.sum(axis=1).max()))
        members = tuple(range(len(matrix)))
        operation = Operation(
            "all_to_all_v", size, members, self.all_to_all, matrix=matrix, label=name, **self.by_library
        )
        return tasks.collective(operation, name, after=[(task,) for task in after])


class _Mlp:
    """A stack of fully connected layers."""

    def __init__(self, widths: tuple[int, ...], batch: int, element: int):
        self.widths = widths
        self.parameters = sum((i + 1) * o for i, o in pairwise(widths))
        self._flops = 2.0 * batch * sum(i * o for i, o in pairwise(widths))
        self._memory = float(element * (self.parameters + 2 * batch * sum(widths[1:])))

    def cost(self, times: int = 1) -> dict[str, float]:
        """FLOPs and bytes of a forward pass, times `times`."""
        return {"flops": times * self._flops, "memory": times * self._memory}


def owner_shares(rows: int, ranks: int, skew: float) -> np.ndarray:
    """Share of all lookups that goes to each rank [float64[ranks], sum 1], hottest first.

    Rows are dealt over the ranks in the order of their popularity, row k having k^-skew of the first. The tail beyond
    the first million is taken as evenly spread: it is an integral over row numbers, to within one row per rank.
    """
    if skew == 0:
        return np.full(ranks, 1 / ranks)
    counted = min(rows, _COUNTED)
    popularity = np.arange(1, counted + 1, dtype=np.float64) ** -skew
    shares = np.bincount(np.arange(counted) % ranks, popularity, ranks)
    first, last = counted + 0.5, rows + 0.5
    if skew == 1:
        shares += np.log(last / first) / ranks
    else:
        shares += (last ** (1 - skew) - first ** (1 - skew)) / (1 - skew) / ranks
    return shares / shares.sum()
