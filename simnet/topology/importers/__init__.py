"""Topologies from files that other programs wrote."""

from simnet.topology.importers import hpcc, htsim, nccl_xml

IMPORTERS = {"nccl_xml": nccl_xml.read, "htsim": htsim.read, "ns3": hpcc.read}
"""Formats: path -> Topology."""

SUFFIXES = {".xml": "nccl_xml", ".topo": "htsim", ".txt": "ns3"}
"""Which row of IMPORTERS reads a file, by the end of its name."""
