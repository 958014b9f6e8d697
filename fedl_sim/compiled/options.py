"""How every kernel here is compiled, and where the result is kept.

As in `solver.kernels.compile`, the cache folder is named after a digest of all sources of this package:
numba alone would serve a kernel stale whose callee changed in another file. Unlike there, sums may be
reordered.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

__all__ = ["FAST_MATH", "kernel"]

# contract: multiply and add become one instruction; reassoc: sums may be split over vector lanes.
# NaN and infinity keep their meaning, so a diverged run shows as such.
FAST_MATH = frozenset({"arcp", "contract", "nsz", "reassoc"})


def _cache_folder() -> Path:
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(package.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or package / "__pycache__")
    return root / f"{package.parent.name}-{package.name}-{digest.hexdigest()[:16]}"


_FOLDER = _cache_folder()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, with the reorderings above, and keep the result on disk."""
    # The setting is global, but it is read here and now: whoever else uses numba keeps theirs.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_FOLDER)
    try:
        compile_it = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=set(FAST_MATH))
        return compile_it(function)
    finally:
        numba.config.CACHE_DIR = before
