"""What a user may choose about how traffic is controlled; every network model takes what it can show of it."""

from typing import ClassVar

from pydantic import Field

from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.parameters import TRANSPORTS, Packets, Ports
from simnet.network.packet_level.settings import problems, settings_of
from simnet.params import Name, Params, tagged


class TrafficClass(Params):
    """Policies of some of the traffic; what is not set is the network's own."""

    load_balancing: tagged(LOAD_BALANCERS) | None = Field(
        None, description="how its flows choose among paths of equal cost"
    )
    congestion_control: tagged(CONGESTION_CONTROLS) | None = Field(
        None, description="how its senders react to congestion (model: packet)"
    )
    transport: tagged(TRANSPORTS) | None = Field(None, description="how its lost packets are recovered (model: packet)")
    priority: int = Field(
        0, ge=0, le=7, description="which of the queues of a port it has, see `ports.priorities` (model: packet)"
    )


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

    classes: dict[Name, TrafficClass] = Field(
        {}, description="classes of traffic with policies of their own, by the names that `traffic_class` of jobs uses"
    )

    @property
    def balancers(self) -> list[Params]:
        """Load balancing of every class of traffic by its number, the network's own first."""
        return [self.load_balancing, *(c.load_balancing or self.load_balancing for c in self.classes.values())]

    def class_number(self, name: str | None) -> int:
        """Number of a class of traffic, as `FlowGraph.traffic_class` has it; 0: the network's own."""
        return 0 if name is None else 1 + list(self.classes).index(name)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Where these settings contradict each other on packets: the keys of one of them, and what is wrong."""
        return problems(settings_of(self))
