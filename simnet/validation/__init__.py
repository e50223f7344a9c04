"""Published reference numbers, and the code that replays them: `simnet validate`.

A suite is a module with `cases() -> list[Case]`, and AIMS where groups of its cases shall come close together; the
first sentence of its docstring is its title. Its row here is all that the command needs.
"""

from types import ModuleType

from simnet.validation import nccl, network
from simnet.validation.cases import Case, Verdict

SUITES: dict[str, ModuleType] = {"nccl": nccl, "network": network}

__all__ = ["SUITES", "Case", "Verdict"]
