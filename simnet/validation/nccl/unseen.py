"""NCCL on machines that the constants have never seen: fitted to all the others, the library's model predicts each.

Several tables of one machine are left out together. Times are those that the library expects of its choice on links
that nobody else uses, which is what the simulation repeats there.
"""

from collections.abc import Mapping
from functools import partial

from simnet.validation.cases import Case
from simnet.validation.nccl import replaying
from simnet.validation.nccl.fitting import fit_without
from simnet.validation.nccl.replaying import LARGE, SMALL
from simnet.validation.nccl.tables import series, tables
from simnet.validation.statistics import Aim

AIMS = {LARGE: Aim(median=0.12), SMALL: Aim(median=0.25)}
"""What the errors of each group shall be at most."""


def cases() -> list[Case]:
    """A case per measured time that the nccl suite counts; a run is a fit, which takes a minute."""
    return [
        Case(
            "nccl_unseen", case.case, case.quantity, case.unit, case.reference, case.source,
            partial(predicted, _machine(case)), run=f"nccl_unseen {_machine(case)}", slow=True, group=case.group,
        )
        for case in replaying.cases()
        if case.counted and case.group in AIMS
    ]  # fmt: skip


def _machine(case: Case) -> str:
    return series()[tables()[case.case].series].system(tables()[case.case].series)


def predicted(machine: str) -> Mapping[tuple[str, str], float]:
    """Times [us] of all tables of a machine, by (case, quantity)."""
    return {
        (name, quantity): number
        for name, times in fit_without(machine).items()
        for quantity, number in replaying.figures(tables()[name], times).items()
    }
