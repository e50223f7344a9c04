"""How traffic between two NICs is laid over the equal-cost paths of the fabric."""

from simnet.params import Params


class Ecmp(Params):
    """Each connection is hashed to one of the equal-cost paths, switch by switch (seeded)."""


class Spray(Params):
    """Every flow is split evenly over all equal-cost paths."""


LOAD_BALANCERS: dict[str, type[Params]] = {"ecmp": Ecmp, "spray": Spray}
