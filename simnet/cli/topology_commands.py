"""The commands `simnet topology ...`."""

from pathlib import Path
from typing import Annotated

import typer

topology_app = typer.Typer(no_args_is_help=True)

TopologyName = Annotated[
    str, typer.Argument(metavar="TOPOLOGY", help="A file (topology or experiment) or the kind of a builder.")
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="key=value", help="What the file does not say, or a parameter of the builder; may be repeated."
    ),
]


@topology_app.command("show")
def topology_show(
    topology: TopologyName,
    route: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Print the route from device A to device B instead.")
    ] = None,
    set_: _Set = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it, too.")] = None,
) -> None:
    """Print devices, links and distances of a cluster, or the route between two devices hop by hop."""
    from simnet.cli.output import check_picture, console
    from simnet.cli.topology import draw_topology, show_route, show_topology, topology_of

    if picture:
        check_picture("--picture", picture)
    built = topology_of(topology, set_ or [])
    if route:
        show_route(console(), built, *route)
    else:
        show_topology(console(), built)
    if picture:
        draw_topology(console(), built, picture)


@topology_app.command("import")
def topology_import(
    topology: TopologyName,
    to: Annotated[Path, typer.Option(metavar="FILE.yaml", help="Where the topology goes, in simnet's own format.")],
    set_: _Set = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there already.")] = False,
) -> None:
    """Write a topology in simnet's own format, and print what was assumed about it."""
    from simnet.cli.output import console
    from simnet.cli.topology import import_topology

    import_topology(console(), topology, set_ or [], to, overwrite)
