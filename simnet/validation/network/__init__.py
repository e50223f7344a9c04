"""The packet-level network against closed forms and what other simulators measured."""

from simnet.validation.cases import Case
from simnet.validation.network import balancing, incasts, lossless, published, steady, timing

_MODULES = (timing, incasts, steady, lossless, balancing, published)


def cases() -> list[Case]:
    """All figures of this suite."""
    return [case for module in _MODULES for case in module.cases()]
