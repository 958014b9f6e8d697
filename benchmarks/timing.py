"""How benchmarks time a call."""

from collections.abc import Callable
from statistics import median
from time import perf_counter

__all__ = ["milliseconds"]


def milliseconds(run: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Median of repeated runs, at least 3 and as many as fit half a second (2000 at most), after one to warm up."""
    run()
    times: list[float] = []
    while len(times) < 3 or (len(times) < 2000 and sum(times) < 0.5):
        begin = clock()
        run()
        times.append(clock() - begin)
    return median(times) * 1e3
