"""The command line: the only room that prints or exits.

Commands import what they need when they run, so that `simnet --help` answers at once.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from simnet.cli.commands import FAILED, INTERRUPTED, app
from simnet.errors import InputError, SimnetError


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
