"""The page of the study: what the paper gives, what is inferred, and every number beside the paper's."""

from simnet.studies.parm import Findings, sections
from simnet.studies.parm.grid import GIVEN, INFERRED
from simnet.studies.parm.tables import markdown
from simnet.studies.parm.testbeds import COPY, READINGS

_INTRODUCTION = (
    "Made by `simnet figures parm`. The Parm paper (arXiv 2407.00599) compares its schedules S1 and S2 with "
    "DeepSpeed-MoE. Of its text only the abstract and the first lines of the introduction could be read; schedules, "
    "message sizes and testbeds are derived from those, from the public kernel of SAA and from sibling papers of the "
    "same group, as `docs/moe.md` tells. Constants are measurements of those siblings or presets of the hardware; none "
    "is fitted to the speedups below. How near they come to collectives and experts that were measured, and which of "
    "those they miss, stands in `docs/moe.md`, too."
)
_FILES = (
    (
        "layers_*.csv",
        "a row per layer: its sizes, bytes that the baseline keeps on a GPU (`memory`), seconds of a forward and a "
        "backward pass under every schedule, what `parm_auto` chose (`chosen`), speedups over the baseline, and its "
        "share of communication (`share`). Layers that do not fit into memory have no times; the training path has "
        "none where it cannot run",
    ),
    ("models.csv", "seconds of an iteration of whole models; `speedup` is that of the faster one of S1 and S2"),
    ("*.png", "the pictures above"),
    ("timeline_*.json.gz", "what every rank did in the layers of the last picture, for ui.perfetto.dev"),
)
_AXES = (
    "The bars are averages over all layers of the grid with that value; as (1, 1) is not in it, those of N_MP = 1 are "
    "of N_ESP = 2 and 4 alone, and the other way round. B and L enter a layer as their product alone."
)


def readme(findings: Findings) -> str:
    """The page: what is given, what is inferred, and every number beside the paper's."""
    parts = [
        "# Parm: MoE layers under model, expert and expert-sharding parallelism",
        _INTRODUCTION,
        "## What the paper gives, and what is inferred",
        markdown(["given", "value"], GIVEN.items()),
        markdown(["inferred", "value, and why"], INFERRED.items()),
        markdown(["rate inside a node, two readings", "meaning"], [(f"`{k}`", v) for k, v in READINGS.items()]),
        "## Speedups over DeepSpeed-MoE",
        sections.overview(findings),
        *(sections.by_group(findings, gpus) for gpus in clusters(findings)),
        *(_shown(f"speedups_{slug(findings, *key)}") for key in findings.layers),
        _AXES,
        "## Communication in the baseline",
        sections.shares(findings),
        *(_shown(f"communication_{gpus}gpus") for gpus in clusters(findings)),
        "## S1 or S2",
        sections.choices(findings),
        *(_shown(f"s1_or_s2_{gpus}gpus") for gpus in clusters(findings)),
        sections.ablations(findings),
        "## Models with experts",
        sections.whole_models(findings),
        *([sections.rates_inside(findings)] if findings.sweep else []),
        "## One layer in time",
        *(_shown(f"timelines_{gpus}gpus") for gpus in clusters(findings)),
        "## Files",
        markdown(["file", "what it has"], _FILES),
    ]
    return "\n\n".join(parts) + "\n"


def clusters(findings: Findings) -> list[str]:
    """Numbers of GPUs, as they were asked for."""
    return list(dict.fromkeys(gpus for gpus, _ in findings.layers))


def slug(findings: Findings, gpus: str, reading: str) -> str:
    """Of the names of files: the cluster, and the reading where there are two."""
    return f"{gpus}gpus" + (f"_{reading}" if (gpus, COPY) in findings.layers else "")


def _shown(picture: str) -> str:
    return f"![{picture}]({picture}.png)"
