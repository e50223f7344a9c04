"""What a result tells about the experiment that it is of."""

import hashlib
import importlib.metadata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simnet.experiment import Experiment, Provenance
from simnet.params import path_beside
from simnet.reader import Source


def resolved_experiment(experiment: Experiment, source: Source) -> dict[str, Any]:
    """The experiment with all defaults, as plain data that reads back, with the version and digests of its inputs.

    Paths are relative to the experiment's file, so that the same input gives the same bytes anywhere.
    """
    folder = Path(source.name).parent
    digests = {path_beside(p, folder): hashlib.sha256(p.read_bytes()).hexdigest() for p in _input_files(experiment)}
    provenance = Provenance(simnet=importlib.metadata.version("simnet"), inputs=digests)
    whole = experiment.model_copy(update={"provenance": provenance})
    return whole.model_dump(mode="json", exclude_none=True, context={"folder": folder})


def _input_files(value: Any) -> Iterable[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _input_files(item)
    elif hasattr(value, "model_fields_set"):
        for name in type(value).model_fields:
            yield from _input_files(getattr(value, name))
