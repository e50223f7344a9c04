"""Topologies from files that other programs wrote."""

from simnet.topology.importers import nccl_xml

IMPORTERS = {"nccl_xml": nccl_xml.read}
"""Formats: path -> Topology."""

SUFFIXES = {".xml": "nccl_xml"}
"""Which row of IMPORTERS reads a file, by the end of its name."""
