"""numba's `njit` for every kernel, with a disk cache that notices edits.

numba's own cache does not notice a change in a function that a kernel calls in another file, or in a constant that it
takes from there, so the cache folder is named by a digest of all kernel sources. Import `njit` from here, never from
numba.
"""

import functools
import hashlib
import os
import re
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parent


def _kernel_sources() -> list[Path]:
    """Modules of kernels, and of the records and codes that they work with."""
    kernels_and_constants = re.compile(rb"simnet\.jit import|np\.dtype\(|^[A-Z_, ]+ = range\(", re.MULTILINE)
    return [path for path in sorted(_PACKAGE.rglob("*.py")) if kernels_and_constants.search(path.read_bytes())]


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
from numba.core import codegen, compiler, compiler_machinery, environment, typed_passes, types  # noqa: E402

# numba may have been imported before simnet: its settings are then already read
numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]

# What follows reaches into numba where it promises nothing, hence the one version that setup.cfg allows.
# Left alone, numba optimises every function and makes machine code of it, links all that it calls into it and does so
# again: with kernels in many small functions most of the work is done many times. Here a function that another one
# calls is a part, no more than LLVM's code to be linked. Only what Python calls is made whole, and there the parts are
# its own: LLVM may drop what is not called and arguments that are not used.


class _Part(codegen.JITCodeLibrary):
    """Code of a function to be linked into others."""

    codegen = property(lambda self: self)  # for the one call below

    def set_env(self, name, env):
        """Where machine code finds its Python objects: the whole tells it."""

    def finalize(self):
        """Nothing is linked, optimised or made machine code of."""
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Null."""
        return 0


class _Whole(codegen.JITCodeLibrary):
    """Code of a function that Python calls, and of all the parts that it needs."""

    def finalize(self):
        """Link all parts once, optimise, make machine code."""
        libraries = list(self._linking_libraries)
        for library in libraries:  # which grows
            if isinstance(library, _Part):
                libraries += [other for other in library._linking_libraries if other not in libraries]
        self._linking_libraries = libraries
        super().finalize()
        for variable in self._final_module.global_variables:
            if found := environment.lookup_environment(variable.name):
                self._codegen.set_env(variable.name, found)

    def _optimize_final_module(self):
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        super()._optimize_final_module()


def _compiler_of(library: type) -> type:
    @compiler_machinery.register_pass(mutates_CFG=False, analysis_only=True)
    class Library(compiler_machinery.AnalysisPass):
        _name = f"simnet_{library.__name__}"

        def __init__(self):
            super().__init__()

        def run_pass(self, state):
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return False

    class Compiler(compiler.CompilerBase):
        def define_pipelines(self):
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(Library, typed_passes.AnnotateTypes)
            passes.finalize()
            return [passes]

    return Compiler


_PART, _WHOLE = _compiler_of(_Part), _compiler_of(_Whole)


class _Kernel:
    """A compiled function: whole where Python calls it, a part where compiled code does."""

    def __init__(self, function, options: dict, part_options: dict):
        functools.update_wrapper(self, function)
        self.whole = numba.njit(cache=True, pipeline_class=_WHOLE, **options)(function)
        self.part = numba.njit(
            pipeline_class=_PART, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options, **part_options
        )(function)
        self._numba_type_ = types.Dispatcher(self.part)  # what compiled code sees

    def __call__(self, *arguments):
        """Run it."""
        return self.whole(*arguments)


def njit(function):
    """Compile `function` ahead of its first call's types, cached on disk."""
    return function if numba.config.DISABLE_JIT else _Kernel(function, {}, {})


def kernel(function=None, *, inline: bool = False):
    """As `njit`, for functions that create no arrays: numba then counts no references to those they are given.

    Counting them costs more than the work itself where small functions hand on many arrays (a factor of 5 was
    measured). Division by zero gives inf or NaN, as in numpy.

    inline: the compiler puts the function into its caller, for large ones that are called from one place and tiny ones
    that are called all the time.
    """
    if function is None:
        return functools.partial(kernel, inline=inline)
    if numba.config.DISABLE_JIT:
        return function
    return _Kernel(function, {"_nrt": False, "error_model": "numpy"}, {"forceinline": True} if inline else {})


def compiled_before(room: str = "") -> bool:
    """True where kernels of these sources have been compiled on this machine (or need no compilation).

    room: the package or module that they stand in, such as 'packet_level'; default any.
    """
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    # importing a kernel makes folders already; an index of compiled code appears when one was compiled
    indexes = [*folder.rglob(f"{room}*/*.nbi"), *folder.rglob(f"{room}*.nbi")]
    return bool(numba.config.DISABLE_JIT) or bool(indexes)
