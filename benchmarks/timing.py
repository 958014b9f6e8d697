"""How benchmarks time a call."""

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

__all__ = ["in_turn", "milliseconds"]

# Of one call's turn; a call that takes longer has one run in a turn.
_TURN = 0.005


def milliseconds(run: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Median of repeated runs, at least 3 and as many as fit half a second (2000 at most), after one to warm up."""
    run()
    times: list[float] = []
    while len(times) < 3 or (len(times) < 2000 and sum(times) < 0.5):
        begin = clock()
        run()
        times.append(clock() - begin)
    return median(times) * 1e3


def in_turn(runs: Sequence[Callable[[], object]], clock: Callable[[], float] = perf_counter) -> list[float]:
    """Milliseconds of each, medians of 5 to 40 turns: a machine that changes its pace then changes it for all alike."""
    times: list[list[float]] = [[] for _ in runs]
    begin = clock()
    turns = 0
    while turns <= 5 or (turns <= 40 and clock() - begin < 2.0):
        for run, own in zip(runs, times, strict=True):
            took: list[float] = []
            while not took or sum(took) < _TURN:
                start = clock()
                run()
                took.append(clock() - start)
            own.append(median(took))
        turns += 1
    # The first turn warms up.
    return [median(own[1:]) * 1e3 for own in times]
