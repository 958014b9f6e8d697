"""A wall clock that can be stepped: libfaketime, loaded into every process of a service."""

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.scenario import NotRunError

__all__ = ["Clock", "stepped_clock"]

_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)


# Python sleeps until a time of the monotonic clock, and libfaketime then refuses to sleep at all.
_SLEEP = """import threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds) and None
"""


@dataclass(frozen=True)
class Clock:
    """The file that has the offset; processes read it at every look at the clock."""

    library: str
    file: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to live by this clock; its monotonic clock stays real, as on a real machine."""
        return {
            "LD_PRELOAD": self.library,
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }

    def step_to(self, offset: float) -> None:
        """Set the clock so many seconds ahead of the real one."""
        beside = self.file.with_suffix(".new")
        beside.write_text(f"{offset:+.0f}\n")
        beside.replace(self.file)


def stepped_clock(folder: Path) -> Clock:
    """A clock that is right until it is stepped.

    Raises:
        NotRunError: there is no libfaketime here.
    """
    library = next((path for path in _LIBRARIES if os.path.exists(path)), None)  # noqa: PTH110 - plain strings
    if library is None:
        raise NotRunError("needs libfaketime (Debian: apt-get install faketime)")
    clock = Clock(library, folder / "clock")
    clock.step_to(0)
    (folder / "sitecustomize.py").write_text(_SLEEP)
    return clock
