"""A file that takes up space on the store's disk, to be given up when the disk is full.

Even a deletion has to be written to the log first. On a full disk the reserve makes room for it.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["RESERVE_BYTES", "Reserve", "free_bytes"]

# Deleting the largest run writes a few hundred kilobytes of log; to shrink the file afterwards takes the rest.
RESERVE_BYTES = 8 * 2**20


class Reserve:
    """The file beside a database. All processes share it, and any of them may release or restore it."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")

    def release(self) -> bool:
        """Give the space up; False if there is none to give."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def restore(self) -> None:
        """Take the space up again, if that leaves as much free."""
        with suppress(OSError):
            if self._size() >= RESERVE_BYTES or free_bytes(self._path.parent) < 2 * RESERVE_BYTES:
                return
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            except OSError:
                self._path.unlink()
            finally:
                os.close(descriptor)

    def _size(self) -> int:
        try:
            return self._path.stat().st_blocks * 512
        except FileNotFoundError:
            return 0


def free_bytes(folder: Path) -> int:
    """What this process may still write to the folder's file system."""
    return shutil.disk_usage(folder).free
