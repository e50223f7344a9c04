"""How far apart devices are, in the words of `nvidia-smi topo -m`."""

import heapq
from collections import defaultdict
from math import isclose

from simnet.hardware import GPUS, LINKS
from simnet.topology.topology import FABRIC_KINDS, Topology

WORDS = {
    "X": "itself",
    "NV#": "# NVLinks, directly or to an NVSwitch",
    "PIX": "one PCIe switch at most",
    "PXB": "several PCIe switches",
    "PHB": "a CPU",
    "SYS": "a link between CPUs",
    "NET": "the network",
    "-": "nothing",
}
"""Distances, and what lies between two devices at each. Host bridges of one CPU are not told apart: NODE is PHB."""

_FORWARDING = ("pcie_switch", "cpu")
_NVLINKS = ("nvlink4", "nvlink3_geforce", "nvlink5", "xgmi_mi300", "nvlink1")  # where the model of a GPU is not known


class Distances:
    """Distances within one topology."""

    def __init__(self, topology: Topology):
        self.topology = topology
        self._nvlinks: dict[tuple[int, int], float] = defaultdict(float)
        self._switches: dict[int, list[int]] = defaultdict(list)
        self._inside: dict[int, list[int]] = defaultdict(list)
        for link in topology.links:
            if link.kind == "nvlink":
                self._nvlinks[link.source, link.destination] += link.rate
                if topology.devices[link.destination].kind == "nvswitch":
                    self._switches[link.source].append(link.destination)
            elif link.kind not in FABRIC_KINDS:
                self._inside[link.source].append(link.destination)

    def words(self, a: int, others: list[int]) -> list[str]:
        """A word of WORDS for every one of `others`, seen from device `a`."""
        passed = self._passed(a)
        return [self._word(a, b, passed.get(b)) for b in others]

    def _word(self, a: int, b: int, passed: tuple[int, int] | None) -> str:
        if a == b:
            return "X"
        if rate := self._nvlink_rate(a, b):
            return f"NV{self._count(a, rate)}"
        if passed is not None:
            cpus, switches = passed
            return ("PIX" if switches < 2 else "PXB") if not cpus else "PHB" if cpus == 1 else "SYS"
        joined = self.topology.islands[a] == self.topology.islands[b]
        return "NET" if joined else "-"

    def _passed(self, start: int) -> dict[int, tuple[int, int]]:
        """CPUs and PCIe switches between a device and each that it reaches inside its server: fewest CPUs first."""
        best, queue = {start: (0, 0)}, [((0, 0), start)]
        while queue:
            passed, device = heapq.heappop(queue)
            kind = self.topology.devices[device].kind
            if passed > best[device] or (device != start and kind not in _FORWARDING):
                continue
            crossed = device != start
            total = passed[0] + (crossed and kind == "cpu"), passed[1] + (crossed and kind == "pcie_switch")
            for other in self._inside.get(device, ()):
                if other not in best or total < best[other]:
                    best[other] = total
                    heapq.heappush(queue, (total, other))
        return best

    def _nvlink_rate(self, a: int, b: int) -> float:
        """Rate [bytes/s] of the NVLinks between two devices or to the NVSwitch between them, 0 where there are none."""
        direct = self._nvlinks.get((a, b), 0.0)
        pairs = (((a, s), (s, b)) for s in self._switches.get(a, ()))
        through = (min(self._nvlinks[up], self._nvlinks[down]) for up, down in pairs if down in self._nvlinks)
        return max(direct, max(through, default=0.0))

    def _count(self, gpu: int, rate: float) -> str:
        """How many NVLinks make up a rate [bytes/s]; '' where that is no whole number."""
        model = self.topology.devices[gpu].model
        kinds = (GPUS[model].nvlink,) if model and GPUS[model].nvlinks else _NVLINKS
        counts = (rate / LINKS[kind].rate for kind in kinds)
        return next((str(round(n)) for n in counts if n > 0.5 and isclose(n, round(n), rel_tol=1e-6)), "")
