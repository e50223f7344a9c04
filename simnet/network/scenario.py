"""What a network model is built from, the same for every model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from simnet.network.model import LinkChange, Progress
from simnet.network.policies import Policies
from simnet.topology.routing import Router
from simnet.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Scenario:
    """A network, what happens to it, and what is to be seen of it; a model takes what it can show.

    changes: of links, in any order. bins: intervals of time for which utilization is kept, an even number; 0: no more
    than the totals need. record: note start and delivery of every flow. probes: connections whose windows and rates
    are sampled, the first so many, or those between devices (source, destination). progress: told of a run under way.
    """

    topology: Topology
    seed: int
    policies: Policies = field(default_factory=Policies)
    changes: Sequence[LinkChange] = ()
    bins: int = 0
    record: bool = False
    probes: int | Sequence[tuple[int, int]] = 0
    progress: Progress | None = None

    @cached_property
    def router(self) -> Router:
        """Routes while all links work: made once, for whoever asks for routes in this network."""
        return Router(self.topology)
