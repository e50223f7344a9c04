"""Flow files of the ns-3 simulators of RDMA: a count, then 'src dst pg [dport] bytes start' per flow.

The form with six words is that of HPCC and PowerTCP, the one with five that of ConWeave. `pg` is a priority group and
`dport` a port number; both tell flows apart in hashes only, which simnet does by their order. start [s]. What follows
the last flow is comment.
"""

from pathlib import Path

from simnet.reader import lines
from simnet.workload.importers.imported import Imported
from simnet.workload.traffic import traffic

_WORDS = (5, 6)


def read(path: str | Path, first_host: int = 0) -> Imported:
    """The flows of a file. first_host: node number of rank 0. Raises InputError with file and line."""
    header, *rows = lines.read(path)
    count = header.integer(0, "the number of flows", 1)
    if len(header.words) != 1:
        raise header.error(f"expected the number of flows alone, got {len(header.words)} words")
    columns = []
    for line in rows[:count]:
        if len(line.words) not in _WORDS:
            raise line.error(f"expected 'src dst pg [dport] bytes start', got {len(line.words)} words")
        ends = [line.integer(i, what) for i, what in enumerate(("the source", "the destination"))]
        for what, node in zip(("source", "destination"), ends):
            if node < first_host:
                raise line.error(f"{what} {node} is below first_host {first_host}")
        if ends[0] == ends[1]:
            raise line.error(f"node {ends[0]} sends to itself")
        size = line.integer(len(line.words) - 2, "the size", 1)
        columns.append((ends[0] - first_host, ends[1] - first_host, size, line.decimal(len(line.words) - 1, "start")))
    if len(rows) < count:
        raise (rows or [header])[-1].error(f"the file ends after {len(rows)} of {count} flows")
    return Imported(traffic(*zip(*columns)), None, Path(path).stem)
