"""How every kernel is compiled, and where the compiled code is cached.

Numba's cache looks only at the file that a function stands in. If a *callee* in another file changed, it would return
stale code. So each package of kernels has a cache folder named after a digest of all its sources. It lies in
`NUMBA_CACHE_DIR` if that is set (a read-only installation fills it once), else beside the sources. A folder that cannot
be written to is still read (`solver.kernels.disk_cache`).
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from solver.kernels.disk_cache import SealedCache, SharedCache, is_on_disk, is_sealed

__all__ = ["compiled", "compiler", "count_missing", "inlined", "lean"]

F = TypeVar("F", bound=Callable[..., Any])

# Kernels of the modules that this process has loaded, without those that were seen on disk or cannot be put there.
_to_compile: list[Any] = []


def compiler(
    package: Path, *, fastmath: frozenset[str] = frozenset(), inlined: bool = False, counted: bool = True
) -> Callable[[F], F]:
    """Return a decorator for the kernels of the package in this folder.

    It compiles without the GIL, with IEEE division (no ZeroDivisionError), and with these of LLVM's fast-math flags.
    `inlined` has LLVM copy the function's code into every kernel that calls it. Without `counted` the code does not
    count references to arrays, so the function must neither make arrays nor return any.
    """
    digest = hashlib.sha256()
    for source in sorted(package.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or package / "__pycache__")
    folder = root / f"{package.parent.name}-{package.name}-{digest.hexdigest()[:16]}"

    def compile_one(function: F) -> F:
        # The setting is global, but numba reads it right here, so it is restored for other users of numba.
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            wrapped: F = numba.njit(
                nogil=True,
                error_model="numpy",
                fastmath=set(fastmath),
                forceinline=inlined,
                _nrt=counted,
            )(function)
            if hasattr(wrapped, "_cache"):  # with the JIT disabled there is no cache
                sealed = is_sealed(folder)
                wrapped._cache = (SealedCache if sealed else SharedCache)(function)
                if not sealed:
                    _to_compile.append(wrapped)
        finally:
            numba.config.CACHE_DIR = before
        return wrapped

    return compile_one


def count_missing() -> int:
    """How many kernels of the modules loaded by now are still to be compiled, here or by another process."""
    _to_compile[:] = [kernel for kernel in _to_compile if not is_on_disk(kernel)]
    return len(_to_compile)


compiled = compiler(Path(__file__).parent)
# For functions that make no arrays: a call would count references to each array it gets, which takes longer than a
# short loop over them.
lean = compiler(Path(__file__).parent, counted=False)
# The same for functions that are called for each link.
inlined = compiler(Path(__file__).parent, inlined=True, counted=False)
