"""What can go wrong, as exceptions for the person who wrote the YAML.

Every class takes one argument, the message: SimPy rebuilds a failed process's exception from its `args`.
"""


class SimnetError(Exception):
    """Base of everything simnet raises on purpose; `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(SimnetError):
    """The input is wrong. One problem a line, each 'file:line: path: what is wrong and what is allowed'."""

    exit_code = 2


class StalledError(SimnetError):
    """The task graph cannot finish; the message names the first blocked tasks and what they wait for."""


class UnreachableError(SimnetError):
    """A flow has no path to its destination, now or after any announced change of the network."""


class PhysicsError(SimnetError):
    """A collective finished faster than the links allow: a bug in simnet, never a result."""
