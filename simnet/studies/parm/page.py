"""The page of the study: what the paper gives, what is inferred, and every number beside the paper's."""

from simnet.studies.parm import Findings, by_hand, models
from simnet.studies.parm.grid import GIVEN, GROUPS, INFERRED
from simnet.studies.parm.runs import BASELINE, S1, S2
from simnet.studies.parm.tables import (
    DERIVED,
    DERIVED_SHARES,
    PUBLISHED,
    Row,
    average_by,
    choice,
    extremes,
    groups_of,
    markdown,
)
from simnet.studies.parm.testbeds import COPY, READINGS
from simnet.units import SIZE, TIME

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
_WHY_APART = (
    ", beside the averages that others derived by hand. For the all-to-all among all ranks those take PipeMoE's fit, "
    "3.55e-10 s/B; here nothing but the NIC limits it, 3.07e-10 s/B. With either number the same formulas, SAA wholly "
    "hidden, give the two columns in between: where the simulation is more than 10 % above the derived averages, this "
    "is why; in reading `copy` another reason is that SAA has copies to three peers under way at once, at N_MP = 4. It "
    "is below the formulas where SAA hides less than all of its all-gather, most so in reading `link`, in which both "
    "share the path of a GPU"
)
_AXES = (
    "The bars are averages over all layers of the grid with that value; as (1, 1) is not in it, those of N_MP = 1 are "
    "of N_ESP = 2 and 4 alone, and the other way round. B and L enter a layer as their product alone."
)


def readme(findings: Findings) -> str:
    """The page: what is given, what is inferred, and every number beside the paper's."""
    sections = [
        "# Parm: MoE layers under model, expert and expert-sharding parallelism",
        _INTRODUCTION,
        "## What the paper gives, and what is inferred",
        markdown(["given", "value"], GIVEN.items()),
        markdown(["inferred", "value, and why"], INFERRED.items()),
        markdown(["rate inside a node, two readings", "meaning"], [(f"`{k}`", v) for k, v in READINGS.items()]),
        "## Speedups over DeepSpeed-MoE",
        _overview(findings),
        *(_by_group(findings, gpus) for gpus in clusters(findings)),
        *(_shown(f"speedups_{slug(findings, *key)}") for key in findings.layers),
        _AXES,
        "## Communication in the baseline",
        _shares(findings),
        *(_shown(f"communication_{gpus}gpus") for gpus in clusters(findings)),
        "## S1 or S2",
        _choices(findings),
        *(_shown(f"s1_or_s2_{gpus}gpus") for gpus in clusters(findings)),
        _ablations(findings),
        "## Models with experts",
        _models(findings),
        *([_sweep(findings)] if findings.sweep else []),
        "## One layer in time",
        *(_shown(f"timelines_{gpus}gpus") for gpus in clusters(findings)),
        "## Files",
        markdown(["file", "what it has"], _FILES),
    ]
    return "\n\n".join(sections) + "\n"


def clusters(findings: Findings) -> list[str]:
    """Numbers of GPUs, as they were asked for."""
    return list(dict.fromkeys(gpus for gpus, _ in findings.layers))


def _shown(picture: str) -> str:
    return f"![{picture}]({picture}.png)"


def _named(findings: Findings) -> list[tuple[str, list[Row]]]:
    return [
        (f"{gpus} GPUs" + (f", `{reading}`" if (gpus, COPY) in findings.layers else ""), rows)
        for (gpus, reading), rows in findings.layers.items()
    ]


def _overview(findings: Findings) -> str:
    lines = [["the paper, both clusters", "1,296", PUBLISHED["smallest"], "-", PUBLISHED["largest"], "-", "-"]]
    for name, rows in _named(findings):
        low, mean, high = extremes(rows)
        apart = [f"{value / PUBLISHED[key] - 1:+.0%}" for key, value in (("smallest", low), ("largest", high))]
        lines.append([name, f"{len(rows):,}", f"{low:.2f}", f"{mean:.2f}", f"{high:.2f}", *apart])
    left = ", ".join(_left_out(findings, gpus) for gpus in findings.out_of_memory)
    table = markdown(
        ["", "layers", "smallest", "mean", "largest", "smallest to the paper's", "largest to the paper's"], lines
    )
    return f"{table}\n\nLeft out because the baseline needs more memory than a GPU has: {left}."


def _left_out(findings: Findings, gpus: str) -> str:
    sizes = [row["memory"] for row in findings.out_of_memory[gpus]]
    needed = f" (up to {SIZE.format(max(sizes))} a GPU)" if sizes else ""
    return f"{len(sizes)} of {findings.configurations:,} on {gpus} GPUs{needed}"


def _by_group(findings: Findings, gpus: str) -> str:
    readings = {
        reading: average_by(rows, groups_of, "speedup")
        for (key, reading), rows in findings.layers.items()
        if key == gpus
    }
    columns = {f"`{reading}`": averages for reading, averages in readings.items()}
    text = f"Average speedup on {gpus} GPUs by (N_MP, N_ESP)"
    if gpus == "32":
        derived = {"derived": DERIVED} | {
            f"by formula, {beta:.3g} s/B": by_hand.averages(beta) for beta in (by_hand.FITTED, by_hand.NIC_ONLY)
        }
        apart = {
            f"{name} / derived": {group: averages[group] / DERIVED[group] for group in averages}
            for name, averages in columns.items()
        }
        columns |= derived | apart
        text += _WHY_APART
    lines = [
        [
            f"({group[0]}, {group[1]})",
            *(f"{values[group]:.2f}" if group in values else "-" for values in columns.values()),
        ]
        for group in GROUPS
    ]
    return f"{text}:\n\n{markdown(['(N_MP, N_ESP)', *columns], lines)}"


def _shares(findings: Findings) -> str:
    lines = []
    for name, rows in _named(findings):
        by = average_by(rows, "expert_sharding", "share")
        lines.append([name, *(f"{by[n]:.0%}" for n in sorted(by))])
    lines.append(["32 GPUs, by hand", *(f"{value:.0%}" for value in DERIVED_SHARES.values())])
    near = _near_published(findings)
    return (
        "Share of a layer's time, average by N_ESP. The paper's figure is 60 %, without the settings it belongs to. "
        "What is sent grows with M, what experts compute with M x H: the share depends on N_ESP and H above all, and "
        "not on N_MP, but that (1, 1) is not in the grid.\n\n"
        + markdown(["", *(f"N_ESP = {n}" for n in DERIVED_SHARES)], lines)
        + f"\n\n{near}"
    )


def _near_published(findings: Findings) -> str:
    """Which settings give the paper's share."""
    sentences = []
    for name, rows in _named(findings):
        near = [row for row in rows if abs(row["share"] - PUBLISHED["share"]) <= 0.05]
        groups = ", ".join(map(str, sorted({groups_of(row) for row in near})))
        widths = ", ".join(f"{width:,}" for width in sorted({row["expert_hidden"] for row in near}))
        where = f", with (N_MP, N_ESP) = {groups} and H = {widths}" if near else ""
        sentences.append(f"- {name}: {len(near):,} of {len(rows):,} layers are within 5 points of 60 %{where}.")
    return "\n".join(sentences)


def _choices(findings: Findings) -> str:
    lines = []
    for name, rows in _named(findings):
        found = choice(rows)
        lines.append([name, f"{found['s1']:.0%}", f"{found['right']:.1%}", f"{found['worst']:.2%}"])
    head = ["", "S1 faster, of N_MP > 1", "`parm_auto` right", "largest loss of its choice"]
    return (
        "`parm_auto` chooses by alpha-beta pairs that `simnet calibrate` measures on the same cluster; it is right "
        "where its schedule is the one that the simulation finds faster. On 8 GPUs the all-gather of S2 and its "
        "all-to-all share the path of each GPU: nothing is hidden, and S1, which gathers less, wins. On 32 GPUs it is "
        "the reading that decides: it says how much of a GPU's path the all-to-all leaves to an all-gather.\n\n"
        + markdown(head, lines)
    )


def _ablations(findings: Findings) -> str:
    """What the overlap of SAA is worth, and Parm beside other baselines: average ratios of times, and their range."""
    lines = []
    for name, rows in _named(findings):
        several = [row for row in rows if row["model_parallel"] > 1]
        lines.append([
            name, _ratio(several, "parm_s2_no_overlap", S2), _ratio(rows, "pipelined", "parm_auto"),
            _ratio(rows, "two_level_all_to_all", "parm_auto"), _ratio(rows, "deepspeed_moe_training", "parm_auto"),
        ])  # fmt: skip
    head = ["", "S2 without SAA / S2", "pipelined / Parm", "two-level / Parm", "training path / Parm"]
    return (
        "Further ratios of times, as mean (smallest to largest): what the overlap of SAA is worth (below 1: its "
        "launches, one a step, cost more than it hides), and what Parm gains over DeepSpeed-MoE in two chunks that "
        "hide computing (below 1: hiding it, which Parm does not, is worth more), over DeepSpeed-MoE with all-to-alls "
        "in two levels, and over DeepSpeed's training path. The latter has no ESP all-gather, cannot be the paper's "
        "baseline, and runs only where N_ESP divides N_MP:\n\n" + markdown(head, lines)
    )


def _ratio(rows: list[Row], above: str, below: str) -> str:
    """Mean and range of a ratio of times over the rows that have both."""
    ratios = [row[above] / row[below] for row in rows if row[above] is not None]
    if not ratios:
        return "-"
    return f"{sum(ratios) / len(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _models(findings: Findings) -> str:
    lines = []
    for row in findings.models:
        low, high = models.DERIVED[row["moe_every"]]
        lines.append([
            row["model"], f"{row['gpus']}, `{row['reading']}`", "every" if row["moe_every"] == 1 else "every other",
            *(TIME.format(row[schedule], 4) for schedule in (BASELINE, S1, S2)), f"{row['speedup']:.2f}",
            f"{low} to {high}" if row["gpus"] == 32 else "-",
        ])  # fmt: skip
    head = ["", "GPUs", "FFNs with experts", "DeepSpeed-MoE", "S1", "S2", "speedup", "derived"]
    return (
        "One iteration of BERT-Base (512 tokens) and GPT-2 small (1,024 tokens), with 4 samples a GPU, top-2, capacity "
        "factor 1.2, N_MP = N_ESP = 4: forward and backward, all-reduce of the gradients of what are no experts, "
        f"optimizer. The speedup is that of the faster one of S1 and S2: {_ranges(findings)}. The paper says about 3 "
        "and no more; in which feed-forward networks it has experts is not known.\n\n" + markdown(head, lines)
    )


def _ranges(findings: Findings) -> str:
    """The speedups of models, by how many feed-forward networks have experts."""
    ranges = []
    for every, words in ((1, "with experts in every feed-forward network"), (2, "in every other one")):
        low, _, high = extremes([row for row in findings.models if row["moe_every"] == every])
        ranges.append(f"{low:.2f} to {high:.2f} {words}")
    return ", ".join(ranges)


def _sweep(findings: Findings) -> str:
    lines = [[rate, *(f"{value:.2f}" for value in extremes(rows))] for rate, rows in findings.sweep.items()]
    layers = max(len(rows) for rows in findings.sweep.values())
    return (
        "## 8 GPUs: how much depends on the guessed rate inside the server\n\n"
        f"{layers} layers, spread over the grid, with other rates of a GPU's PCIe path:\n\n"
        + markdown(["rate", "smallest", "mean", "largest"], lines)
    )


def slug(findings: Findings, gpus: str, reading: str) -> str:
    """Of the names of files: the cluster, and the reading where there are two."""
    return f"{gpus}gpus" + (f"_{reading}" if (gpus, COPY) in findings.layers else "")
