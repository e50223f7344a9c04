"""Distributions of flow sizes: what was published of production traffic, and tables of a user's own."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FlowSizes:
    """A cumulative distribution, linear between its points: a share `below` of all flows is at most `size` bytes."""

    doc: str
    size: tuple[float, ...]
    below: tuple[float, ...]

    def __post_init__(self):
        object.__setattr__(self, "__doc__", self.doc)

    @property
    def mean(self) -> float:
        """Mean size [bytes]: between two points sizes are spread evenly."""
        size, below = np.array(self.size), np.array(self.below)
        return float(np.sum(np.diff(below) * (size[1:] + size[:-1]) / 2))

    def draw(self, uniform: np.ndarray) -> np.ndarray:
        """Sizes [bytes, whole, at least 1] at which the distribution reaches numbers in [0, 1)."""
        return np.maximum(np.rint(np.interp(uniform, self.below, self.size)), 1.0)


def _percent(doc: str, *points: tuple[float, float]) -> FlowSizes:
    sizes, below = zip(*points)
    return FlowSizes(doc, tuple(map(float, sizes)), tuple(p / 100 for p in below))


# traffic_gen of github.com/alibaba-edu/High-Precision-Congestion-Control and github.com/conweave-project/conweave-ns3
FLOW_SIZES: dict[str, FlowSizes] = {
    "web_search": _percent(
        "Web search: mean 1.71 MB, most bytes in large flows (WebSearch of the HPCC simulator).",
        (0, 0), (10_000, 15), (20_000, 20), (30_000, 30), (50_000, 40), (80_000, 53), (200_000, 60),
        (1_000_000, 70), (2_000_000, 80), (5_000_000, 90), (10_000_000, 97), (30_000_000, 100),
    ),
    "fb_hadoop": _percent(
        "Facebook Hadoop: mean 120 kB, 60 % of the flows up to 1 kB (FbHdp of the HPCC simulator).",
        (0, 0), (100, 1), (200, 2), (300, 5), (350, 15), (400, 20), (500, 30), (600, 40), (700, 50), (1_000, 60),
        (2_000, 67), (7_000, 70), (30_000, 72), (50_000, 82), (80_000, 87), (120_000, 90), (300_000, 95),
        (1_000_000, 97.5), (2_000_000, 99), (10_000_000, 100),
    ),
    "ali_storage": _percent(
        "Alibaba block storage: mean 41 kB, at most 2 MB (AliStorage2019 of the HPCC simulator).",
        (0, 0), (4_000, 22.93), (8_000, 69.21), (16_000, 80.61), (32_000, 90.47), (64_000, 93.53), (128_000, 96.77),
        (256_000, 97.53), (2_000_000, 100),
    ),
    "solar": _percent(
        "Alibaba storage over Solar: mean 39 kB, at most 256 KiB (Solar2022 of the ConWeave simulator).",
        (0, 0), (4_095, 0.001), (4_096, 30), (16_383, 35), (16_384, 50), (65_535, 60), (65_536, 95), (262_144, 100),
    ),
}  # fmt: skip
"""Published distributions."""
