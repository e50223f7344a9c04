"""A micro-benchmark of one collective over message sizes, as nccl-tests runs it."""

from pydantic import Field, model_validator

from simnet.errors import InputError
from simnet.params import inside, row_name
from simnet.units import SIZE, Size
from simnet.workload.collectives import ALGORITHMS, KINDS, algorithms_for
from simnet.workload.models.by_library import ByLibrary
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder

_MOST_SIZES = 1000
_MEASURED = {name: kind for name, kind in KINDS.items() if kind.total is not None}  # the others need a matrix


class Collective(ByLibrary):
    """A micro-benchmark: one collective among all ranks, size after size, as nccl-tests does it."""

    collective: row_name(_MEASURED) = Field("all_reduce", description="the kind of collective")
    algorithm: row_name(ALGORITHMS) | None = Field(None, description="how it goes; default depends on the kind")
    sizes: tuple[Size, ...] = Field((), description="message sizes, as nccl-tests means them; or give a range")
    min_size: Size | None = Field(None, description="first message size of a range")
    max_size: Size | None = Field(None, description="last message size of a range")
    factor: float = Field(2.0, gt=1, description="from one message size of a range to the next")
    repeats: int = Field(1, ge=1, description="how often each size runs, back to back")
    root: int = Field(0, ge=0, description="rank of the root, for broadcast and reduce")

    @model_validator(mode="after")
    def _consistent(self):
        allowed = algorithms_for(self.collective)
        if self.algorithm is not None and self.algorithm not in allowed:
            raise inside(
                ("algorithm",), f"'{self.algorithm}' has no {self.collective}; allowed for it: {', '.join(allowed)}"
            )
        span = (self.min_size, self.max_size)
        if bool(self.sizes) == (span != (None, None)):
            raise ValueError("needs either sizes or min_size and max_size")
        if not self.sizes and None in span:
            raise ValueError("a range of sizes needs both min_size and max_size")
        if not self.sizes and not 0 < self.min_size <= self.max_size:
            raise inside(("max_size",), "must be at least min_size, and min_size above 0")
        if not self.sizes and len(self.message_sizes()) > _MOST_SIZES:
            raise inside(("factor",), f"makes more than {_MOST_SIZES} sizes")
        return self

    def message_sizes(self) -> list[float]:
        """All message sizes [bytes], in the order in which they run."""
        if self.sizes:
            return list(self.sizes)
        sizes = [self.min_size]
        while sizes[-1] * self.factor <= self.max_size * (1 + 1e-12) and len(sizes) <= _MOST_SIZES:
            sizes.append(sizes[-1] * self.factor)
        return sizes

    def build(self, ranks: int) -> TaskGraph:
        """One operation for each size and repeat, one after the other on every rank's communication stream."""
        if self.collective == "send_recv" and ranks != 2:
            raise InputError(f"send_recv joins 2 ranks, the job has {ranks}")
        if KINDS[self.collective].rooted and self.root >= ranks:
            raise InputError(f"root {self.root} is none of the job's {ranks} ranks")
        algorithm = self.algorithm or KINDS[self.collective].default
        tasks = TaskGraphBuilder(ranks)
        for size in self.message_sizes():
            label = f"{self.collective} {SIZE.format(size)}"
            operation = Operation(
                self.collective, size, tuple(range(ranks)), algorithm, root=self.root, label=label, **self.by_library
            )
            for _ in range(self.repeats):
                tasks.collective(operation, label)
        return tasks.build()
