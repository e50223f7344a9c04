"""Writes the tables of docs/experiment.md from the JSON Schema, and the pictures of the pages.

`make docs` runs it. What stands above the tables is written by hand; a test tells when they are out of date.
"""

from pathlib import Path
from typing import Any

import simnet
from simnet.experiment import schema
from simnet.figures import FIGURES, to_png, topology
from simnet.network import CONGESTION_CONTROLS, LOAD_BALANCERS, TRANSPORTS
from simnet.params import Params
from simnet.topology import TopologyFile
from simnet.topology.builders import FABRICS, NODES, SERVERS
from simnet.topology.builders.fabric import Fabric
from simnet.topology.builders.server import ServerParams
from simnet.workload import WORKLOADS
from simnet.workload.moe.routing import ROUTINGS

PAGE = Path(__file__).parent / "experiment.md"
FIRST = "## All keys\n"
TOPOLOGIES = ("dgx_a100_x4_rail",)
PICTURES = {
    "sparse_skewed": "timeline",
    "data_parallel_gpt2": "timeline",
    "link_failure": "utilization",
    "packet_incast": "queues",
    "packet_classes": "windows",
}


def page() -> str:
    """The whole page."""
    whole = schema()
    models = whole["$defs"]
    by_hand = PAGE.read_text().partition(FIRST)[0]
    sections = [
        f"{by_hand}{FIRST}\nDefaults stand in brackets; keys without one are needed, or left out at will. "
        "Names in brackets such as [HPCC] are sources; [models.md](models.md#network-model-packet) says which.",
        _section("The experiment", whole),
        _section("`network`", models["Network"]),
        _section("Each of `network.classes`", models["TrafficClass"]),
        _section("Each of `network.changes`", models["Change"]),
        _section("Each of `jobs`", models["Job"]),
        _section("`output`", models["Output"]),
        _section("Each of `output.probes`", models["Probe"]),
        "## Servers\n\nA server is a topology of its own, or the `node` of a fabric.",
        *_family(SERVERS | NODES, models, ServerParams, "pcie_server"),
        "## Topologies in files",
        _section("Beside `file` of a topology or node", models["TopologyFile"]),
        "## Fabrics",
        *_family(FABRICS, models, Fabric, "leaf_spine"),
        "## Workloads",
        *_rows(WORKLOADS, models),
        _section("Each of `layers` of `data_parallel`", models["LayerParams"]),
        "## Routing of tokens (`routing` of `moe_layer`)",
        *_rows(ROUTINGS, models),
        _section("`calibration` of `moe_layer`", models["Calibration"]),
        _section("Each pair of a `calibration`", models["AlphaBeta"]),
        "## Load balancing",
        *_rows(LOAD_BALANCERS, models),
        "## The packet-level network (`model: packet`)",
        *(
            _section(f"`{name}` of `network`", models[model])
            for name, model in (("ports", "Ports"), ("packets", "Packets"))
        ),
        *(_section(f"`{name}` of `ports`", models[model]) for name, model in (("ecn", "Ecn"), ("pfc", "Pfc"))),
        _section("Each of `ports.priorities`", models["Priority"]),
        "## Congestion control",
        *_rows(CONGESTION_CONTROLS, models),
        "## Transports",
        *_rows(TRANSPORTS, models),
    ]
    return "\n\n".join(sections) + "\n"


def _family(table: dict[str, type[Params]], models: dict[str, Any], base: type[Params], plain: str) -> list[str]:
    """Sections of all rows of a table, then of the keys that those made from `base` share, as row `plain` has them."""
    shared = {key: _key(table[plain], models, key) for key in base.model_fields}
    others = [f"`{name}`" for name, row in table.items() if not issubclass(row, base)]
    but = f" but {' and '.join(others)}" if others else ""
    common = _section(f"Keys of all of them{but}", {"description": base.__doc__, "properties": shared})
    return [*_rows(table, models, base, shared), common]


def _rows(
    table: dict[str, type[Params]], models: dict[str, Any], base: type[Params] = Params, shared: dict | None = None
) -> list[str]:
    """A section for every row of a table, without the keys that are as in `shared` if it is made from `base`."""
    sections = []
    for name, row in table.items():
        model = models[row.__name__]
        known = shared or {} if issubclass(row, base) else {}
        keys = {key: _key(row, models, key) for key in model["properties"] if key != "kind"}
        keys = {key: value for key, value in keys.items() if value != known.get(key)}
        sections.append(_section(f"`kind: {name}`", {**model, "properties": keys}))
    return sections


def _key(row: type[Params], models: dict[str, Any], key: str) -> dict[str, Any]:
    """The schema of a key, with what the row, or the class that it has the key from, says of it."""
    fields = (cls.model_fields[key] for cls in row.__mro__ if issubclass(cls, Params) and key in cls.model_fields)
    description = next((field.description for field in fields if field.description), "")
    return {**models[row.__name__]["properties"][key], "description": description}


def _section(title: str, model: dict[str, Any]) -> str:
    """A heading, the model's description and a table of its keys."""
    keys = {name: key for name, key in model.get("properties", {}).items() if name not in ("kind", "provenance")}
    described = " ".join(model.get("description", "").split())
    if not keys:
        return f"### {title}\n\n{described}"
    rows = [f"| `{name}` | {_type(key)} | {key.get('description', '')}{_default(key)} |" for name, key in keys.items()]
    return "\n".join([f"### {title}", "", described, "", "| key | value | meaning |", "|---|---|---|", *rows])


def _type(key: dict[str, Any]) -> str:
    """What a value looks like, in a word or two."""
    if "examples" in key:
        return f"such as `{key['examples'][0]}`"
    if "enum" in key:
        values = [f"`{value}`" for value in key["enum"]]
        return f"one of {', '.join(values)}" if len(values) <= 8 else "a name; see `simnet list`"
    if "const" in key:
        return f"`{key['const']}`"
    if "oneOf" in key:
        named = [choice.get("$ref", "").endswith("File") for choice in key["oneOf"]]
        kinds = len(named) - sum(named) > 1
        return "a mapping" + " with a `kind`" * kinds + " or a `file`" * any(named)
    if "anyOf" in key:
        return " or ".join(dict.fromkeys(_type(choice) for choice in key["anyOf"] if choice.get("type") != "null"))
    if key.get("type") == "array":
        inner = key.get("items") or (key.get("prefixItems") or [{}])[0]
        return "a list" if "$ref" in inner else f"a list, each {_type(inner)}"
    if "$ref" in key or key.get("type") == "object":
        return "a mapping"
    return {"integer": "integer", "number": "number", "boolean": "true or false", "string": "text"}[key["type"]]


def _default(key: dict[str, Any]) -> str:
    default = key.get("default")
    if isinstance(default, dict) and "kind" in default:
        return f" [{default['kind']}]"
    if default is None or default in ("", [], {}) or isinstance(default, (dict, list)):
        return ""
    return f" [{str(default).lower() if isinstance(default, bool) else default}]"


def draw(experiment: str, figure: str) -> None:
    """Run a shipped experiment and keep one figure of it."""
    path = PAGE.parent / "pictures" / f"{experiment}.png"
    result = simnet.run(PAGE.parents[1] / "experiments" / f"{experiment}.yaml")
    path.write_bytes(to_png(FIGURES[figure](result)))


def draw_topology(name: str) -> None:
    """Keep a picture of a shipped topology."""
    built = TopologyFile(file=PAGE.parents[1] / "topologies" / f"{name}.yaml").build()
    (PAGE.parent / "pictures" / f"{name}.png").write_bytes(to_png(topology.draw(built)))


if __name__ == "__main__":
    PAGE.write_text(page())
    for name in TOPOLOGIES:
        draw_topology(name)
    for experiment, figure in PICTURES.items():
        draw(experiment, figure)
