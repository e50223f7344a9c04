"""Runs the cases of suites in worker processes: a verdict per case, in their order, the same every time."""

from collections.abc import Callable, Iterable, Mapping

from simnet.errors import SimnetError
from simnet.sweep.workers import each
from simnet.validation.cases import Case, Verdict

Progress = Callable[[int, int, str], None]  # (runs so far, of how many, the latest)
_Answer = tuple[float | Mapping | None, str]  # what was simulated, or why it was not


def replay(cases: Iterable[Case], jobs: int | None = None, progress: Progress | None = None) -> list[Verdict]:
    """A verdict per case. jobs: processes, by default one per core; a run that fails is a verdict that says why.

    A script that calls this with several jobs must do so below `if __name__ == "__main__":`.
    """
    cases = list(cases)
    runs: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        runs.setdefault(case.run or f"{case.suite}\0{case.case}\0{case.quantity}", []).append(number)
    members = list(runs.values())
    firsts = [cases[numbers[0]] for numbers in members]
    verdicts: list[Verdict | None] = [None] * len(cases)
    for count, (run, answer) in enumerate(each(_simulated, firsts, _died, jobs), 1):
        for number in members[run]:
            verdicts[number] = _verdict(cases[number], answer)
        if progress:
            progress(count, len(firsts), firsts[run].case)
    return verdicts


def _simulated(case: Case) -> _Answer:
    try:
        return case.simulate(), ""
    except SimnetError as error:
        return None, str(error)
    except Exception as error:  # one broken run must not take the others along
        return None, f"internal error: {type(error).__name__}: {error}"


def _died(_: Case, reason: str) -> _Answer:
    return None, reason


def _verdict(case: Case, answer: _Answer) -> Verdict:
    simulated, failure = answer
    if isinstance(simulated, Mapping):
        simulated = simulated.get((case.case, case.quantity), simulated.get(case.quantity))
        failure = failure or ("" if simulated is not None else f"its run gave no '{case.quantity}'")
    return Verdict(case, simulated, failure)
