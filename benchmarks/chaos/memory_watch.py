"""Memory of a service's processes over time."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.chaos.processes import peak, reset_peak, resident
from benchmarks.chaos.site import Service

__all__ = ["Flatness", "Growth", "MemoryWatch", "flatness"]


class Growth:
    """How far the server processes rise above what they have now."""

    def __init__(self, service: Service) -> None:
        self._rest = {pid: resident(pid) for pid in service.servers()}
        for pid in self._rest:
            reset_peak(pid)

    def most(self) -> float:
        """The most that any one of them rose by, in MB."""
        return max(0.0, *(peak(pid) - rest for pid, rest in self._rest.items()))


@dataclass(frozen=True)
class Flatness:
    """MB in the first and in the last fifth of the time (medians), and the most that was seen."""

    first: float
    last: float
    most: float


@dataclass
class MemoryWatch:
    """Looks once a second; `descriptors` counts the server's open files and connections."""

    service: Service
    server: list[float] = field(default_factory=list)
    largest_worker: list[float] = field(default_factory=list)
    largest_trainer: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def go_on(self, stop: threading.Event) -> None:
        """Look until told to stop."""
        while not stop.wait(1):
            self.server.append(resident(self.service.process.pid))
            self.largest_worker.append(_largest(self.service.workers()))
            self.largest_trainer.append(_largest(self.service.trainers()))
            with suppress(OSError):
                self.descriptors.append(len(list(Path(f"/proc/{self.service.process.pid}/fd").iterdir())))


def flatness(values: list[float]) -> Flatness:
    """How flat a series is."""
    seen = [value for value in values if value > 0] or [0.0]
    fifth = max(1, len(seen) // 5)
    return Flatness(round(median(seen[:fifth])), round(median(seen[-fifth:])), round(max(seen)))


def _largest(pids: Iterable[int]) -> float:
    return max((resident(pid) for pid in pids), default=0.0)
