"""What collectives mean: one row a kind, with the definitions of message size and bus bandwidth of nccl-tests.

Size S is the whole buffer of a rank; for all_gather and reduce_scatter that is the large side. Algorithm bandwidth is
S / time, bus bandwidth is that times `bus_factor`, which makes it comparable with the rate of a link whatever the
number of ranks n (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md).
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of collective among n ranks with buffers of S bytes.

    bus_factor(n): bus bandwidth / algorithm bandwidth. default: the algorithm taken where none is named.
    total(n): bytes / S that all ranks together send at least, where no switch reduces or copies; None: the matrix says.
    sent(n): bytes / S that every rank sends by definition; None: the algorithm or the matrix decides.
    rooted: one member is the root.
    """

    doc: str
    bus_factor: Callable[[int], float]
    default: str
    total: Callable[[int], float] | None
    sent: Callable[[int], float] | None = None
    rooted: bool = False

    def __post_init__(self):
        object.__setattr__(self, "__doc__", self.doc)


IN_NETWORK = ("nvls", "nvls_tree", "collnet")
"""Algorithms in which switches add up and copy what passes through them."""


def _others(n: int) -> float:
    return (n - 1) / n


def _one(n: int) -> float:
    return 1.0


KINDS: dict[str, Kind] = {
    "all_reduce": Kind(
        "Every rank gets the sum over all ranks of S bytes.",
        lambda n: 2 * (n - 1) / n, "ring", lambda n: 2 * (n - 1),
    ),
    "all_gather": Kind(
        "Every rank gets the S / n bytes of each rank, S in all.",
        _others, "ring", lambda n: n - 1,
    ),
    "reduce_scatter": Kind(
        "Every rank gets its S / n bytes of the sum over all ranks.",
        _others, "ring", lambda n: n - 1,
    ),
    "broadcast": Kind(
        "Every rank gets the S bytes of the root.",
        _one, "ring", lambda n: n - 1, rooted=True,
    ),
    "reduce": Kind(
        "The root gets the sum over all ranks of S bytes.",
        _one, "ring", lambda n: n - 1, rooted=True,
    ),
    "all_to_all": Kind(
        "Every rank sends S / n bytes to each rank, its own part included, which stays off the wire.",
        _others, "direct", lambda n: n - 1, sent=_others,
    ),
    "all_to_all_v": Kind(
        "Every rank sends every rank what a matrix says; S is the largest buffer of a rank.",
        _others, "direct", None,
    ),
    "send_recv": Kind(
        "The first of two ranks sends S bytes to the second.",
        _one, "direct", _one,
    ),
    "traffic": Kind(
        "Flows between pairs of ranks, each with its own size and start; S is the largest buffer of a rank.",
        _one, "scheduled", None,
    ),
}  # fmt: skip
