"""Where the tokens of one step go: what every rank sends to every expert, under the capacities of a schedule's gate."""

from dataclasses import dataclass

import numpy as np

from simnet.workload.moe.layer import Layer


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a layer in one step.

    counts [P, E]: how many of the k B L / N_MP choices of each rank's part of its MP group's tokens fall on each
    expert; None: every expert gets what it can take, and buffers are padded to the capacity.
    """

    layer: Layer
    counts: np.ndarray | None = None

    def paused(self) -> np.ndarray:
        """What every rank sends to every expert if it gates its part of the tokens [P, E]."""
        return self._kept(np.arange(self.layer.ranks)[:, None], self.layer.capacity / self.layer.model_parallel)

    def whole(self) -> np.ndarray:
        """The same if it gates all tokens of its MP group, as every member of the group does [P, E]."""
        return np.repeat(
            self._kept(np.array(self.layer.mp_groups), self.layer.capacity), self.layer.model_parallel, axis=0
        )

    def gathered(self) -> np.ndarray:
        """What a rank sends if it gates the inputs of its whole ESP group, as every member does [N_EP, E].

        Ranks of one MP group bring the same tokens, which are gated, and count, as often as they are brought.
        """
        layer = self.layer
        parts = [[part for rank in group for part in self._same_input(rank)] for group in layer.esp_groups]
        return self._kept(np.array(parts), layer.capacity * layer.expert_sharding)

    def _same_input(self, rank: int) -> tuple[int, ...]:
        return self.layer.mp_groups[rank // self.layer.model_parallel]

    def _kept(self, parts: np.ndarray, capacity: float) -> np.ndarray:
        """Tokens of the parts [n, m] that each of n gates lets through to each expert [n, E]."""
        if self.counts is None:
            return np.full((len(parts), self.layer.experts), capacity)
        return np.minimum(self.counts[parts].sum(axis=1), capacity)

    def dropped(self, kept: np.ndarray, copies: float) -> float:
        """Choices that were dropped, of all ranks' tokens; `kept` counts each choice `copies` times."""
        return 0.0 if self.counts is None else float(self.counts.sum() - kept.sum() / copies)

    def by_owner(self, kept: np.ndarray) -> np.ndarray:
        """Tokens that each sender has for each EP rank [n, N_EP]."""
        return kept.reshape(len(kept), self.layer.expert_parallel, -1).sum(axis=2)
