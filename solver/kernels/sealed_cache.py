"""Compiled code from a folder that cannot be written to, as in a container with a read-only root.

Numba takes a cache folder only if it can write there; refused, it looks elsewhere and compiles everything anew. A
sealed folder was filled when the image was built: what is in it is loaded, and what is not is compiled each time.
"""

import os
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

__all__ = ["SealedCache", "is_sealed"]


def is_sealed(folder: Path) -> bool:
    """Whether the folder is there, but not for writing."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


class _SealedLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    def ensure_cache_path(self) -> None:
        """The folder is there; that it cannot be written to is no reason to look elsewhere."""


class _SealedEntries(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_SealedLocator,)


class SealedCache(FunctionCache):  # type: ignore[misc]
    """A function's compiled code, read and never written."""

    _impl_class = _SealedEntries

    def save_overload(self, sig: Any, data: Any) -> None:
        """Nothing can be kept here."""
