"""Published reference numbers, and the code that replays them: `simnet validate`.

A suite is a module with `cases() -> list[Case]`; its row here is all that the command needs.
"""

from types import ModuleType

from simnet.validation.cases import Case, Verdict

SUITES: dict[str, ModuleType] = {}

__all__ = ["SUITES", "Case", "Verdict"]
