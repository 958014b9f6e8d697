"""Metrics that several server processes count together: each writes its numbers to a file, and a scrape adds them up.

prometheus_client decides when it is loaded whether it counts in files. So the folder is named before that. The
processes that count in a folder hold its lock. If they are killed the lock is free, and the next service sweeps the
folder.
"""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["metrics_folder", "shared_metrics"]

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX = "fedsift-metrics-"


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Have the processes that are forked in this block count together."""
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was loaded before its folder was named")
    _sweep()
    # Under another name until it is locked, so that nobody sweeps it meanwhile.
    made = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}"))
    lock = _locked(made)
    folder = made.rename(made.with_name(made.name[1:]))
    os.environ[_VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _sweep() -> None:
    """Delete the folders of services that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.geteuid() and (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder, and return the descriptor that holds the lock, or None if another process has it.

    Forked processes share the descriptor, so the lock is free when the last of them has ended.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def metrics_folder() -> str | None:
    """Where the numbers of all processes are, if there are several."""
    return os.environ.get(_VARIABLE)
