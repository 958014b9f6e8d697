"""Atomic writes: other processes see the whole file or none, even if the writing process is killed."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_file", "write_atomically"]


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path`, which takes its place when the block ends and vanishes if it fails.

    Folders that do not exist are made.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: two processes or threads may write the same file at the same time.
    draft = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}.part")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)  # atomic on one file system
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write these bytes as an `atomic_file`."""
    with atomic_file(path) as file:
        file.write(content)
