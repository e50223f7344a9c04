"""Presets of GPUs, links, NICs, switches and hosts with their sources, and the roofline that times a kernel.

The one place where rates of hardware live: builders and importers take theirs from these tables. Rates of links are
nominal data rates of one direction (line rate less encoding); what was measured stands beside them as `achieved`.
Sources in square brackets are spelled out in `simnet.hardware.sources`; [recall] marks general knowledge that
was not checked against a second source, [assumed] a choice of simnet's own.
"""

from simnet.hardware.gpus import GPUS, Gpu
from simnet.hardware.hosts import HOSTS, Host
from simnet.hardware.links import LINKS, LinkType, pcie_rate
from simnet.hardware.network import NICS, SWITCHES, Nic, Switch

__all__ = [
    "GPUS",
    "HOSTS",
    "LINKS",
    "NICS",
    "SWITCHES",
    "Gpu",
    "Host",
    "LinkType",
    "Nic",
    "Switch",
    "pcie_rate",
]
