"""The command line: the only room that prints or exits.

Commands import what they need when they run, so that `simnet --help` answers at once.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import simnet
from simnet.errors import InputError, SimnetError

COMPLETED, INTERRUPTED, FAILED = 0, 130, 1
_EXIT_CODES = {"completed": COMPLETED, "aborted": INTERRUPTED}  # of the status of a result; anything else FAILED

app = typer.Typer(
    help="Simulate distributed machine-learning training on a cluster.",
    epilog="Exit codes: 0 completed, 1 stalled or failed, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
topology_app = typer.Typer(no_args_is_help=True)
app.add_typer(topology_app, name="topology", help="Look at a cluster, or bring your own.")


def main() -> None:
    """Run the command line; what is the user's to mend goes to stderr without a traceback."""
    with _interrupts() as interrupted:
        try:
            app(prog_name="simnet")
        except SimnetError as error:
            print(error, file=sys.stderr)
            sys.exit(error.exit_code)
        except MemoryError:
            print("not enough memory for so large a simulation", file=sys.stderr)
            sys.exit(FAILED)
        except OverflowError as error:
            print(f"a number is too large to count with ({error}): look at rates, sizes and times", file=sys.stderr)
            sys.exit(InputError.exit_code)
        except Exception:
            if not interrupted:
                raise
            sys.exit(INTERRUPTED)  # Ctrl-C while kernels are compiled comes out as an error of the compiler


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that is no longer empty once Ctrl-C was pressed."""
    seen: list[int] = []

    def note(number, frame):
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else the caller wants it otherwise, as nohup does
        signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


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
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=c", help="Put a value into the experiment; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the result goes. [default: a new results/NAME-N]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=c", help="Put a value into the experiment; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where all goes; runs that are there already are not repeated. "
            "[default: a new results/compare-NAME-N]",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at the same time. [default: one per core]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at the same time. [default: one per core]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at the same time. [default: one per core]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    topology: Annotated[
        str, typer.Argument(metavar="TOPOLOGY", help="A file (topology or experiment) or the kind of a builder.")
    ],
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


_Topology = Annotated[
    str, typer.Argument(metavar="TOPOLOGY", help="A file (topology or experiment) or the kind of a builder.")
]
_TopologySet = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="key=value", help="What the file does not say, or a parameter of the builder; may be repeated."
    ),
]


@topology_app.command("show")
def topology_show(
    topology: _Topology,
    route: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Print the route from device A to device B instead.")
    ] = None,
    set_: _TopologySet = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it, too.")] = None,
) -> None:
    """Print devices, links and distances of a cluster, or the route between two devices hop by hop."""
    from simnet.cli.output import console
    from simnet.cli.topology import check_picture, draw_topology, show_route, show_topology, topology_of

    if picture:
        check_picture(picture)
    built = topology_of(topology, set_ or [])
    if route:
        show_route(console(), built, *route)
    else:
        show_topology(console(), built)
    if picture:
        draw_topology(console(), built, picture)


@topology_app.command("import")
def topology_import(
    topology: _Topology,
    to: Annotated[Path, typer.Option(metavar="FILE.yaml", help="Where the topology goes, in simnet's own format.")],
    set_: _TopologySet = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there already.")] = False,
) -> None:
    """Write a topology in simnet's own format, and print what was assumed about it."""
    from simnet.cli.output import console
    from simnet.cli.topology import import_topology

    import_topology(console(), topology, set_ or [], to, overwrite)


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
