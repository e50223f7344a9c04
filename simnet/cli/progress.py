"""A progress bar on stderr, on a terminal only: simulated time, events per second and what is running."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from tqdm import tqdm

from simnet.units import TIME


@contextmanager
def progress(title: str, quiet: bool = False) -> Iterator:
    """Yield a callback (simulated time [s], events so far) that keeps the bar up to date."""
    started = monotonic()
    bar = tqdm(
        desc=title,
        file=sys.stderr,
        disable=quiet or not sys.stderr.isatty(),
        leave=False,
        bar_format="{desc} {postfix}",
    )

    def update(now: float, events: int) -> None:
        rate = events / max(monotonic() - started, 1e-9)
        bar.set_postfix_str(f"at {TIME.format(now)}, {events:,} events, {rate:,.0f} events/s")

    with bar:
        yield update
