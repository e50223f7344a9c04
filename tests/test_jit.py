"""The disk cache of kernels."""

import re
from pathlib import Path

import pytest

from simnet import jit

NETWORK = Path(jit.__file__).parent / "network"
CODES = re.compile(r"^[A-Z_, ]+ = range\(", re.MULTILINE)


@pytest.mark.parametrize("path", [path for path in sorted(NETWORK.rglob("*.py")) if CODES.search(path.read_text())])
def test_the_cache_notices_an_edit_of_codes(path):
    """numba puts a constant's value into the code of a kernel, and watches the kernel's own file alone."""
    assert path in jit._kernel_sources()
