"""The sections of the study's page that hold numbers, each beside what the paper or others say."""

from simnet.studies.parm import Findings, by_hand, models
from simnet.studies.parm.grid import GROUPS
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
from simnet.studies.parm.testbeds import COPY
from simnet.units import SIZE, TIME

_WHY_APART = (
    ", beside the averages that others derived by hand. For the all-to-all among all ranks those take PipeMoE's fit, "
    "3.55e-10 s/B; here nothing but the NIC limits it, 3.07e-10 s/B. With either number the same formulas, SAA wholly "
    "hidden, give the two columns in between: where the simulation is more than 10 % above the derived averages, this "
    "is why; in reading `copy` another reason is that SAA has copies to three peers under way at once, at N_MP = 4. It "
    "is below the formulas where SAA hides less than all of its all-gather, most so in reading `link`, in which both "
    "share the path of a GPU"
)


def _named(findings: Findings) -> list[tuple[str, list[Row]]]:
    return [
        (f"{gpus} GPUs" + (f", `{reading}`" if (gpus, COPY) in findings.layers else ""), rows)
        for (gpus, reading), rows in findings.layers.items()
    ]


def overview(findings: Findings) -> str:
    """Speedups over all layers of the grid, beside the range that the paper tells, and what is left out."""
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


def by_group(findings: Findings, gpus: str) -> str:
    """Average speedups by (N_MP, N_ESP), on 32 GPUs beside averages that others derived by hand."""
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


def shares(findings: Findings) -> str:
    """Shares of communication in the baseline by N_ESP, and which layers have the share that the paper tells."""
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


def choices(findings: Findings) -> str:
    """How often S1 is the faster one, and how often `parm_auto` chooses rightly."""
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


def ablations(findings: Findings) -> str:
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


def whole_models(findings: Findings) -> str:
    """Iterations of whole models with experts."""
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


def rates_inside(findings: Findings) -> str:
    """How speedups on 8 GPUs depend on the guessed rate inside the server."""
    lines = [[rate, *(f"{value:.2f}" for value in extremes(rows))] for rate, rows in findings.sweep.items()]
    layers = max(len(rows) for rows in findings.sweep.values())
    return (
        "## 8 GPUs: how much depends on the guessed rate inside the server\n\n"
        f"{layers} layers, spread over the grid, with other rates of a GPU's PCIe path:\n\n"
        + markdown(["rate", "smallest", "mean", "largest"], lines)
    )
