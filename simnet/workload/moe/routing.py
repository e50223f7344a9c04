"""How tokens choose experts: evenly, or some experts more than others, anew in every step.

Adding a row: a Params class with `counts(layer, step)`, the choices of every rank's part of the tokens [P, E] or None.
"""

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, model_validator

from simnet.errors import InputError
from simnet.params import Params, inside
from simnet.workload.moe.layer import Layer


class Balanced(Params):
    """Every expert gets as much as it can take; buffers are padded to the capacity, as in Parm's experiments."""

    def counts(self, layer: Layer, step: int) -> None:
        """None: the capacity decides."""
        return None


class Zipf(Params):
    """Experts differ in popularity by a Zipf law, and which one is hot changes from step to step."""

    exponent: NonNegativeFloat = Field(
        1.0, le=10, description="the n-th most popular expert has n^-exponent of the first"
    )
    seed: NonNegativeInt = Field(1, description="of which expert is hot, and of what tokens choose")

    def counts(self, layer: Layer, step: int) -> np.ndarray:
        """Choices drawn from the popularities, which no expert exceeds that every token has chosen."""
        generator = np.random.default_rng([self.seed, step])
        popularity = np.arange(1, layer.experts + 1, dtype=np.float64) ** -self.exponent
        chosen = generator.permutation(chosen_share(popularity, layer.top_k))
        tokens = max(1, round(layer.tokens / layer.model_parallel))
        drawn = generator.multinomial(layer.top_k * tokens, chosen / layer.top_k, size=layer.ranks)
        return np.minimum(drawn, tokens) * (layer.tokens / layer.model_parallel / tokens)


class Table(Params):
    """Experts get given shares of the tokens, step after step."""

    shares: tuple[tuple[NonNegativeFloat, ...], ...] = Field(
        min_length=1, description="a row per step, which start again when they are through: a weight for every expert"
    )

    @model_validator(mode="after")
    def _something_to_share(self):
        for i, row in enumerate(self.shares):
            if sum(row) == 0:
                raise inside(("shares", i), "needs a weight above 0")
        return self

    def counts(self, layer: Layer, step: int) -> np.ndarray:
        """Choices in proportion to the weights, alike on all ranks. Raises InputError."""
        row = np.array(self.shares[step % len(self.shares)])
        if len(row) != layer.experts:
            raise InputError(f"routing.shares: has {len(row)} weights in a row, the layer has {layer.experts} experts")
        choices = layer.top_k * layer.tokens / layer.model_parallel * row / row.sum()
        return np.tile(choices, (layer.ranks, 1))


ROUTINGS: dict[str, type[Params]] = {"balanced": Balanced, "zipf": Zipf, "table": Table}


def chosen_share(popularity: np.ndarray, top_k: int) -> np.ndarray:
    """Share of the tokens that choose each expert [E, sum k, each at most 1], in proportion to popularity below 1."""
    share = np.zeros(len(popularity))
    open_ = np.ones(len(popularity), bool)
    while True:
        share[open_] = popularity[open_] * (top_k - np.count_nonzero(~open_)) / popularity[open_].sum()
        over = open_ & (share > 1)
        if not over.any():
            return share
        share[over], open_ = 1.0, open_ & ~over
