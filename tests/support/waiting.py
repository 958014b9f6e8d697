"""How tests wait: for a state that stays, and never longer than a minute.

A state that passes may come and go between two looks on a busy machine: hold it with a gate, or wait for what stays.
"""

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["PATIENCE", "lives", "until"]

# Enough for anything here beside four busy processes on two cores; only a test that fails waits so long.
PATIENCE = 60.0


def until(true: Callable[[], object], why: Callable[[], object] = lambda: "") -> None:
    """Look again until it is true; `why` tells what was there instead."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"not within {PATIENCE:g} s: {why()}"
        time.sleep(0.05)


def lives(pid: int) -> bool:
    """Whether there is a process of that number that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
