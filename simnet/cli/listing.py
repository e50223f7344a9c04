"""`simnet list`: every part that YAML accepts, straight from the tables, each with its first sentence.

`simnet list --parameters`: what may be set of load balancing, congestion control, transports and ports.
"""

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, get_args

from rich.console import Console

from simnet.cli.output import bullet, heading, show_table, table
from simnet.experiment import PLACEMENTS
from simnet.figures import FIGURES
from simnet.hardware import GPUS, HOSTS, LINKS, NICS, SWITCHES, Gpu, Host, LinkType, Nic, Switch
from simnet.hardware.sources import SOURCES as HARDWARE_SOURCES
from simnet.network import CONGESTION_CONTROLS, LOAD_BALANCERS, NETWORK_MODELS, TRANSPORTS, Policies, network_model
from simnet.params import Params
from simnet.topology.builders import FABRICS, NODES, SERVERS
from simnet.topology.importers import IMPORTERS
from simnet.units import COMPUTE_RATE, RATE, TIME
from simnet.workload import MODELS, WORKLOADS
from simnet.workload.collectives import ALGORITHMS, KINDS
from simnet.workload.moe import SCHEDULES

# what the descriptions of parameters name in brackets
SOURCES = {
    "HPCC": "ns-3 code of HPCC's authors, github.com/alibaba-edu/High-Precision-Congestion-Control",
    "TUB": "ns-3 code of PowerTCP's authors, github.com/inet-tub/ns3-datacenter",
    "CW": "ns-3 code of ConWeave's authors, github.com/conweave-project/conweave-ns3",
    "UET": "htsim of the Ultra Ethernet Consortium, github.com/ultraethernet/uet-htsim",
    "LNX": "Linux, Documentation/networking/ip-sysctl.rst",
    "M": "recalled from the paper or specification that is named, not verified",
}


def parts() -> dict[str, dict[str, str]]:
    """Sentences of all parts: {where YAML takes it: {name: sentence}}."""
    bare = {name: node for name, node in NODES.items() if name not in SERVERS}
    return {
        "Servers (kind of a topology, or of the node of a fabric)": {
            name: f"{first_sentence(server)}; {server.source}" for name, server in SERVERS.items()
        }
        | _sentences(bare),
        "Fabrics (kind of a topology)": _sentences(FABRICS),
        "Formats of topology files (file of a topology or node), besides simnet's own YAML": _sentences(
            {name: row.read for name, row in IMPORTERS.items()}
        ),
        "Workloads (kind of a job's workload)": _sentences(WORKLOADS),
        "Networks (model of a data_parallel workload)": {name: _network(network) for name, network in MODELS.items()},
        "MoE schedules (schedule of moe_layer and moe_model)": _sentences(SCHEDULES),
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
        "Links inside servers (pcie of a server)": {name: _link(link) for name, link in LINKS.items()},
        "NICs (port rates, for nic_rate of a server)": {name: _nic(nic) for name, nic in NICS.items()},
        "Switches (for buffer and link_latency of a fabric)": {name: _switch(row) for name, row in SWITCHES.items()},
        "Sources in brackets; [recall]: recalled, unverified; [assumed]: simnet's own choice": HARDWARE_SOURCES,
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


def parameters() -> dict[str, dict[str, dict[str, tuple[str, str]]]]:
    """What may be set of network policies: {where YAML takes it: {part: {parameter: (default, description)}}}."""
    ports, packets = Policies().ports, Policies().packets
    nested = {f"ports.{key}": _model_of(type(ports), key) for key in ("ecn", "pfc")}
    return {
        "Load balancing (network.load_balancing)": _of_rows(LOAD_BALANCERS),
        "Congestion control (network.congestion_control, model packet)": _of_rows(CONGESTION_CONTROLS),
        "Transports (network.transport, model packet)": _of_rows(TRANSPORTS),
        "Ports and packets (network.ports and network.packets, model packet)": {
            name: _parameters(model)
            for name, model in {"ports": type(ports), **nested, "packets": type(packets)}.items()
        },
    }


def show_parameters(out: Console, tables: Mapping[str, Mapping[str, Mapping[str, tuple[str, str]]]]) -> None:
    """Print what `parameters` returns: a table below every part."""
    for title, rows in tables.items():
        heading(out, title)
        for part, keys in rows.items():
            bullet(out, part if keys else f"{part}: nothing to set")
            grid = table("<", "<", "<")
            grid.show_header = False
            grid.columns[0].no_wrap = grid.columns[1].no_wrap = True
            for key, (default, meaning) in keys.items():
                grid.add_row(f"  {key}", default, meaning)
            if keys:
                show_table(out, grid)
    heading(out, "Sources in brackets")
    grid = table("<", "<")
    grid.show_header = False
    for name, source in SOURCES.items():
        grid.add_row(f"[{name}]", source)
    show_table(out, grid)


def _of_rows(rows: Mapping[str, type[Params]]) -> dict[str, dict[str, tuple[str, str]]]:
    return {name: _parameters(row) for name, row in rows.items()}


def _parameters(model: type[Params]) -> dict[str, tuple[str, str]]:
    """{parameter: (default as YAML would have it, description)}; '-': needed, or worked out as the description says."""
    fields = {name: field for name, field in model.model_fields.items() if name != "kind"}
    known = {name: field.default for name, field in fields.items() if not field.is_required()}
    written = model.model_construct(**known).model_dump(mode="json", include=set(known))
    return {name: (_written(written.get(name)), field.description or "") for name, field in fields.items()}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None or value == [] else f"{value:g}" if isinstance(value, float) else str(value)


def _model_of(model: type[Params], key: str) -> type[Params]:
    """The model of a key whose value is a mapping or left out."""
    return next(t for t in get_args(model.model_fields[key].annotation) if issubclass(t, Params))


def _sentences(table: Mapping[str, object]) -> dict[str, str]:
    return {name: first_sentence(part) for name, part in table.items()}


def _gpu(gpu: Gpu) -> str:
    peak, size, rate = COMPUTE_RATE.format(gpu.fp16), f"{gpu.memory_size / 1e9:g} GB", RATE.format(gpu.memory_rate)
    nvlink = f", {gpu.nvlinks} {gpu.nvlink}" if gpu.nvlinks else ""
    return (
        f"{peak} in fp16 (dense; {gpu.efficiency:.0%} achieved), {size} of memory at {rate}{nvlink}, {gpu.pcie}; "
        f"{gpu.source}"
    )


def _host(host: Host) -> str:
    return (
        f"{RATE.format(host.memory_rate)} into and out of memory, {RATE.format(host.socket_rate)} to the other socket; "
        f"{host.source}"
    )


def _link(link: LinkType) -> str:
    return f"{RATE.format(link.rate)} each way{_achieved(link.achieved)}; {link.source}"


def _nic(nic: Nic) -> str:
    return f"{RATE.format(nic.rate)}{_achieved(nic.achieved)}, {nic.kind}; {nic.source}"


def _switch(switch: Switch) -> str:
    buffer = f", buffer of {switch.buffer / 1e6:.1f} MB" if switch.buffer else ""
    latency = f", {TIME.format(switch.latency)} through it" if switch.latency else ""
    return f"{switch.ports} ports of {RATE.format(switch.rate)}{buffer}{latency}; {switch.source}"


def _achieved(rate: float) -> str:
    return f", {RATE.format(rate)} achieved" if rate else ""


def _network(network) -> str:
    layers = network.build(network.sequence)
    weights = sum(layer.parameters for layer in layers)
    return f"{weights / 1e6:,.1f} M weights in {len(layers)} layers"
