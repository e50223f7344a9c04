"""A discrete-event simulator of distributed machine-learning training on a cluster.

`simnet.run(path_or_experiment)` runs an experiment and returns its RunResult; `simnet.save(result, directory)`
writes it whole. Nothing heavy is imported before one of them is used.
"""

import sys
from importlib import import_module
from types import ModuleType

__all__ = ["__version__", "run", "save"]


class _Package(ModuleType):
    """`simnet.run` is the function although a module has that name, and waits for its first use."""

    @property
    def run(self):
        return import_module("simnet.run").run

    @run.setter
    def run(self, module):
        """The import system binds submodules here; `from simnet.run import build` does not need it."""

    @property
    def save(self):
        return import_module("simnet.run").save

    @property
    def __version__(self) -> str:
        return import_module("importlib.metadata").version("simnet")


sys.modules[__name__].__class__ = _Package
