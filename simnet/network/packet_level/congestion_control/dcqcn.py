"""DCQCN (Zhu et al. 2015), in the form of the paper and in that of ConnectX adapters ("mlx" in HPCC's ns-3).

Rc is the rate, Rt its target, alpha the estimate of congestion.
  cut: Rt = Rc, Rc *= 1 - alpha / 2.   increase: Rc = (Rc + Rt) / 2 after a step of Rt: none at first (fast recovery),
  then R_AI (additive), then R_HAI (hyper).
  paper: the receiver answers marks with one notification (CNP) per 50 us. At a CNP: cut, alpha = (1 - g) alpha + g,
  timers and stages start anew; 55 us without a CNP: alpha *= 1 - g. A timer of 55 us (T) and a counter of 10 MB (B)
  increase: fast recovery while max(T, B) <= F, hyper (step i R_HAI, i = min(T, B) - F) when min(T, B) > F.
  mlx: every mark is answered. The first CNP sets alpha = 1 and starts three timers: alpha (1 us) takes in whether
  a CNP came, decrease (4 us) cuts if one came, increase (300 us, restarted by a cut): fast recovery while
  stage < F, additive at F, hyper above.
The timers are no events: what they would have done is made up for when the connection is next looked at.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from simnet.jit import kernel
from simnet.network.packet_level.parameters import REFERENCE_RATE, Control, Ecn, Pfc, Ports
from simnet.params import Params
from simnet.units import RATE, Rate, Size, Time


class _Form(Params):
    """What a form sets where the user does not."""

    additive: Rate
    hyper: Rate
    alpha_timer: Time
    cut_interval: Time
    increase_timer: Time
    byte_counter: Size
    stages: int


# Rates at 100 Gb/s. Paper: 40 and 400 Mb/s at 40 Gb/s. mlx: 5 and 50 Mb/s per 25 Gb/s; no byte counter.
_FORMS = {
    "mlx": _Form(
        additive="20Mbps", hyper="200Mbps", alpha_timer="1us", cut_interval="4us", increase_timer="300us",
        byte_counter=0, stages=1,
    ),
    "paper": _Form(
        additive="100Mbps", hyper="1Gbps", alpha_timer="55us", cut_interval="50us", increase_timer="55us",
        byte_counter="10MB", stages=5,
    ),
}  # fmt: skip


class Dcqcn(Control):
    """Rates of RoCE adapters: cut by marks that the receiver reports, raised by timers."""

    # 100 and 400 KB per 25 Gb/s [HPCC run.py]
    ports: ClassVar[Ports] = Ports(pfc=Pfc(), ecn=Ecn(kmin="400kB", kmax="1600kB", pmax=0.2, at="100Gbps"))

    form: Literal["mlx", "paper"] = Field("mlx", description="of ConnectX adapters as in HPCC's ns-3, or of the paper")
    additive: Rate | None = Field(
        None,
        description="R_AI at 100 Gb/s, scaled with the link; mlx 20 Mb/s [HPCC], paper 100 Mb/s (40 at 40 Gb/s; "
        "recalled, unverified)",
    )
    hyper: Rate | None = Field(
        None,
        description="R_HAI at 100 Gb/s, scaled with the link; mlx 200 Mb/s [HPCC], paper 1 Gb/s (400 Mb/s at 40 Gb/s; "
        "recalled, unverified)",
    )
    gain: float = Field(1 / 256, gt=0, le=1, description="g of the moving average of alpha [HPCC]")
    alpha_timer: Time | None = Field(None, gt=0, description="mlx 1 us [HPCC], paper 55 us (recalled, unverified)")
    cut_interval: Time | None = Field(
        None, gt=0, description="mlx: decrease timer 4 us [HPCC]; paper: CNP interval 50 us (recalled, unverified)"
    )
    increase_timer: Time | None = Field(None, gt=0, description="mlx 300 us [HPCC], paper 55 us (recalled, unverified)")
    byte_counter: Size | None = Field(
        None, description="paper form: bytes per increase, 0: none; 10 MB (recalled, unverified); mlx has none [HPCC]"
    )
    stages: int | None = Field(
        None, ge=0, description="F, increases before additive ones; mlx 1 [HPCC], paper 5 (recalled, unverified)"
    )
    minimum: Rate = Field(RATE.parse("1Gbps"), description="lowest rate at 100 Gb/s, scaled with the link [HPCC]")

    def numbers(self) -> list[float]:
        """See `Control.numbers`; what is not set comes from the form."""
        form = _FORMS[self.form]
        unset = {name for name in _Form.model_fields if getattr(self, name) is None}
        return super(Dcqcn, self.model_copy(update={name: getattr(form, name) for name in unset})).numbers()


(FORM, ADDITIVE, HYPER, GAIN, ALPHA_TIMER, CUT_INTERVAL, INCREASE_TIMER, BYTE_COUNTER, STAGES, MINIMUM) = range(10)
MLX = 0.0
(
    ALPHA, TARGET, STARTED, NEXT_ALPHA, NEXT_CUT, NEXT_INCREASE,
    TIMER_STAGE, BYTE_STAGE, BYTES_FROM, SEEN_BY_ALPHA, SEEN_BY_CUT,
) = range(11)  # fmt: skip
LAST_NOTICE, NOTICED = range(2)  # slots of k.receiver


@kernel
def start(k, params, now):
    """Line rate, no window."""
    k.window = np.inf
    k.rate = k.line_rate
    k.cc[TARGET] = k.line_rate
    k.cc[ALPHA] = 1.0


@kernel
def on_data(k, params, now, marked):
    """Paper: 1 for a mark at least 50 us after the last that was answered. mlx: 1 for every mark."""
    if params[FORM] == MLX or marked == 0:
        return marked
    if k.receiver[NOTICED] == 1.0 and now - k.receiver[LAST_NOTICE] < params[CUT_INTERVAL]:
        return 0
    k.receiver[NOTICED] = 1.0
    k.receiver[LAST_NOTICE] = now
    return 1


@kernel
def _cut(k, params):
    k.rate = max(k.rate * (1.0 - k.cc[ALPHA] / 2.0), params[MINIMUM] * (k.line_rate / REFERENCE_RATE))
    k.cc[TIMER_STAGE] = 0.0
    k.cc[BYTE_STAGE] = 0.0


@kernel
def _increase(k, params):
    """One increase of the rate, by the stages that have been counted."""
    scale = k.line_rate / REFERENCE_RATE
    least = min(k.cc[TIMER_STAGE], k.cc[BYTE_STAGE])
    most = max(k.cc[TIMER_STAGE], k.cc[BYTE_STAGE])
    if params[FORM] == MLX:  # its stage counts up after the step
        if k.cc[TIMER_STAGE] == params[STAGES]:
            k.cc[TARGET] += params[ADDITIVE] * scale
        elif k.cc[TIMER_STAGE] > params[STAGES]:
            k.cc[TARGET] += params[HYPER] * scale
        k.cc[TIMER_STAGE] += 1.0
    elif least > params[STAGES]:
        k.cc[TARGET] += (least - params[STAGES]) * params[HYPER] * scale
    elif most > params[STAGES]:
        k.cc[TARGET] += params[ADDITIVE] * scale
    k.cc[TARGET] = min(k.cc[TARGET], k.line_rate)
    k.rate = (k.rate + k.cc[TARGET]) / 2.0


@kernel
def _update_alpha(k, params, until):
    """Let the alpha timer run up to `until`: the first expiry takes in a CNP that has come, the others decay."""
    if k.cc[NEXT_ALPHA] > until:
        return
    expiries = np.floor((until - k.cc[NEXT_ALPHA]) / params[ALPHA_TIMER]) + 1.0
    k.cc[NEXT_ALPHA] += expiries * params[ALPHA_TIMER]
    k.cc[ALPHA] *= (1.0 - params[GAIN]) ** expiries
    if k.cc[SEEN_BY_ALPHA] == 1.0:
        k.cc[ALPHA] += params[GAIN] * (1.0 - params[GAIN]) ** (expiries - 1.0)
        k.cc[SEEN_BY_ALPHA] = 0.0


@kernel
def _run_increase_timer(k, params, until):
    while k.cc[NEXT_INCREASE] <= until:
        k.cc[NEXT_INCREASE] += params[INCREASE_TIMER]
        if params[FORM] != MLX:
            k.cc[TIMER_STAGE] += 1.0
        _increase(k, params)


@kernel
def _run_mlx(k, params, now):
    """What the three timers have done by `now`."""
    cut = k.cc[NEXT_CUT]
    if k.cc[SEEN_BY_CUT] == 1.0 and cut <= now:
        _run_increase_timer(k, params, cut)
        _update_alpha(k, params, cut)
        if k.cc[TIMER_STAGE] > 0.0:  # otherwise nothing was gained since the last cut, and the target stays
            k.cc[TARGET] = k.rate
        _cut(k, params)
        k.cc[SEEN_BY_CUT] = 0.0
        k.cc[NEXT_INCREASE] = cut + params[INCREASE_TIMER]
    if cut <= now:
        k.cc[NEXT_CUT] += (np.floor((now - cut) / params[CUT_INTERVAL]) + 1.0) * params[CUT_INTERVAL]
    _run_increase_timer(k, params, now)
    _update_alpha(k, params, now)


@kernel
def before_send(k, params, now):
    """Make up for what timers and byte counter have done."""
    if k.cc[STARTED] == 0.0:
        return
    if params[FORM] == MLX:
        _run_mlx(k, params, now)
        return
    _update_alpha(k, params, now)
    _run_increase_timer(k, params, now)
    if params[BYTE_COUNTER] > 0.0:
        while k.sent_bytes - k.cc[BYTES_FROM] >= params[BYTE_COUNTER]:
            k.cc[BYTES_FROM] += params[BYTE_COUNTER]
            k.cc[BYTE_STAGE] += 1.0
            _increase(k, params)


@kernel
def on_ack(k, params, now, feedback):
    """A CNP, if the acknowledgement carries one."""
    if feedback.marked == 0:
        return
    first = k.cc[STARTED] == 0.0
    k.cc[STARTED] = 1.0
    if params[FORM] != MLX:
        k.cc[TARGET] = k.rate
        _cut(k, params)
        k.cc[ALPHA] += params[GAIN] * (1.0 - k.cc[ALPHA])
        k.cc[NEXT_ALPHA] = now + params[ALPHA_TIMER]
        k.cc[NEXT_INCREASE] = now + params[INCREASE_TIMER]
        k.cc[BYTES_FROM] = k.sent_bytes
        return
    k.cc[SEEN_BY_CUT] = 1.0
    if first:
        k.cc[TARGET] = k.rate
        k.cc[NEXT_ALPHA] = now + params[ALPHA_TIMER]
        k.cc[NEXT_CUT] = now + params[CUT_INTERVAL]
        k.cc[NEXT_INCREASE] = now + params[INCREASE_TIMER]
    else:
        k.cc[SEEN_BY_ALPHA] = 1.0
