"""numba's `njit` for every kernel, with a disk cache that notices edits.

numba's own cache does not notice a change in a function that a kernel calls in another file, so the cache
folder is named by a digest of all kernel sources. Import `njit` from here, never from numba.
"""

import hashlib
import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parent


def _kernel_sources() -> list[Path]:
    return [p for p in sorted(_PACKAGE.rglob("*.py")) if b"simnet.jit import" in p.read_bytes()]


def _cache_folder() -> Path:
    digest = hashlib.sha256(sys.version.encode())
    for path in _kernel_sources():
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "simnet" / f"kernels-{digest.hexdigest()[:16]}"


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(_cache_folder())

import numba  # noqa: E402  (the cache folder is read when numba is imported)
from numba import njit as _njit  # noqa: E402

# numba may have been imported before simnet: its settings are then already read
numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]


def njit(function):
    """Compile `function` ahead of its first call's types, cached on disk."""
    return _njit(cache=True)(function)


def kernel(function=None, *, inline: bool = False, entry: bool = True):
    """As `njit`, for functions that create no arrays: numba then counts no references to those they are given.

    Counting them costs more than the work itself where small functions hand on many arrays (a factor of 5 was
    measured). Division by zero gives inf or NaN, as in numpy.

    inline: the compiler puts the function into its caller, for large ones that are called from one place and tiny ones
    that are called all the time. entry: without one, Python cannot call it and it compiles faster.
    """
    options = {"forceinline": True} if inline else {}
    if not entry:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    decorate = _njit(cache=True, _nrt=False, error_model="numpy", **options)
    return decorate if function is None else decorate(function)


def compiled_before(room: str = "") -> bool:
    """True where kernels of these sources have been compiled on this machine (or need no compilation).

    room: the package or module that they stand in, such as 'packet_level'; default any.
    """
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    # importing a kernel makes folders already; an index of compiled code appears when one was compiled
    indexes = [*folder.rglob(f"{room}*/*.nbi"), *folder.rglob(f"{room}*.nbi")]
    return bool(numba.config.DISABLE_JIT) or bool(indexes)
