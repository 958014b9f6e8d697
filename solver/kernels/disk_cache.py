"""Compiled code on disk: a folder that several processes fill at once, or one that cannot be written to.

Numba uses a cache folder only if it can write there. Otherwise it looks elsewhere and compiles everything anew. A
sealed folder, as in a container with a read-only root, was filled when the image was built. Code that is in it is
loaded; other code is compiled in each process.
"""

import fcntl
import os
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

__all__ = ["SealedCache", "SharedCache", "is_on_disk", "is_sealed"]


def is_sealed(folder: Path) -> bool:
    """Whether the folder exists and cannot be written to."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


class SharedCache(FunctionCache):  # type: ignore[misc]
    """A cache of a function's compiled code that several processes fill, one at a time.

    A function has one index of its signatures. Two processes that add a signature at once would both give their code
    the same name; one would then run the code of the other's signature.
    """

    def _save_overload(self, sig: Any, data: Any) -> None:
        self._impl.locator.ensure_cache_path()
        with (Path(self.cache_path) / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super()._save_overload(sig, data)


def is_on_disk(kernel: Any) -> bool:
    """Whether the kernel's cache has code for this processor."""
    here = kernel.targetctx.codegen().magic_tuple()
    return any(processor == here for _, processor, _ in kernel._cache._cache_file._load_index())


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
