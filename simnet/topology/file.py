"""A topology that stands in a file: simnet's own YAML, or what another program wrote."""

from simnet.errors import InputError
from simnet.params import FileParams
from simnet.topology.topology import Topology


class TopologyFile(FileParams):
    """A topology from a file: simnet's own YAML, NCCL's topology XML, htsim's .topo, or topology.txt of ns-3."""

    def build(self) -> Topology:
        """Read the file in the format that the end of its name tells. Raises InputError."""
        # builders take a TopologyFile as their node, and a file may name a builder
        from simnet.topology import native
        from simnet.topology.importers import IMPORTERS, SUFFIXES

        suffix = self.file.suffix.lower()
        if suffix in native.SUFFIXES:
            return native.read(self.file)
        if suffix in SUFFIXES:
            return IMPORTERS[SUFFIXES[suffix]](self.file)
        known = ", ".join([*native.SUFFIXES, *SUFFIXES])
        raise InputError(f"{self.file}: no known format of topology has this ending; known: {known}")
