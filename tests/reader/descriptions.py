"""Small descriptions for the tests of the reader."""

from typing import Annotated, Literal

from pydantic import Field

from simnet.params import FileParams, Params, tagged
from simnet.units import TIME, Rate, Size, Time


class Ring(Params):
    """A ring."""

    k: int = Field(ge=2, description="number of devices")
    link_rate: Rate
    link_latency: Time = TIME.parse("1us")
    gain: float = Field(0.5, gt=0, le=1)


class Star(Params):
    """A hub."""

    arms: int
    hub: tagged({"fast": Ring, "slow": Ring}) | None = None


class ClusterFile(FileParams):
    """A cluster from a file."""


class Job(Params):
    """Work."""

    placement: Literal["packed", "round_robin"] | tuple[str, ...] = "packed"
    size: Literal["auto"] | Size = "auto"
    iterations: int = Field(1, ge=1)
    verbose: bool = False
    pair: tuple[int, int] | None = None


class Run(Params):
    """The whole."""

    name: str = "run"
    topology: tagged({"ring": Ring, "star": Star}, ClusterFile)
    jobs: tuple[Job, ...] = Field(min_length=1)
    slow: dict[str, Annotated[float, Field(ge=1)]] = Field({})
    table: dict[str, Job] = Field({})
