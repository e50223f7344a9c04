"""Load balancing that every network model knows: how traffic is laid over the equal-cost paths of the fabric."""

from pydantic import Field

from simnet.params import Params


class Ecmp(Params):
    """Each connection is hashed to one of the equal-cost paths, switch by switch (seeded)."""


class Spray(Params):
    """Every flow is split evenly over all equal-cost paths; packet by packet over `paths` hashed ones."""

    paths: int = Field(128, ge=1, le=65536, description="paths that the packets of a connection take in turn")
