"""Published reference numbers, and the code that replays them: `simnet validate`.

A suite is a module with `cases() -> list[Case]`, AIMS where groups of its cases shall come close together, and
`about() -> str` where there is more to say than its docstring does. Its row here is all that the command needs.
"""

from types import ModuleType

from simnet.validation import nccl, network
from simnet.validation.cases import Case, Verdict
from simnet.validation.nccl import unseen

SUITES: dict[str, ModuleType] = {"nccl": nccl, "nccl_unseen": unseen, "network": network}

__all__ = ["SUITES", "Case", "Verdict"]
