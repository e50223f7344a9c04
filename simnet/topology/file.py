"""A topology that stands in a file: simnet's own YAML, or what another program wrote."""

import inspect

from pydantic import Field

from simnet.errors import InputError
from simnet.hardware import GPUS, HOSTS, LINKS
from simnet.params import FileParams, InputPath, row_name
from simnet.topology.topology import Topology
from simnet.units import Rate, Time


class TopologyFile(FileParams):
    """A topology from a file: simnet's own YAML, or what another program wrote, of which `simnet list` has the formats.

    Beside `file` may stand what such a file does not say; each format takes what it lacks, and lists what it assumed.
    """

    node: InputPath | None = Field(None, description="topology file of the server that every host of a fabric is")
    gpu: row_name(GPUS) | None = Field(None, description="model of the GPUs")
    host: row_name(HOSTS) | None = Field(None, description="model of the host processors")
    pcie: row_name({name: 0 for name in LINKS if name.startswith("pcie")}) | None = Field(
        None, description="of all PCIe links"
    )
    nic_rate: Rate | None = Field(None, description="of the port of each NIC")
    link_rate: Rate | None = Field(None, description="of the link of a host to the fabric")
    link_latency: Time | None = Field(None, description="of one link of the fabric, with the device it leads to")

    def build(self) -> Topology:
        """Read the file in the format that its content or the end of its name tells. Raises InputError."""
        # builders take a TopologyFile as their node, and a file may name a builder
        from simnet.topology import native
        from simnet.topology.importers import importer_of

        importer = importer_of(self.file)
        read = native.read if importer is None else importer.read
        given = {key: getattr(self, key) for key in TopologyFile.model_fields if key != "file"}
        given = {key: value for key, value in given.items() if value is not None}
        known = list(inspect.signature(read).parameters)[1:]
        for key in given:
            if key not in known:
                takes = f"takes {', '.join(known)}" if known else "takes no options"
                raise InputError(f"{key}: {self.file.name} is of a format that {takes}")
        return read(self.file, **given)
