"""Names of an experiment, looked up in its topology, and what is wrong with them."""

from simnet.params import nearest
from simnet.reader import Location
from simnet.topology.topology import Topology

_LISTED = 8  # names in a message


class Finder:
    """Looks names up in a topology and collects problems: (location, sentence) pairs, and those of other files."""

    def __init__(self, topology: Topology):
        self.topology = topology
        self.problems: list[tuple[Location, str]] = []
        self.elsewhere: list[str] = []

    def device(self, name: str, location: Location) -> int | None:
        """Id of the device of that name; a problem and None if there is none."""
        try:
            return self.topology.id_of(name)
        except KeyError:
            names = [device.name for device in self.topology.devices]
            self.problem(location, f"no device {name!r} in the topology{nearest(name, names) or _some(names)}")
            return None

    def gpu(self, name: str, location: Location) -> int | None:
        """Id of the GPU of that name; a problem and None if there is none."""
        device = self.device(name, location)
        if device is not None and self.topology.devices[device].kind != "gpu":
            self.problem(location, f"'{name}' is a {self.topology.devices[device].kind}, not a gpu")
            return None
        return device

    def links(self, names: tuple[str, str], location: Location) -> list[int]:
        """Ids of the links between two devices, both ways; a problem if there are none."""
        ends = [self.device(name, (*location, i)) for i, name in enumerate(names)]
        if None in ends:
            return []
        links = [i for i, k in enumerate(self.topology.links) if sorted((k.source, k.destination)) == sorted(ends)]
        if not links:
            neighbours = [self.topology.links[i].destination for i in self.topology.leaving(ends[:1])]
            around = ", ".join(self.topology.names(dict.fromkeys(neighbours[:_LISTED])))
            joined = f"'{names[0]}' is joined to {around}" if around else f"'{names[0]}' has no links"
            self.problem(location, f"no link between '{names[0]}' and '{names[1]}'; {joined}")
        return links

    def problem(self, location: Location, sentence: str) -> None:
        """Note what is wrong at a place of the experiment."""
        self.problems.append((location, sentence))


def count(number: int, noun: str) -> str:
    """'1 GPU', '2 GPUs'."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _some(names: list[str]) -> str:
    return f"; it has {', '.join(names[:_LISTED])}" + (f" and {len(names) - _LISTED} more" if names[_LISTED:] else "")
