"""The scratch folder of a worker, for checkpoint files. Its lock file tells the living from the dead and the frozen.

The system releases the lock however the process ends, so a folder whose lock is free was left behind by `kill -9`. The
time of the lock file is the worker's last pulse. To set it needs no space on the disk and nothing but the disk.
"""

import fcntl
import math
import os
import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["Scratch", "pulse_age", "sweep"]

_PREFIX = "fedsift-"
_LOCK = "lock"


class Scratch:
    """The folder of one worker below `root`. It is made at once; on a full disk the first part reports the failure."""

    def __init__(self, root: Path, worker_id: str) -> None:
        self.path = root / f"{_PREFIX}{worker_id}"
        self._lock: int | None = None
        # Under another name until it is locked, so that nobody sweeps it meanwhile.
        made = root / f".{_PREFIX}{worker_id}"
        with suppress(OSError):
            made.mkdir(parents=True, mode=0o700)
            self._lock = os.open(made / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            made.rename(self.path)
        self.pulse()

    def pulse(self) -> None:
        """Tell `pulse_age` that the worker runs.

        The time is that of the clock that counts from the machine's start: it is one clock for all processes, it does
        not step, and it stands still while the machine sleeps.
        """
        if self._lock is not None:
            now = time.monotonic_ns()
            with suppress(OSError):
                os.utime(self._lock, ns=(now, now))

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def pulse_age(root: Path) -> float:
    """Seconds since the last pulse of a worker of this machine or container; infinite if there is no worker."""
    ages = [_age(lock) for lock in root.glob(f"{_PREFIX}{socket.gethostname()}-*/{_LOCK}")]
    return min(ages, default=math.inf)


def _age(lock: Path) -> float:
    try:
        age = (time.monotonic_ns() - lock.stat().st_mtime_ns) / 1e9
    except OSError:
        return math.inf
    return age if age >= 0 else math.inf  # from before a restart of the machine


def sweep(root: Path) -> int:
    """Delete the folders of workers that are dead; returns how many. Folders without our lock file are left alone."""
    return sum(_swept(lock) for lock in root.glob(f"{_PREFIX}*/{_LOCK}"))


def _swept(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its worker lives
    else:
        shutil.rmtree(lock.parent, ignore_errors=True)
        return True
    finally:
        os.close(descriptor)
