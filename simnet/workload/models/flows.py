"""Flows that arrive at random with sizes of production traffic, as studies of congestion control load a network."""

from functools import cached_property

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from simnet.errors import InputError
from simnet.params import InputPath, Params, inside, row_name
from simnet.units import Rate, Time
from simnet.workload.flow_sizes import FLOW_SIZES, FlowSizes
from simnet.workload.importers import flow_sizes as cdf_file
from simnet.workload.models.traffic import single_operation
from simnet.workload.task_graph import TaskGraph
from simnet.workload.traffic import Traffic, traffic

_MOST_FLOWS = 10_000_000


class Flows(Params):
    """Flows between random pairs of ranks, in Poisson arrivals at a load, with sizes drawn from a distribution.

    Every rank starts load x link_rate / mean size flows per second, each to any other rank alike.
    """

    load: float = Field(gt=0, le=2, description="bytes that each rank sends per second, as a part of link_rate")
    link_rate: Rate = Field(description="rate of a rank's link, of which the load is a part")
    sizes: row_name(FLOW_SIZES) | None = Field(None, description="published distribution of flow sizes; or give a cdf")
    cdf: InputPath | None = Field(None, description="file of lines '<bytes> <share of flows up to that size>'")
    duration: Time | None = Field(None, description="how long flows arrive; or give a count")
    count: PositiveInt | None = Field(None, le=_MOST_FLOWS, description="how many flows arrive, of all ranks together")
    seed: NonNegativeInt = Field(1, description="of arrivals, pairs and sizes")

    @model_validator(mode="after")
    def _one_of_each(self):
        for a, b in (("sizes", "cdf"), ("duration", "count")):
            if (getattr(self, a) is None) == (getattr(self, b) is None):
                raise inside((a,), f"needs either {a} or {b}")
        if self.duration == 0:
            raise inside(("duration",), "must be above 0")
        return self

    @cached_property
    def distribution(self) -> FlowSizes:
        """The distribution of sizes. Raises InputError where the file is none."""
        return FLOW_SIZES[self.sizes] if self.sizes else cdf_file.read(self.cdf)

    def build(self, ranks: int) -> TaskGraph:
        """One operation of all flows. Raises InputError."""
        return single_operation(self.flows(ranks), ranks, f"flows at load {self.load:g}")

    def flows(self, ranks: int) -> Traffic:
        """The table of flows among so many ranks, in the order of their starts. Raises InputError."""
        if ranks < 2:
            raise InputError(f"flows need at least 2 ranks, the job has {ranks}")
        generator = np.random.default_rng(self.seed)
        gap = self.distribution.mean / (self.load * self.link_rate * ranks)  # [s] between arrivals anywhere
        count = self.count
        if count is None:
            if self.duration / gap > _MOST_FLOWS:
                raise InputError(f"duration: makes about {self.duration / gap:.3g} flows, more than {_MOST_FLOWS}")
            count = int(generator.poisson(self.duration / gap))
        if self.count:
            start = np.cumsum(generator.exponential(gap, count))
        else:
            # arrivals of a Poisson process of known number are spread uniformly
            start = np.sort(generator.uniform(0.0, self.duration, count))
        source = generator.integers(0, ranks, count)
        destination = (source + generator.integers(1, ranks, count)) % ranks
        return traffic(source, destination, self.distribution.draw(generator.random(count)), start)
