"""Parm's automatic choice: S1 or S2, whichever the alpha-beta model of the cluster says communicates faster.

Both compute the same, up to the gate, so that computing cancels out (arXiv 2407.00599). Needs a calibration.
"""

from simnet.errors import InputError
from simnet.workload.moe.calibration import Calibration
from simnet.workload.moe.layer import Layer
from simnet.workload.moe.schedules import parm_s1, parm_s2
from simnet.workload.moe.steps import LayerSteps
from simnet.workload.moe.tokens import Tokens

_CHOICES = {"parm_s1": parm_s1, "parm_s2": parm_s2}


def choose(layer: Layer) -> str:
    """'parm_s1' or 'parm_s2'. Raises InputError where the layer has no calibration, or one that lacks a pair."""
    times = {name: schedule.communication_time(layer, layer.calibration) for name, schedule in _CHOICES.items()}
    return min(times, key=times.get)


def forward(steps: LayerSteps) -> None:
    """The forward pass of the chosen schedule."""
    _CHOICES[choose(steps.layer)].forward(steps)


def backward(steps: LayerSteps) -> None:
    """The backward pass of the chosen schedule."""
    _CHOICES[choose(steps.layer)].backward(steps)


def dropped(tokens: Tokens) -> float:
    """Choices of tokens that found their expert full."""
    return _CHOICES[choose(tokens.layer)].dropped(tokens)


def note(layer: Layer) -> str:
    """What was chosen and why."""
    s1, s2 = (1e3 * schedule.communication_time(layer, layer.calibration) for schedule in _CHOICES.values())
    return f"parm_auto chose {choose(layer)}: a pass should communicate for {s1:.4g} ms with S1, {s2:.4g} ms with S2."


def problem(layer: Layer) -> str | None:
    """Why the layer cannot have this schedule."""
    if layer.calibration is None:
        return "calibration: parm_auto needs that of the cluster; 'simnet calibrate TOPOLOGY' measures it"
    try:
        choose(layer)
    except InputError as error:
        return str(error)
    return None


def communication_time(layer: Layer, cost: Calibration) -> float:
    """min(S1, S2) [s], of one pass."""
    return min(schedule.communication_time(layer, cost) for schedule in _CHOICES.values())


def activations(layer: Layer) -> float:
    """Bytes that the forward pass of the chosen schedule keeps."""
    return _CHOICES[choose(layer)].activations(layer)
