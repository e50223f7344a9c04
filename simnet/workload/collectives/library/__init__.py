"""As a communication library does it: the algorithm and protocol that it expects to be fastest, with its latencies.

`choose` says what NCCL would take for an operation and how long that takes on links that others leave alone; `lower`
makes the flows of it, whose caps, delays and launch stand for the kernels, so that contention, failures and congestion
control act on them as on any others.
"""

from simnet.workload.collectives.library.choice import AUTO, Choice, Library
from simnet.workload.collectives.library.lowering import choose, lower
from simnet.workload.collectives.library.plans import PLANS
from simnet.workload.collectives.library.presets import CONSTANTS, Constants

__all__ = ["AUTO", "CONSTANTS", "PLANS", "Choice", "Constants", "Library", "choose", "lower"]
