"""Load balancing that every network model knows: how traffic is laid over the equal-cost paths of the fabric."""

from typing import Literal

from pydantic import Field

from simnet.params import Params


class Ecmp(Params):
    """Each connection is hashed to one of the equal-cost paths, switch by switch (seeded)."""

    hash: Literal["independent", "shared"] = Field(
        "independent",
        description="seed of the switches: one each, or one for all tiers, which then choose alike (polarisation) "
        "[HPCC: the switch's number is the seed]",
    )


class DModK(Params):
    """No hash: a tier takes the port that the destination's number says, modulo its ports, and the next the quotient.

    On a fat tree all shift permutations are free of conflicts (D-mod-k; Zahavi 2010, `ftree` of OpenSM).
    """


class Pinned(Params):
    """No hash: the path is pinned by the port of the destination (or source) at its leaf, above by its leaf's number.

    Meta's first scheme for RoCE (Gangidhar et al. 2024): ideal where racks are fully used, uneven where they are not.
    """

    by: Literal["destination", "source"] = Field(
        "destination", description="whose port counts; Gangidhar et al. 2024, section 4.2 [M: recalled, unverified]"
    )


class Spray(Params):
    """Every flow is split evenly over all equal-cost paths; packet by packet over `paths` hashed ones."""

    paths: int = Field(128, ge=1, le=65536, description="paths that the packets of a connection take [UET: 128 tried]")
    mode: Literal["round_robin", "random"] = Field(
        "round_robin",
        description="each path once, in an order drawn anew for every round, or one drawn for every packet [UET]",
    )


def rule_of(balancer: Params) -> str:
    """How switches choose among next hops of equal cost: a row of `topology.routing.RULES`."""
    if isinstance(balancer, Ecmp):
        return balancer.hash
    if isinstance(balancer, DModK):
        return "d_mod_k"
    return f"pinned_{balancer.by}" if isinstance(balancer, Pinned) else "independent"
