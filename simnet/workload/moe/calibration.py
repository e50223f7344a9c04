"""Alpha-beta pairs of the collectives of an MoE layer on one cluster, by which parm_auto chooses its schedule."""

from functools import cached_property
from typing import Annotated, Any

from pydantic import Discriminator, Field, PositiveInt, Tag

from simnet import reader
from simnet.errors import InputError
from simnet.params import KIND_TAG, FileParams, Params
from simnet.units import Rate, Time


class AlphaBeta(Params):
    """Time of a collective with messages of n bytes: alpha + beta n."""

    alpha: Time = Field(description="time of an empty message")
    rate: Rate = Field(description="1 / beta: bytes of the message per second")

    def time(self, size: float) -> float:
        """alpha + size / rate [s]."""
        return self.alpha + size / self.rate


class Calibration(Params):
    """What `simnet calibrate` measures on a cluster; all groups of the ranks communicate at once, as in a layer.

    n is the buffer of a rank for all-to-alls and all-reduces, the gathered bytes for all-gathers and for SAA.
    """

    fused_all_to_all: AlphaBeta | None = Field(None, description="all-to-all among all ranks")
    all_to_all: dict[PositiveInt, AlphaBeta] = Field({}, description="within EP groups, by expert_sharding")
    two_level_all_to_all: dict[PositiveInt, AlphaBeta] = Field({}, description="the same, two-level")
    all_gather: dict[PositiveInt, AlphaBeta] = Field({}, description="within groups of consecutive ranks, by size")
    all_reduce: dict[PositiveInt, AlphaBeta] = Field({}, description="within groups of consecutive ranks, by size")
    saa: dict[PositiveInt, dict[PositiveInt, AlphaBeta]] = Field(
        {}, description="all-to-all with simultaneous all-gather, by model_parallel, then by expert_sharding"
    )

    @property
    def pairs(self) -> "Calibration":
        """Itself: what a file has, too."""
        return self

    def fused_time(self, size: float) -> float:
        """Seconds of the all-to-all among all ranks."""
        return self._known(self.fused_all_to_all, "fused_all_to_all").time(size)

    def all_to_all_time(self, sharding: int, size: float) -> float:
        """Seconds of the all-to-all within EP groups."""
        return self._known(self.all_to_all.get(sharding), f"all_to_all.{sharding}").time(size)

    def two_level_time(self, sharding: int, size: float) -> float:
        """Seconds of the two-level all-to-all within EP groups."""
        return self._known(self.two_level_all_to_all.get(sharding), f"two_level_all_to_all.{sharding}").time(size)

    def all_gather_time(self, members: int, size: float) -> float:
        """Seconds of an all-gather among `members` consecutive ranks."""
        return 0.0 if members == 1 else self._known(self.all_gather.get(members), f"all_gather.{members}").time(size)

    def all_reduce_time(self, members: int, size: float) -> float:
        """Seconds of an all-reduce among `members` consecutive ranks."""
        return 0.0 if members == 1 else self._known(self.all_reduce.get(members), f"all_reduce.{members}").time(size)

    def saa_time(self, members: int, sharding: int, size: float) -> float:
        """Seconds of an SAA that gathers `size` bytes in MP groups of `members`."""
        pair = self.saa.get(members, {}).get(sharding)
        return self._known(pair, f"saa.{members}.{sharding}").time(size)

    def _known(self, pair: AlphaBeta | None, name: str) -> AlphaBeta:
        if pair is None:
            raise InputError(f"calibration: has no {name}; measure it with 'simnet calibrate'")
        return pair


class _Content(Params):
    """What `simnet calibrate` writes."""

    calibration: Calibration


class CalibrationFile(FileParams):
    """A calibration in a file of its own, as `simnet calibrate --out` writes it."""

    @cached_property
    def pairs(self) -> Calibration:
        """What the file has. Raises InputError with all its problems."""
        return reader.load(self.file, _Content)[0].calibration


def _form(value: Any) -> str:
    is_file = isinstance(value, CalibrationFile) or (isinstance(value, dict) and "file" in value)
    return KIND_TAG + ("file" if is_file else "pairs")


CalibrationOrFile = Annotated[
    Annotated[Calibration, Tag(KIND_TAG + "pairs")] | Annotated[CalibrationFile, Tag(KIND_TAG + "file")],
    Discriminator(_form),
]
"""The pairs, or `{file: ...}` that has them."""
