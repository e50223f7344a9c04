"""`simnet list`: every part that YAML accepts, straight from the tables, each with its first sentence."""

import re
from collections.abc import Mapping
from inspect import cleandoc

from rich.console import Console

from simnet.cli.output import heading, show_table, table
from simnet.experiment import PLACEMENTS
from simnet.figures import FIGURES
from simnet.hardware import GPUS, HOSTS, LINKS, Gpu, Host
from simnet.network import CONGESTION_CONTROLS, LOAD_BALANCERS, NETWORK_MODELS, TRANSPORTS, network_model
from simnet.topology.builders import FABRICS, NODES, SERVERS
from simnet.topology.importers import IMPORTERS
from simnet.units import COMPUTE_RATE, RATE
from simnet.workload import MODELS, WORKLOADS
from simnet.workload.collectives import ALGORITHMS, KINDS


def parts() -> dict[str, dict[str, str]]:
    """Sentences of all parts: {where YAML takes it: {name: sentence}}."""
    bare = {name: node for name, node in NODES.items() if name not in SERVERS}
    return {
        "Servers (kind of a topology, or of the node of a fabric)": _sentences(SERVERS | bare),
        "Fabrics (kind of a topology)": _sentences(FABRICS),
        "Formats of topology files (file of a topology or node), besides simnet's own YAML": _sentences(IMPORTERS),
        "Workloads (kind of a job's workload)": _sentences(WORKLOADS),
        "Networks (model of a data_parallel workload)": {name: _network(network) for name, network in MODELS.items()},
        "Placements (placement of a job), besides a list of GPUs": _sentences(PLACEMENTS),
        "Collectives": _sentences(KINDS),
        "Algorithms of collectives": {
            name: f"{first_sentence(row)} ({', '.join(row)})" for name, row in ALGORITHMS.items()
        },
        "Network models (network.model)": _sentences({name: network_model(name) for name in NETWORK_MODELS}),
        "Load balancing (network.load_balancing.kind)": _sentences(LOAD_BALANCERS),
        "Congestion control (network.congestion_control.kind, model packet)": _sentences(CONGESTION_CONTROLS),
        "Transports (network.transport.kind, model packet)": _sentences(TRANSPORTS),
        "GPUs (gpu of a server)": {name: _gpu(gpu) for name, gpu in GPUS.items()},
        "Processors (host of a server)": {name: _host(host) for name, host in HOSTS.items()},
        "PCIe (pcie of a server)": {
            name: f"{RATE.format(link.rate)} each way, nominal"
            for name, link in LINKS.items()
            if name.startswith("pcie")
        },
        "Pictures (simnet.figures.FIGURES)": _sentences(FIGURES),
    }


def first_sentence(part: object) -> str:
    """First sentence of a part's docstring, on one line, without the full stop."""
    paragraph = cleandoc(part.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return re.match(r"(.*?)(\.(?=\s+[A-Z`(])|\.?$)", paragraph)[1]


def show_parts(out: Console, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Print tables of sentences: {heading: {name: sentence}}."""
    for title, rows in tables.items():
        heading(out, title)
        grid = table("<", "<")
        grid.show_header = False
        grid.columns[0].no_wrap = True
        for name, sentence in rows.items():
            grid.add_row(name, sentence)
        show_table(out, grid)


def _sentences(table: Mapping[str, object]) -> dict[str, str]:
    return {name: first_sentence(part) for name, part in table.items()}


def _gpu(gpu: Gpu) -> str:
    peak, size, rate = COMPUTE_RATE.format(gpu.fp16), f"{gpu.memory_size / 1e9:g} GB", RATE.format(gpu.memory_rate)
    return f"{peak} in fp16 (dense), {size} of memory at {rate}"


def _host(host: Host) -> str:
    return (
        f"{RATE.format(host.memory_rate)} into and out of memory, {RATE.format(host.socket_rate)} to the other socket"
    )


def _network(network) -> str:
    layers = network.build(network.sequence)
    weights = sum(layer.parameters for layer in layers)
    return f"{weights / 1e6:,.1f} M weights in {len(layers)} layers"
