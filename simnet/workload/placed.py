"""Where the ranks of a job are placed, as far as workloads may care: in which server, on which GPU."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Placed:
    """By rank: the name of its server, the model of its GPU ('' unknown), the GPU's memory [bytes, inf unknown]."""

    servers: tuple[str, ...]
    models: tuple[str, ...]
    memory: tuple[float, ...]
