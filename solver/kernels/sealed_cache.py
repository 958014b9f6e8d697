"""Compiled code from a cache folder that cannot be written to, as in a container with a read-only root.

Numba uses a cache folder only if it can write there. Otherwise it looks elsewhere and compiles everything anew. A
sealed folder was filled when the image was built. Code that is in it is loaded; other code is compiled in each process.
"""

import os
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

__all__ = ["SealedCache", "is_sealed"]


def is_sealed(folder: Path) -> bool:
    """Whether the folder exists and cannot be written to."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


class _SealedLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    def ensure_cache_path(self) -> None:
        """Accept the folder, although it cannot be written to."""


class _SealedEntries(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_SealedLocator,)


class SealedCache(FunctionCache):  # type: ignore[misc]
    """A cache of a function's compiled code that is read and never written."""

    _impl_class = _SealedEntries

    def save_overload(self, sig: Any, data: Any) -> None:
        """Do nothing: the folder cannot be written to."""
