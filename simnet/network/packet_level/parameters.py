"""What a user may set about packets, ports and transports; controls bring defaults for what is not set."""

from math import nan
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from simnet.params import Params, inside
from simnet.units import RATE, SIZE, TIME, Rate, Size, Time

REFERENCE_RATE = RATE.parse("100Gbps")
ROW = 32  # numbers in a row of parameters in the kernels
NETWORK_RTT = ROW - 1  # slot in the row of a control: base RTT of the network [s], the largest of all connections


class Packets(Params):
    """Sizes of packets on the wire."""

    payload: Size = Field(SIZE.parse("4096B"), description="payload of a full packet; RoCE's largest MTU")
    header: Size = Field(SIZE.parse("64B"), description="headers and trailers of a data packet [UET]")
    ack: Size = Field(SIZE.parse("64B"), description="an acknowledgement, NACK, grant or trimmed header [UET]")
    int_records: Size = Field(SIZE.parse("42B"), description="INT on data packets and their acknowledgements [HPCC]")
    ack_every: int | None = Field(
        None, ge=1, le=64,
        description="packets for one acknowledgement, sooner for a mark, at the end of a message and where the sender "
        "waits for it; default 4 with nscc unless reps learns from them [UET], else 1 [HPCC]",
    )  # fmt: skip
    ack_priority: bool = Field(True, description="acknowledgements travel in the strictly served control class [HPCC]")

    @model_validator(mode="after")
    def _holds_something(self):
        for name in ("payload", "ack"):
            if getattr(self, name) < 1:
                raise inside((name,), "must be at least 1 byte")
        return self


class Ecn(Params):
    """Marking of data packets by the queue: not below kmin, up to pmax at kmax, always above (RED)."""

    kmin: Size = Field(description="queue from which packets may be marked")
    kmax: Size = Field(description="queue above which every packet is marked")
    pmax: float = Field(1.0, ge=0, le=1, description="probability of a mark at kmax")
    at: Rate | None = Field(None, description="link rate for which the thresholds hold; they scale with the link")
    when: Literal["departure", "arrival"] = Field(
        "departure",
        description="by the queue that a packet leaves behind, as [HPCC] and [UET], or by the one that it finds, as "
        "DCTCP's paper, which tells senders a queueing time later",
    )

    @model_validator(mode="after")
    def _in_order(self):
        if self.kmin > self.kmax:
            raise inside(("kmin",), f"must not be above kmax, got {SIZE.exact(self.kmin)} > {SIZE.exact(self.kmax)}")
        return self


class Pfc(Params):
    """Priority flow control: a switch pauses a link whose packets fill their part of its buffer."""

    xoff: Size | None = Field(None, description="bytes of one link at which it is paused; default: alpha x free buffer")
    xon: Size | None = Field(None, description="bytes at which it may go on; default: xoff less 3 kB [HPCC]")
    alpha: float = Field(1 / 8, gt=0, description="part of the free shared buffer that one link may fill [HPCC]")
    headroom: Size | None = Field(None, description="space for what arrives after XOFF; default: the bound of 802.1Q")

    @model_validator(mode="after")
    def _in_order(self):
        if self.headroom == 0:
            raise inside(("headroom",), "PFC without headroom loses what is under way; leave it out for the safe bound")
        if self.xoff is not None and self.xon is not None and self.xon > self.xoff:
            raise inside(("xon",), f"must not be above xoff, got {SIZE.exact(self.xon)} > {SIZE.exact(self.xoff)}")
        return self


class Loss(Params):
    """A link of the fabric that loses packets: with a probability, or one of them by its number."""

    link: tuple[str, str] = Field(description="two devices; packets from the first to the second are lost")
    probability: float | None = Field(None, ge=0, le=1, description="that a packet is lost")
    packet: int | None = Field(None, ge=1, description="the one packet that is lost, counted from 1")

    @model_validator(mode="after")
    def _one_way(self):
        if (self.probability is None) == (self.packet is None):
            raise inside(("packet",), "needs either probability or packet")
        return self


class Priority(Params):
    """A queue of its own at every port, for the classes of traffic of this priority; what is not set is as in ports."""

    weight: int = Field(1, ge=1, le=100, description="share of a port among the priorities that have something to send")
    strict: bool = Field(
        False, description="served before all that are not strict, and before strict ones of lower number"
    )
    ecn: Ecn | None = Field(None, description="marking, by the queue of this priority alone")
    pfc: Pfc | None = Field(None, description="pauses, of this priority alone")
    lossless: bool | None = Field(None, description="true: pauses, false: losses")
    queue: Size | None = Field(None, description="limit of this queue instead of the shared buffer")
    trimming: bool | None = Field(None, description="cut the payload of what does not fit instead of dropping it")


def _check_number(key: int | str) -> int:
    if str(key) not in "01234567" or len(str(key)) != 1:
        raise ValueError("priorities are numbered from 0 to 7")
    return int(key)


class Ports(Params):
    """Egress ports of switches: buffer, marking, pauses, trimming. What is not set comes with the control."""

    buffer: Size | None = Field(None, description="shared buffer of a switch; default 32 MB at 100 Gb/s, scaled [HPCC]")
    queue: Size | None = Field(None, description="limit of one port's queue instead of the shared buffer")
    alpha: float = Field(1.0, gt=0, description="part of the free buffer that one lossy queue may fill [CW]")
    ecn: Ecn | None = Field(None, description="marking; default: what the control needs")
    pfc: Pfc | None = Field(None, description="pauses; default: where the control needs a lossless network")
    credits: Size | None = Field(
        None,
        description="InfiniBand's flow control instead of pauses: input buffer per link and virtual lane",
    )
    virtual_lanes: int = Field(
        1,
        ge=1,
        le=15,
        description="queues with pauses or credits of their own per link; a packet starts in the first and takes the "
        "next after each link between groups (dragonfly) or, where there are none, switches",
    )
    priorities: dict[Annotated[int, BeforeValidator(_check_number)], Priority] = Field(
        {},
        description="what a priority, by its number, has otherwise than the ports; a class of traffic names its "
        "`priority`, all other traffic has 0",
    )
    lossless: bool | None = Field(
        None, description="false: no pauses even where the control brings them; true: pauses where it brings none"
    )
    trimming: bool | None = Field(None, description="cut the payload of what does not fit instead of dropping it")
    int_stamps: bool = Field(True, description="switches can stamp INT records, for controls that ask for them")
    losses: tuple[Loss, ...] = Field((), description="links whose wires lose packets")


class Transport(Params):
    """Base of a way to recover lost packets."""

    timeout: Time | None = Field(
        None,
        description="retransmission timeout; default 3 RTT + 100 us, where lossless at least 4 ms, with swift 1 ms",
    )


class GoBackN(Transport):
    """The receiver takes packets in order only; after a gap everything from there on is sent again (RoCE RC)."""

    reorder_window: int = Field(0, ge=0, le=4096, description="packets out of order that the receiver keeps")


class SelectiveRepeat(Transport):
    """The receiver takes packets in any order within a window; only what is missing is sent again (IRN)."""

    window: int = Field(1024, ge=64, le=65536, description="most packets in flight and kept out of order")
    duplicates: int = Field(0, ge=0, description="later packets after which a missing one is lost; 0: timeouts only")


class TrimNack(Transport):
    """Switches trim what does not fit; the receiver asks for each trimmed packet again (NDP, UEC)."""

    window: int = Field(1024, ge=64, le=65536, description="most packets in flight and kept out of order")


TRANSPORTS: dict[str, type[Transport]] = {
    "go_back_n": GoBackN,
    "selective_repeat": SelectiveRepeat,
    "trim_nack": TrimNack,
}


class Control(Params):
    """Base of a congestion control. It brings the transport and ports of its row where the user sets none."""

    transport: ClassVar[Transport] = GoBackN()
    ports: ClassVar[Ports] = Ports(pfc=Pfc())
    least_timeout: ClassVar[float] = 0.0  # [s] where none is set
    ack_every: ClassVar[int] = 1  # packets for one acknowledgement
    marking_bdps: ClassVar[tuple[float, float] | None] = None  # Kmin and Kmax in bandwidth-delay products
    link_credits: ClassVar[bool] = False  # InfiniBand's flow control instead of pauses
    needs_int: ClassVar[bool] = False
    needs_trimming: ClassVar[bool] = False

    def numbers(self) -> list[float]:
        """The kernels' `params`, see `numbers_of`; where a default depends on another field, that is resolved."""
        return numbers_of(self)


def numbers_of(params: Params) -> list[float]:
    """One number per field, in their order; a choice among words is its position, None is NaN."""
    fields = type(params).model_fields
    return [_number(getattr(params, name), fields[name].annotation) for name in fields if name != "kind"]


def _number(value, annotation) -> float:
    if isinstance(value, str):
        return float(get_args(annotation).index(value))
    return nan if value is None else float(value)


LOSSLESS_TIMEOUT = TIME.parse("4ms")  # only a lost acknowledgement or a failed link can make one fire
