"""The commands and their options; each hands over to the module that does its work."""

from pathlib import Path
from typing import Annotated

import typer

import simnet
from simnet.cli.topology_commands import TopologyName, topology_app
from simnet.errors import InputError

COMPLETED, INTERRUPTED, FAILED = 0, 130, 1
_EXIT_CODES = {"completed": COMPLETED, "aborted": INTERRUPTED}  # of the status of a result; anything else FAILED

app = typer.Typer(
    help="Simulate distributed machine-learning training on a cluster.",
    epilog="Exit codes: 0 completed, 1 stalled or failed, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(topology_app, name="topology", help="Look at a cluster, or bring your own.")

_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="a.b=c", help="Put a value into the experiment; may be repeated."),
]
_Jobs = Annotated[int | None, typer.Option(min=1, metavar="N", help="Runs at the same time. [default: one per core]")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"simnet {simnet.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.yaml", help="What to simulate.")],
    set_: _Set = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the result goes. [default: a new results/NAME-N]")
    ] = None,
    quiet: _Quiet = False,
) -> None:
    """Simulate an experiment, print what happened and keep the result."""
    from simnet.cli.running import run_and_show

    result = run_and_show(experiment, set_ or [], out, quiet)
    raise typer.Exit(_EXIT_CODES.get(result.summary["status"], FAILED))


@app.command()
def compare(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.yaml", help="What to vary.")],
    vary: Annotated[
        list[str], typer.Option("--vary", metavar="a.b=c,d", help="A key and the values it takes; may be repeated.")
    ],
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Runs of each combination.")] = 1,
    set_: _Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where all goes; runs that are there already are not repeated. "
            "[default: a new results/compare-NAME-N]",
        ),
    ] = None,
    jobs: _Jobs = None,
    quiet: _Quiet = False,
) -> None:
    """Simulate all combinations of some settings and print them side by side, the best of each column marked."""
    from simnet.cli.comparing import compare_and_show

    try:
        completed = compare_and_show(experiment, vary, set_ or [], seeds, out, jobs, quiet)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(COMPLETED if completed else FAILED)


@app.command()
def validate(
    suites: Annotated[
        list[str] | None, typer.Argument(metavar="[SUITE]...", help="What to replay. [default: all that is not slow]")
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write every number as a list of objects.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw simulated against reference, a picture per suite.")
    ] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Write the page with all that.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Slow cases, too.")] = False,
    measured: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Compare with this output of nccl-tests instead.")
    ] = None,
    topology: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The machine of --measured; ranks sit on its first GPUs.")
    ] = None,
    collective: Annotated[
        str | None, typer.Option(metavar="KIND", help="Of --measured. [default: what the log or its name says]")
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Of --measured. [default: what the log says]")
    ] = None,
    jobs: _Jobs = None,
    quiet: _Quiet = False,
) -> None:
    """Replay published numbers and tell how close the simulation comes."""
    from simnet.cli.validating import Outputs, compare_log, validate_and_show

    outputs = Outputs(json_, plot, write, quiet)
    if measured is not None:
        if suites:
            raise InputError("--measured is a suite of its own; leave SUITE out")
        compare_log(measured, topology, collective, ranks, outputs)
    else:
        for option, value in (("--topology", topology), ("--collective", collective), ("--ranks", ranks)):
            if value is not None:
                raise InputError(f"{option} is of --measured, which is missing")
        validate_and_show(suites or [], all_, jobs, outputs)


@app.command()
def figures(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="parm: MoE schedules on 8 and 32 GPUs.")],
    gpus: Annotated[str, typer.Option(metavar="8|32|all", help="On which clusters.")] = "all",
    fast: Annotated[bool, typer.Option("--fast", help="One configuration of 20.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where all goes. [default: results/STUDY, or STUDY_fast]"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files of an earlier study.")] = False,
    jobs: _Jobs = None,
    quiet: _Quiet = False,
) -> None:
    """Run a whole study again and write its tables and pictures; an interrupted one goes on where it was."""
    from simnet.cli.studying import study_and_show

    directory = out or Path("results") / (f"{study}_fast" if fast else study)
    try:
        study_and_show(study, gpus, fast, directory, overwrite, jobs, quiet)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


@app.command()
def calibrate(
    topology: TopologyName,
    ranks: Annotated[int | None, typer.Option(min=2, metavar="N", help="Number of GPUs. [default: all]")] = None,
    groups: Annotated[str, typer.Option(metavar="N,N", help="Sizes of MP and of ESP groups.")] = "1,2,4",
    out: Annotated[Path | None, typer.Option(metavar="FILE.yaml", help="Write the pairs instead of printing.")] = None,
) -> None:
    """Fit alpha-beta pairs to the collectives of MoE layers on a cluster; schedule parm_auto chooses by them."""
    from simnet.cli.studying import calibrate_and_show

    calibrate_and_show(topology, ranks, groups, out)


@app.command()
def show(
    result_dir: Annotated[Path, typer.Argument(metavar="RESULT_DIR", help="What `simnet run` has left.")],
    figure: Annotated[
        tuple[str, Path] | None,
        typer.Option(metavar="NAME FILE", help="Draw this picture of it (see `simnet list`) into a PNG file instead."),
    ] = None,
) -> None:
    """Print what happened in a finished run, or draw a picture of it."""
    from simnet import result
    from simnet.cli.output import bullet, console, heading, show_result

    out, stored = console(), result.read(result_dir)
    if figure:
        from simnet.cli.drawing import draw

        draw(stored, *figure)
        return
    try:
        show_result(out, stored.summary, stored.experiment)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        reason = f"summary.json holds other figures than this version writes ({type(error).__name__}: {error})"
        raise InputError(f"the result in {result_dir} is damaged: {reason}") from None
    if "error" in stored.summary:
        heading(out, "Why it ended")
        bullet(out, stored.summary["error"])


@app.command("list")
def list_(
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters",
            help="Print instead what may be set of congestion control, load balancing, transports and ports: "
            "defaults, meanings, sources.",
        ),
    ] = False,
) -> None:
    """Print every part that YAML accepts, each with one sentence."""
    from simnet.cli import listing
    from simnet.cli.output import console

    if parameters:
        listing.show_parameters(console(), listing.parameters())
    else:
        listing.show_parts(console(), listing.parts())


@app.command()
def schema() -> None:
    """Print the JSON Schema of an experiment, with which editors complete and check YAML."""
    import json

    from simnet.experiment import schema

    print(json.dumps(schema(), indent=2))
