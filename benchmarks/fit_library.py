"""The constants of the communication library, fitted to all measured tables: `python -m benchmarks.fit_library`.

They stand in simnet/workload/collectives/library/presets.py, where new values are put in by hand.
"""

import argparse

from simnet.validation.cases import Verdict
from simnet.validation.nccl import AIMS, cases
from simnet.validation.nccl.fitting import Problem, fit, fitted, problems, untrained
from simnet.validation.nccl.replaying import figures
from simnet.validation.statistics import groups, spread
from simnet.workload.collectives.library import CONSTANTS, Constants


def main() -> None:
    """Fit, and print what came of it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--untrained", action="store_true", help="begin at the first guesses")
    options.add_argument("--sweeps", type=int, default=25, help="over all constants, at most")
    chosen = options.parse_args()
    tables = problems()
    show(tables, CONSTANTS, "as they are")
    begin = untrained(CONSTANTS) if chosen.untrained else CONSTANTS
    found = fit(tables, begin, chosen.sweeps, lambda sweep: print(f"sweep {sweep}", flush=True))
    show(tables, found, "fitted")
    before = fitted(CONSTANTS)
    for key, value in fitted(found).items():
        print(f"{'.'.join(key):40s} {before[key]:12.4g} {value:12.4g}")


def show(tables: list[Problem], constants: Constants, title: str) -> None:
    """Print cost, medians and 90th percentiles."""
    predicted = {p.table.name: figures(p.table, p.predicted_all(constants)) for p in tables}
    verdicts = [Verdict(case, predicted[case.case][case.quantity]) for case in cases() if case.counted]
    cost = sum(table.cost(constants) for table in tables) / len(tables)
    print(f"{title}: {len(fitted(constants))} constants, cost {cost:.4f} a table")
    for name, members in groups(verdicts).items():
        found = spread(members)
        print(f"  {name}: median {found.median:.1%}, 90th percentile {found.p90:.1%} (aim {AIMS[name]})")


if __name__ == "__main__":
    main()
