"""What servers with NVLink share: its rate, which the model of their GPUs tells."""

from pydantic import Field, model_validator

from simnet.hardware import GPUS, LINKS
from simnet.params import inside
from simnet.topology.builders.server import ServerParams
from simnet.units import Rate


class NvlinkServer(ServerParams):
    """A server with NVLink, or AMD's xGMI."""

    nvlink_rate: Rate | None = Field(
        None, description="of all NVLinks of one GPU, each way; default that of the GPU's model"
    )

    @model_validator(mode="after")
    def _has_nvlinks(self):
        if not (self.nvlink_rate or GPUS[self.gpu].nvlinks):
            raise inside(("gpu",), f"no NVLinks are known of {self.gpu}; give an nvlink_rate")
        return self

    @property
    def nvlinks_rate(self) -> float:
        """Rate [bytes/s] of all NVLinks of one GPU, each way."""
        return self.nvlink_rate or GPUS[self.gpu].nvlink_rate

    @property
    def nvlink_latency(self) -> float:
        """Latency [s] of one NVLink."""
        return LINKS[GPUS[self.gpu].nvlink or "nvlink4"].latency
