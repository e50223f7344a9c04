"""`simnet show --figure`: one picture of a stored result."""

from pathlib import Path

from simnet.cli.output import check_picture
from simnet.errors import InputError
from simnet.figures import FIGURES, to_png
from simnet.params import nearest
from simnet.result import RunResult


def draw(stored: RunResult, name: str, file: Path) -> None:
    """Draw a row of FIGURES into a new PNG file. Raises SimnetError."""
    if name not in FIGURES:
        raise InputError(f"--figure: unknown '{name}'; allowed: {', '.join(FIGURES)}{nearest(name, FIGURES)}")
    check_picture(f"--figure {name}", file)
    picture = to_png(FIGURES[name](stored))
    try:
        with file.open("xb") as new:
            new.write(picture)
    except FileExistsError:
        raise InputError(f"{file} exists already; nothing is overwritten, name a new file") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {(error.strerror or str(error)).lower()}") from None
