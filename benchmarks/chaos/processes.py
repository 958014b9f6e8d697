"""Processes as /proc shows them: children, memory, environment."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = [
    "command_of",
    "cpu_ms",
    "descendants",
    "environment_of",
    "is_alive",
    "peak",
    "reset_peak",
    "resident",
    "send",
]


def descendants(pid: int) -> list[int]:
    """Children, their children, and so on."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


def command_of(pid: int) -> str:
    """Its command line; empty if it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def environment_of(pid: int) -> dict[str, str]:
    """The environment that it was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def is_alive(pid: int) -> bool:
    """Whether it runs; a process that ended and was not waited for does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to all that still exist."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def cpu_ms(pid: int) -> float:
    """Processor time of its threads so far, in ms; other work on the machine hardly changes it."""
    found = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError, ValueError):
            found += int(task.read_text().split()[0])
    return found / 1e6


def resident(pid: int) -> float:
    """Resident memory in MB."""
    return _memory(pid, "VmRSS")


def peak(pid: int) -> float:
    """The most resident memory since `reset_peak`, in MB."""
    return _memory(pid, "VmHWM")


def reset_peak(pid: int) -> None:
    """Begin to measure the peak anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _memory(pid: int, name: str) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0
