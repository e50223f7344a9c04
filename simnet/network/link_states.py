"""Links as they are now: their rates while changes come due, and the routes around those that have failed."""

import math

from simnet.network.model import LinkChange
from simnet.network.scenario import Scenario
from simnet.topology.routing import Router


class LinkStates:
    """The links of a scenario at the moment up to which its changes have been applied.

    rates [bytes/s]: of every link, 0: it has failed. router: of the links that work.
    """

    def __init__(self, scenario: Scenario):
        self.rates = scenario.topology.rates.copy()
        self.router = scenario.router
        self._changes = sorted(scenario.changes, key=lambda change: change.time)

    @property
    def next_change(self) -> float:
        """When the next change is due [s]; inf: none is left."""
        return self._changes[0].time if self._changes else math.inf

    def apply(self, until: float) -> tuple[list[LinkChange], bool]:
        """Make the changes up to `until` [s]; returns them, and whether links came or went, so that routes are void."""
        made, rerouted = [], False
        while self._changes and self._changes[0].time <= until:
            change = self._changes.pop(0)
            rerouted |= (change.rate > 0) != (self.rates[change.link] > 0)
            self.rates[change.link] = change.rate
            made.append(change)
        if rerouted:
            self.router = Router(self.router.topology, self.rates > 0)
        return made, rerouted
