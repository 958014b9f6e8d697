"""What the operating system knows of the server processes: memory, processor time, descriptors."""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

__all__ = ["ServerProcesses", "proportional_memory"]

# These are not added up: the oldest process, the least limit.
_LEAST = {"process_start_time_seconds", "process_max_fds"}
_RESIDENT = "process_resident_memory_bytes"


class ServerProcesses(Collector):
    """prometheus_client's metrics of a process, summed over all of them; memory that they share counts once."""

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids

    def collect(self) -> Iterator[Metric]:
        """One metric of each name."""
        found: dict[str, Metric] = {}
        for pid in self._pids():
            for metric in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
                sample = metric.samples[0]
                if metric.name == _RESIDENT:
                    sample = sample._replace(value=proportional_memory(pid) or sample.value)
                if metric.name in found:
                    before = found[metric.name].samples[0].value
                    together = min if metric.name in _LEAST else operator.add
                    sample = sample._replace(value=together(before, sample.value))
                metric.samples = [sample]
                found[metric.name] = metric
        yield from found.values()


def proportional_memory(pid: int) -> float | None:
    """Bytes of a process's memory, of shared pages its part (PSS); None where the system does not tell."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return 1024.0 * int(line.split()[1])
    return None
