"""Who is alive, told by counted heartbeats and the observer's own monotonic clock. No two clocks are ever compared."""

import math
import os
import socket
from collections.abc import Mapping
from pathlib import Path

__all__ = ["Watch", "runs", "this_host"]


class Watch:
    """How long each of several counters has stood still, in the time that the observer itself was awake.

    A gap between two looks that is longer than `longest_gap` does not count: the observer was frozen or cut off, and so
    perhaps were those it watches.
    """

    def __init__(self, longest_gap: float = math.inf) -> None:
        self._longest_gap = longest_gap
        self._awake = 0.0
        self._looked_at: float | None = None
        self._seen: dict[str, tuple[int, float]] = {}

    def look(self, beats: Mapping[str, int], now: float) -> None:
        """Take note of all counters as they are `now`, by a clock that never steps."""
        if self._looked_at is not None and now - self._looked_at <= self._longest_gap:
            self._awake += now - self._looked_at
        self._looked_at = now
        unchanged = {name: since for name, (count, since) in self._seen.items() if beats.get(name) == count}
        self._seen = {name: (count, unchanged.get(name, self._awake)) for name, count in beats.items()}

    def silence(self, name: str) -> float:
        """Seconds since the counter was first seen as it was at the last look."""
        return self._awake - self._seen[name][1]


def this_host() -> str:
    """A name of the place where a process number is valid: machine, boot and process namespace."""
    parts = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(str(Path(path).readlink()) if path.endswith("pid") else Path(path).read_text().strip())
        except OSError:
            parts.append("-")
    return "/".join(parts)


def runs(pid: int) -> bool:
    """Whether this host has a process of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
