"""A line on stderr, on a terminal only: what is running, simulated time and events per second."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from tqdm import tqdm

from simnet.network.model import Progress
from simnet.units import TIME


@contextmanager
def progress(title: str, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield what keeps the line up to date, called with simulated time [s] and events; None where none is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    started, most = monotonic(), 0
    with tqdm(desc=title, file=sys.stderr, leave=False, bar_format="{desc}{postfix}") as line:

        def update(now: float, events: int) -> None:
            nonlocal most
            most = max(most, events)  # engine and network count apart
            rate = most / max(monotonic() - started, 1e-9)
            line.set_postfix_str(f"at {TIME.format(now)}, {most:,} events, {rate:,.0f} events/s")

        yield update
