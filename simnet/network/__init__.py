"""Network models behind one door (`model`), and the policies they take."""

from collections.abc import Callable
from importlib import import_module

from simnet.network.model import NetworkModel
from simnet.network.packet_level.congestion_control import CONGESTION_CONTROLS
from simnet.network.packet_level.load_balancing import LOAD_BALANCERS
from simnet.network.packet_level.parameters import TRANSPORTS
from simnet.network.policies import Policies, TrafficClass
from simnet.network.scenario import Scenario

__all__ = [
    "CONGESTION_CONTROLS",
    "LOAD_BALANCERS",
    "NETWORK_MODELS",
    "TRANSPORTS",
    "Policies",
    "Scenario",
    "TrafficClass",
    "kernels_of",
    "network_model",
]

# Where each model lives; imported when it is used, because kernels take a while to load.
NETWORK_MODELS: dict[str, str] = {
    "analytic": "simnet.network.analytic:AnalyticModel",
    "flow": "simnet.network.flow_level.model:FlowModel",
    "packet": "simnet.network.packet_level.model:PacketModel",
}


def network_model(name: str) -> Callable[[Scenario], NetworkModel]:
    """The class of a network model, a row of NETWORK_MODELS."""
    module, _, attribute = NETWORK_MODELS[name].partition(":")
    return getattr(import_module(module), attribute)


def kernels_of(name: str) -> str:
    """The room of a network model's kernels, as `jit.compiled_before` takes it."""
    return NETWORK_MODELS[name].split(".")[2].split(":")[0]
