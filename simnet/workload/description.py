"""What a workload file may say: tasks of compute, transfer and collective, or the parameters of a generator."""

from typing import Literal

from pydantic import Field, NonNegativeInt, create_model, model_validator

from simnet.params import Params, inside, row_name, tagged
from simnet.units import Size, Time, Work
from simnet.workload.collectives import ALGORITHMS, KINDS, algorithms_for
from simnet.workload.models import WORKLOADS
from simnet.workload.models.by_library import ByLibrary
from simnet.workload.models.precision import Precision
from simnet.workload.task_graph import STREAMS

_WRITTEN = {name: kind for name, kind in KINDS.items() if name != "traffic"}  # a table of flows is a workload


class ComputeTask(Params):
    """What a kernel does: operations and bytes moved, which its GPU turns into a time, or the time itself."""

    flops: Work = Field(0.0, description="floating-point operations")
    memory: Size = Field(0.0, description="bytes read and written in the GPU's memory")
    duration: Time | None = Field(None, description="the time it takes, whatever the GPU")

    @model_validator(mode="after")
    def _one_way(self):
        if (self.duration is None) == (self.flops == 0 and self.memory == 0):
            raise ValueError("needs either a duration, or flops or memory or both")
        return self


TransferTask = create_model(
    "TransferTask",
    __base__=Params,
    __doc__="Bytes from one rank to another.",
    **{"from": (NonNegativeInt, Field(description="rank that sends"))},
    to=(NonNegativeInt, Field(description="rank that receives")),
    size=(Size, Field(description="bytes sent")),
)


class CollectiveTask(ByLibrary):
    """A collective among the ranks of its task."""

    kind: row_name(_WRITTEN) = Field(description="the kind of collective")
    size: Size | None = Field(None, description="message size, as nccl-tests means it")
    algorithm: row_name(ALGORITHMS) | None = Field(None, description="how it goes; default depends on the kind")
    root: NonNegativeInt | None = Field(None, description="rank of the root; default the first of the task's ranks")
    matrix: tuple[tuple[Size, ...], ...] | None = Field(
        None, description="for all_to_all_v: what each of the task's ranks (rows) sends to each (columns)"
    )

    @model_validator(mode="after")
    def _consistent(self):
        if self.algorithm is not None and self.algorithm not in (allowed := algorithms_for(self.kind)):
            raise inside(("algorithm",), f"'{self.algorithm}' has no {self.kind}; allowed for it: {', '.join(allowed)}")
        if (self.kind == "all_to_all_v") != (self.matrix is not None):
            needs = "needs a matrix" if self.matrix is None else f"{self.kind} takes no matrix"
            raise inside(("matrix",), needs)
        if (self.size is None) == (self.matrix is None):
            raise inside(("size",), "missing key" if self.size is None else "follows from the matrix; leave it out")
        if self.root is not None and not KINDS[self.kind].rooted:
            raise inside(("root",), f"{self.kind} has no root")
        return self


class Task(Params):
    """One thing to do on one or more ranks."""

    name: str = Field(min_length=1, description="unique in the file")
    rank: NonNegativeInt | None = Field(None, description="the rank that does it; or give ranks")
    ranks: Literal["all"] | tuple[NonNegativeInt, ...] | None = Field(
        None, description="the ranks that do it, or 'all' (default); for a transfer they follow from it"
    )
    compute: ComputeTask | None = Field(None, description="a kernel that each of the ranks runs")
    transfer: TransferTask | None = Field(None, description="bytes from one rank to another")
    collective: CollectiveTask | None = Field(None, description="a collective among the ranks")
    stream: row_name(dict.fromkeys(STREAMS)) | None = Field(
        None, description="where it queues; default compute for compute tasks, communication for others"
    )
    traffic_class: str | None = Field(
        None, description="one of the experiment's `network.classes`; default that of the job"
    )
    after: tuple[str, ...] = Field((), description="names of tasks that must have ended")

    @model_validator(mode="after")
    def _one_of_each(self):
        given = [what for what in ("compute", "transfer", "collective") if getattr(self, what) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one of compute, transfer, collective; got {' and '.join(given) or 'none'}")
        if self.compute is not None and self.traffic_class is not None:
            raise inside(("traffic_class",), "a kernel has no traffic")
        if self.rank is not None and self.ranks is not None:
            raise inside(("ranks",), "give rank or ranks, not both")
        if self.transfer is not None and (self.rank, self.ranks) != (None, None):
            raise inside(("rank" if self.rank is not None else "ranks",), "the ranks of a transfer are its from and to")
        return self

    def members(self, ranks: int) -> tuple[int, ...]:
        """The ranks that take part, of `ranks`."""
        if self.transfer is not None:
            return getattr(self.transfer, "from"), self.transfer.to
        if self.rank is not None:
            return (self.rank,)
        return tuple(range(ranks)) if self.ranks in (None, "all") else self.ranks


class WorkloadContent(Params):
    """A task graph for a number of ranks, or a generated workload."""

    description: str = Field("", description="free text: what the workload shows")
    ranks: int | None = Field(None, ge=1, description="number of ranks of the task graph")
    precision: Precision = Field("fp16", description="format in which the tasks compute")
    tasks: tuple[Task, ...] = Field((), description="in the order in which streams take them up")
    workload: tagged(WORKLOADS) | None = Field(None, description="a generated workload, instead of tasks")

    @model_validator(mode="after")
    def _one_way(self):
        if bool(self.tasks) == (self.workload is not None):
            raise ValueError("needs either tasks or a workload")
        if self.tasks and self.ranks is None:
            raise inside(("ranks",), "missing key (number of ranks of the task graph)")
        if self.workload and self.model_fields_set & {"ranks", "precision"}:
            raise inside(("workload",), "has its own precision, and as many ranks as its job; leave out both")
        return self
