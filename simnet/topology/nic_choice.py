"""Which NICs a device uses: the nearest of its server, which GPUs that are equally near share out."""

import numpy as np

from simnet.topology.server_paths import ServerPaths


class NicChoice:
    """The NICs of every device. on_fabric: bool per device, whether it sits on the fabric itself."""

    def __init__(self, paths: ServerPaths, on_fabric: np.ndarray):
        self._paths, self._on_fabric = paths, on_fabric
        self._devices = paths.topology.devices
        self._shares: dict[int, list[int]] = {}
        self._nearest: dict[int, list[int]] = {}

    def of(self, device: int) -> list[int]:
        """A device's part of its nearest NICs, which its channels take in turn; itself where it sits on the fabric."""
        if device not in self._shares:
            self._shares[device] = [device] if self._on_fabric[device] else self._share(device)
        return self._shares[device]

    def _share(self, device: int) -> list[int]:
        nearest = self._nearest_to(device)
        if not nearest or self._devices[device].kind != "gpu":
            return nearest
        gpus = [g for g in self._paths.members(device) if self._devices[g].kind == "gpu"]
        alike = [g for g in gpus if self._nearest_to(g) == nearest]
        turn = alike.index(device)
        return nearest[turn :: len(alike)] or [nearest[turn % len(nearest)]]

    def _nearest_to(self, device: int) -> list[int]:
        """The NICs of a device's server that are equally near to it, and nearer than any other."""
        if device not in self._nearest:
            costs = self._paths.costs(device)
            nics = [n for n in self._paths.members(device) if self._on_fabric[n] and n in costs]
            least = min((costs[n] for n in nics), default=0)
            self._nearest[device] = [n for n in nics if costs[n] == least]
        return self._nearest[device]
