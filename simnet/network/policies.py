"""What a user may choose about how traffic is controlled; every network model takes what it can show of it."""

from typing import ClassVar

from pydantic import Field

from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.parameters import TRANSPORTS, Packets, Ports
from simnet.network.packet_level.settings import Settings
from simnet.params import Params, tagged


class Policies(Params):
    """Load balancing for every model; congestion control, transport, ports and packets for the packet-level one."""

    # what the flow-level and the analytic model can show
    fluid_balancers: ClassVar[tuple[str, ...]] = ("ecmp", "d_mod_k", "pinned", "spray")

    load_balancing: tagged(LOAD_BALANCERS) = Field(
        {"kind": "ecmp"}, validate_default=True, description="how flows choose among paths of equal cost"
    )
    congestion_control: tagged(CONGESTION_CONTROLS) = Field(
        {"kind": "dcqcn"} if "dcqcn" in CONGESTION_CONTROLS else {"kind": "none"},
        validate_default=True,
        description="how senders react to congestion (model: packet)",
    )
    transport: tagged(TRANSPORTS) | None = Field(
        None, description="how lost packets are recovered (model: packet); default: what the control brings"
    )
    ports: Ports = Field(Ports(), description="buffers, marking and pauses of switches (model: packet)")
    packets: Packets = Field(Packets(), description="sizes of packets (model: packet)")

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Where these settings contradict each other on packets: the keys of one of them, and what is wrong."""
        return Settings.of(self).problems()
