"""How long samplers take, and how the time grows with the network and with the sample size.

Each case runs once to warm up and then several times, as long as that takes little. `ms` is the least by the clock on
the wall, and `cpu_ms` the least of the process, in all its threads, which other work on the machine hardly lengthens.
Random links, T = 50. `labels` is a column of its own, since `greedy` works differently without label counts.

    python -m benchmarks.sampler_scale [--quick]
"""

import json
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.sampler_speed import random_links
from sampler import SamplingProblem, find_sampler
from sampler.base import Sampler
from solver.network import Network
from solver.network.schedule import Schedule

__all__ = ["labelled_links", "scale"]

HORIZON = 50
# Sampler, and whether it sees label counts.
_FAST = (("greedy", True), ("greedy", False), ("greedy:coverage", True), ("local_search", True), ("gcn_branch", True))
_ALL = (*_FAST, ("greedy:surrogate", True), ("gcn_rank", True), ("heuristic", True), ("random", True))
# The same, then devices, links, sample size: the paper's sizes, a large sample, and a city.
_SMALL = (
    *((*one, 100, 990, 6) for one in _ALL),
    *((*one, 800, 63_920, 6) for one in _ALL),
    *((*one, 2_000, 20_000, 1_000) for one in _FAST[:2]),
)
_LARGE = tuple((*one, 100_000, 1_000_000, size) for size in (6, 100) for one in _ALL if one[0] != "greedy:surrogate")
# Repeat until so many seconds or runs have passed.
_SECONDS, _RUNS = 0.5, 20


def labelled_links(n_devices: int, n_links: int) -> Network:
    """Random links between devices that hold three of ten classes each."""
    bare = random_links(n_devices, n_links)
    counts = np.zeros((n_devices, 10))
    generator = np.random.default_rng(0)
    for _ in range(3):
        counts[np.arange(n_devices), generator.integers(10, size=n_devices)] += bare.devices.data / 3
    return bare.with_columns({"label_counts": counts})


def scale(*, smoke: bool) -> list[dict[str, Any]]:
    """Time every case."""
    print(f"\n{'':18} {'labels':>6} {'devices':>8} {'links':>9} {'S':>5} {'ms':>9} {'CPU ms':>9}")
    rows = []
    for sampler, labels, n, n_links, size in _SMALL[: len(_ALL)] if smoke else (*_SMALL, *_LARGE):
        network = labelled_links(n, n_links) if labels else random_links(n, n_links)
        problem = SamplingProblem.of(Schedule.of(network), size, horizon=HORIZON)
        wall, cpu = _least(partial(_sample, find_sampler(sampler), problem))
        links = len(network.links)
        print(f"{sampler:18} {labels!s:>6} {n:8} {links:9} {size:5} {wall:9.1f} {cpu:9.1f}", flush=True)
        row = {"sampler": sampler, "labels": labels, "n_devices": n, "links": links, "sample_size": size}
        rows.append({**row, "ms": round(wall, 3), "cpu_ms": round(cpu, 3)})
    return rows


def _sample(sampler: Sampler, problem: SamplingProblem) -> None:
    sampler(problem, np.random.default_rng(0))


def _least(run: Callable[[], object]) -> tuple[float, float]:
    """The least milliseconds of several runs, on the wall and of the process."""
    run()
    runs: list[tuple[float, float]] = []
    while not runs or (len(runs) < _RUNS and sum(wall for wall, _ in runs) < 1e3 * _SECONDS):
        wall, cpu = perf_counter(), process_time()
        run()
        runs.append(((perf_counter() - wall) * 1e3, (process_time() - cpu) * 1e3))
    return min(wall for wall, _ in runs), min(cpu for _, cpu in runs)


def main() -> None:
    """Print the table and a line of JSON."""
    smoke = parser(__doc__).parse_args().smoke
    print(describe("numpy", "numba"))
    print(json.dumps({"scale": scale(smoke=smoke)}))


if __name__ == "__main__":
    main()
