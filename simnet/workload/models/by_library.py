"""What every workload may say of the communication library that runs its collectives."""

from typing import Any

from pydantic import Field, PositiveInt

from simnet.params import Params, row_name
from simnet.workload.collectives.library import CONSTANTS

Protocol = row_name(CONSTANTS.protocols)
Version = row_name(CONSTANTS.versions)


class ByLibrary(Params):
    """How a communication library is to run collectives; without any of these, it runs those with algorithm auto."""

    protocol: Protocol | None = Field(
        None, description="of the library; default the fastest where algorithm is auto, else no library's latencies"
    )
    channels: PositiveInt | None = Field(
        None, description="thread blocks of a GPU that a collective of the library uses; default as many as it has"
    )
    library: Version | None = Field(None, description="version of the library; default nccl where one is used")

    gpus_per_thread: PositiveInt = Field(
        1, description="GPUs on which one host thread launches kernels in turn, as with -g of nccl-tests"
    )

    @property
    def by_library(self) -> dict[str, Any]:
        """The same, as `Operation` takes it."""
        return {
            "protocol": self.protocol, "channels": self.channels, "library": self.library,
            "threads": self.gpus_per_thread,
        }  # fmt: skip
